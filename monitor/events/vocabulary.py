"""Segment values as small integers, with a limit on how many are told apart."""

from __future__ import annotations

from collections.abc import Iterable

MISSING = 0
"""Code of an event that does not carry the segment key."""

OTHER_VALUE = 1
"""Code of every value beyond the limit."""
OTHER_NAME = "other"

FIXED = 2
"""How many codes are the same in every vocabulary."""

MAX_LENGTH = 200
"""Most characters of a name that becomes the label of a series: model, version, segment value."""


class Vocabulary:
    """Values of one segment key of one model, numbered as they appear.

    Parameters
    ----------
    limit
        How many values are told apart; the rest share `OTHER_NAME`.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.overflowed = 0
        self._codes: dict[str | None, int] = {None: MISSING, OTHER_NAME: OTHER_VALUE}
        self._names: list[str | None] = [None, OTHER_NAME]

    @staticmethod
    def of(limit: int, names: Iterable[str], overflowed: int) -> Vocabulary:
        """Return the one that had these `names`, all of them whatever the limit is now."""
        vocabulary = Vocabulary(limit)
        vocabulary._names += names
        vocabulary._codes = {name: code for code, name in enumerate(vocabulary._names)}
        vocabulary.overflowed = overflowed
        return vocabulary

    @property
    def names(self) -> list[str]:
        """A copy of the values told apart, in the order of their codes, which follow on the fixed ones."""
        return [name for name in self._names[FIXED:] if name is not None]

    def code(self, value: str | None) -> int:
        """Return the value's code, a new one while the limit allows."""
        code = self._codes.get(value)
        if code is None:
            if len(self._names) - FIXED >= self.limit or len(value or "") > MAX_LENGTH:
                self.overflowed += 1
                return OTHER_VALUE
            code = len(self._names)
            self._names.append(value)
            self._codes[value] = code
        return code

    def name(self, code: int) -> str | None:
        """Return the value of a code, None for a missing key."""
        return self._names[code]

    def __len__(self) -> int:
        """Return the number of codes given out, the two fixed ones included."""
        return len(self._names)
