"""Events in the order in which they are looked at, with what is known of them beside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from monitor.events.batch import Columns, Marks
from monitor.events.identity import NO_IDENTITY


class Matured(NamedTuple):
    """Events of one model version; what `Feed.take` gives is in the order of (timestamp, position)."""

    columns: Columns
    marks: Marks

    @classmethod
    def of(cls, arrays: Sequence[NDArray[Any]]) -> Self:
        """Return the events that have these `arrays`."""
        *columns, recorded = arrays[: len(Columns.__slots__) + 1]
        identity = arrays[-1] if len(arrays) > len(Columns.__slots__) + 1 else None
        return cls(Columns(*columns), Marks(recorded, identity))

    @property
    def arrays(self) -> list[NDArray[Any]]:
        """The columns, the times of the records, and the hashes of the ids where there are any."""
        columns: list[NDArray[Any]] = [getattr(self.columns, name) for name in Columns.__slots__]
        return [*columns, *(mark for mark in self.marks if mark is not None)]

    def select(self, index: NDArray[np.bool_] | NDArray[np.intp]) -> Matured:
        """Return some of the events."""
        return Matured.of([array[index] for array in self.arrays])

    def own(self) -> Matured:
        """Return the same events in memory that nothing else keeps."""
        return Matured.of([array if array.base is None else array.copy() for array in self.arrays])

    def identified(self) -> Matured:
        """Return the events with ids, none of them where nobody asked for them."""
        if self.marks.identity is not None:
            return self
        return self._replace(marks=self.marks._replace(identity=np.full(len(self.columns), NO_IDENTITY)))

    def ordered(self) -> Matured:
        """Return the events in the order of (timestamp, position), equal ones as they are."""
        t, p = self.columns.timestamp, self.columns.position
        if ((t[1:] > t[:-1]) | ((t[1:] == t[:-1]) & (p[1:] >= p[:-1]))).all():
            return self
        return self.select(np.lexsort((p, t)))


def joined(parts: Sequence[Matured]) -> Matured:
    """Return the events of all parts, one after the other; with ids where any part has them."""
    if len(parts) == 1:
        return parts[0]
    if len({part.marks.identity is None for part in parts}) > 1:  # they are asked for since a restart
        parts = [part.identified() for part in parts]
    return Matured.of([np.concatenate(arrays) for arrays in zip(*(p.arrays for p in parts), strict=True)])
