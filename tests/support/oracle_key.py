"""How an expected number is named."""

from __future__ import annotations

Key = tuple[str, frozenset[tuple[str, str]]]


def key(family: str, class_: str | None = None, **labels: str) -> Key:
    if class_ is not None:
        labels["class"] = class_
    return f"classifier_{family}", frozenset(labels.items())
