"""What lies between the events as they are read and the detectors, which see each in its turn."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

import numpy as np

from monitor.events.batch import EventBatch
from monitor.events.spec import ModelSpec
from monitor.state.reading import count, take
from monitor.watch.matured import Matured, joined
from monitor.watch.packing import Version, pack, unpack

__all__ = ["Feed", "Matured"]

BLOCK = 4096
"""Events from which on what waits is not joined any further: so many are looked through at most twice."""


class Feed:
    """Events that came in time, held until they are old enough, then given out in their order, once.

    Which events are given out, and in which order, depends on the events and on which of them were late, but
    neither on batches nor on how often anybody takes.

    Parameters
    ----------
    maturities
        Age in microseconds at which labels are complete, by configured name of a model.
    limit
        Events of one version that may wait. What arrives beyond is never given out.
    specs
        What the columns of a model's events are, by configured name.
    wanted
        Whether anybody looks at a model's events.

    Attributes
    ----------
    dropped
        Events that arrived beyond the limit.
    """

    def __init__(
        self,
        maturities: Mapping[str, int],
        limit: int,
        specs: Mapping[str, ModelSpec],
        *,
        wanted: Callable[[str], bool] = lambda model: True,
    ) -> None:
        self._maturities = maturities
        self._limit = limit
        self._specs = specs
        self._wanted = wanted
        self._queues: dict[Version, _Queue] = {}
        self.dropped = 0

    def add(self, batch: EventBatch, frontier: int | None) -> None:
        """Take in what a batch read.

        Parameters
        ----------
        batch
            With the marks of its events.
        frontier
            When they were read: events behind it by the maturity of their labels, or more, are late, and left
            out, since later ones may have been given out. None before the first one.
        """
        for version, columns in batch.columns.items():
            if not self._wanted(version[0]):
                continue
            events = Matured(columns, batch.marks[version])
            if frontier is not None:
                in_time = columns.timestamp > frontier - self._maturity(version[0])
                if not in_time.all():
                    events = events.select(in_time)
            queue = self._queues.get(version)
            if queue is None:
                queue = self._queues[version] = _Queue()
            room = max(0, self._limit - len(queue))
            over = len(events.columns) - room
            if over > 0:
                events = events.select(np.arange(room))
                self.dropped += over
            queue.append(events)

    def take(self, frontier: int) -> dict[Version, Matured]:
        """Give out, by model and version, the events that are old enough when all before `frontier` are read.

        Parameters
        ----------
        frontier
            Not before that of the call before, and not after the present one.
        """
        taken = {}
        for version, queue in self._queues.items():
            events = queue.take(frontier - self._maturity(version[0]))
            if events is not None:
                taken[version] = events
        return taken

    @property
    def next(self) -> int | None:
        """Frontier from which on the next event is old enough; None where none waits."""
        ages = (
            queue.first + self._maturity(model)
            for (model, _), queue in self._queues.items()
            if queue.first is not None
        )
        return min(ages, default=None)

    def forget(self, model: str, version: str) -> None:
        """Let the events of a version go."""
        self._queues.pop((model, version), None)

    def __len__(self) -> int:
        """Return the number of events that wait."""
        return sum(map(len, self._queues.values()))

    def tree(self) -> dict[str, Any]:
        """Return what waits as plain data and a few arrays."""
        waiting = {version: queue.all() for version, queue in self._queues.items() if len(queue)}
        return {
            "dropped": self.dropped,
            "waiting": pack(waiting, lambda model: self._specs[self._configured(model)]),
        }

    def resume(
        self,
        tree: dict[str, Any],
        codes: Callable[[str, str], int] | None = None,
        changed: Collection[str] = (),
    ) -> None:
        """Go on from what `tree` returned; events that nobody wants any more are left out.

        Parameters
        ----------
        tree
            Its arrays belong to the feed.
        codes
            How many codes there are of a model's segment key, to check the events' by.
        changed
            Models whose events mean something else now: what waits of them is left out.

        Raises
        ------
        ValueError
            If it is something else.
        """

        def spec(model: str) -> ModelSpec | None:
            return None if model in changed else self._spec(model)

        self.dropped = count(take(tree, "dropped", int), "dropped")
        for version, events in unpack(take(tree, "waiting", list), spec, codes):
            if version in self._queues:
                raise ValueError(f"events of {version} wait twice")
            if self._wanted(version[0]):
                self._queues[version] = _Queue([events])

    def _maturity(self, model: str) -> int:
        return self._maturities[self._configured(model)]

    def _spec(self, model: str) -> ModelSpec | None:
        return self._specs.get(self._configured(model))

    def _configured(self, model: str) -> str:
        return model if model in self._specs else "*"


class _Queue:
    """Events of one version in pieces, each with its first time, in the order in which they arrived."""

    def __init__(self, pieces: Iterable[Matured] = ()) -> None:
        self._pieces: list[tuple[int, Matured]] = []
        self._size = 0
        for piece in pieces:
            self.append(piece)

    def __len__(self) -> int:
        return self._size

    @property
    def first(self) -> int | None:
        """The least time; None where nothing waits."""
        return min((first for first, _ in self._pieces), default=None)

    def append(self, events: Matured) -> None:
        if not len(events.columns):
            return
        self._size += len(events.columns)
        self._pieces.append((int(events.columns.timestamp.min()), events.own()))
        # As in a binary counter: small pieces are joined with others of their size.
        while len(self._pieces) > 1:
            (first, older), (other, newer) = self._pieces[-2:]
            if len(older.columns) >= min(BLOCK, 2 * len(newer.columns)):
                break
            self._pieces[-2:] = [(min(first, other), joined([older, newer]))]

    def take(self, until: int) -> Matured | None:
        """Give out the events at or before a time, in their order; None where there are none."""
        found: list[Matured] = []
        kept: list[tuple[int, Matured]] = []
        for first, piece in self._pieces:
            if first > until:
                kept.append((first, piece))
                continue
            due = piece.columns.timestamp <= until
            if due.all():
                found.append(piece)
                continue
            found.append(piece.select(due))
            rest = piece.select(~due)
            kept.append((int(rest.columns.timestamp.min()), rest))
        if not found:
            return None
        self._pieces = kept
        self._size -= sum(len(events.columns) for events in found)
        return joined(found).ordered()

    def all(self) -> Matured:
        return joined([piece for _, piece in self._pieces])
