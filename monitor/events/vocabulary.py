"""Segment values as small integers, with a limit on how many are told apart."""

from __future__ import annotations

MISSING = 0
"""Code of an event that does not carry the segment key."""

OTHER_VALUE = 1
"""Code of every value beyond the limit."""


MAX_LENGTH = 200
"""Most characters of a name that becomes the label of a series: model, version, segment value."""


class Vocabulary:
    """Values of one segment key of one model, numbered as they appear.

    Parameters
    ----------
    limit
        How many values are told apart; the rest share the name "other".
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.overflowed = 0
        self._codes: dict[str | None, int] = {None: MISSING, "other": OTHER_VALUE}
        self._names: list[str | None] = [None, "other"]

    def code(self, value: str | None) -> int:
        """Return the value's code, a new one while the limit allows."""
        code = self._codes.get(value)
        if code is None:
            if len(self._names) - 2 >= self.limit or len(value or "") > MAX_LENGTH:
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
