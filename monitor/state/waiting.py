"""Events that wait to be added to a version: columns on the host that only grow at their ends."""

from __future__ import annotations

import numpy as np

from monitor.events.batch import Columns


class Waiting:
    """Arrived events of one model version, in the order read.

    Kept in the pieces that polls bring, a few events for each of hundreds of models, they would cost
    a kilobyte an event; in columns they cost what their values do, and up to as much again as room.
    """

    def __init__(self) -> None:
        self._room: list[np.ndarray] = []
        self._count = 0

    @staticmethod
    def of(columns: Columns) -> Waiting:
        """Return these events waiting; their columns belong to it now."""
        waiting = Waiting()
        waiting._room, waiting._count = _arrays(columns), len(columns)
        return waiting

    def __len__(self) -> int:
        """Return the number of events."""
        return self._count

    def append(self, arrived: Columns) -> None:
        """Take in further events of the same shape."""
        columns = _arrays(arrived)
        end = self._count + len(arrived)
        if not self._room or end > len(self._room[0]):
            old = _arrays(self.columns()) if self._room else []
            self._room = [np.empty((2 * end, *column.shape[1:]), column.dtype) for column in columns]
            for column, before in zip(self._room, old, strict=False):
                column[: self._count] = before
        for column, more in zip(self._room, columns, strict=True):
            column[self._count : end] = more
        self._count = end

    def columns(self) -> Columns:
        """Return the events without a copy. What it shows never changes: others may read it meanwhile."""
        return Columns(*(column[: self._count] for column in self._room))

    def drop(self, first: int) -> None:
        """Let the `first` events go."""
        self._room = [column[first : self._count].copy() for column in self._room]
        self._count -= first

    def nbytes(self) -> int:
        """Return the bytes held."""
        return sum(column.nbytes for column in self._room)


def _arrays(columns: Columns) -> list[np.ndarray]:
    return [getattr(columns, name) for name in Columns.__slots__]
