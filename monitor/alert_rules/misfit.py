"""What does not fit between a rule and the metrics of the models that it concerns."""

from __future__ import annotations

import difflib
from collections.abc import Sequence


class Misfit(Exception):
    """One thing that does not fit: the rule's key, and what to do."""

    def __init__(self, key: str, message: str) -> None:
        super().__init__(message)
        self.key, self.message = key, message


def nearest(name: str, known: Sequence[str]) -> str:
    """Return what to write instead of an unknown name."""
    close = difflib.get_close_matches(name, known, n=1)
    return f"did you mean {close[0]!r}?" if close else f"write one of {listed(known)}"


def listed(names: Sequence[str]) -> str:
    """Return names for a message, the first ones where they are many."""
    return ", ".join(names[:10]) + (", …" if len(names) > 10 else "")
