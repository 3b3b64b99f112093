"""Small things that every reader of a field shares: refusals and how a value is written as text."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


class Refused(Exception):
    """A message is no valid event: one of the documented reasons, and a sentence for the reader."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail


def as_text(value: str | int | float | bool) -> str:
    """Return a version or a segment value as text; 3.0 is "3", as label 3.0 is 3, true is "true".

    Producers write whole numbers as 3 or 3.0 depending on whether a column once had a gap.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    return str(value)


def is_text(value: str) -> bool:
    """Tell whether a string can be written as UTF-8: JSON escapes can spell half a character."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def shown(value: object) -> str:
    """Return a value as it may stand in a message: ASCII, at most about 60 characters."""
    # Only a bounded piece is rendered: a value can be a megabyte long or nested.
    if isinstance(value, dict):
        return f"an object of {len(value)} keys"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    if isinstance(value, str):
        return ascii(value if len(value) <= 40 else value[:40] + "...")
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    text = repr(value)
    return text if len(text) <= 40 else text[:40] + "..."


def packed(values: Sequence[Any], dtype: type[np.generic]) -> NDArray[Any]:
    """Return a list of numbers as an array, in a third of the time that numpy takes.

    Raises
    ------
    struct.error
        Unlike numpy, for None and for texts that look like numbers.
    """
    out = np.empty(len(values), dtype=dtype)
    struct.pack_into(f"{len(values)}{out.dtype.char}", out.data, 0, *values)
    return out
