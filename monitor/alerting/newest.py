"""The newest event of each version: whether it fell silent, and whether any was read after catching up."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from monitor.alerting.present import Present
from monitor.alerting.silence import silences
from monitor.alerting.tracks import Version
from monitor.alerts.alert import Moment
from monitor.events.position import OFFSET_BITS, OFFSET_MASK, Positions
from monitor.records import Partition
from monitor.state.reading import plain
from monitor.watch.feed import Matured


class Silence(NamedTuple):
    """A version is to be judged by whether it has events."""

    version: Version
    moment: Moment
    last_event: int


class Newest:
    """What is remembered of the events of each version that were decided about.

    Parameters
    ----------
    patience
        Microseconds of event time without an event after which a version is silent.
    maturity
        Age in microseconds from which on a model's events are looked at.
    positions
        Codes of places in the log.
    """

    def __init__(self, patience: int, maturity: Callable[[str], int], positions: Positions) -> None:
        self._patience = patience
        self._maturity = maturity
        self._positions = positions
        self._moments: dict[Version, Moment] = {}
        self._fresh: set[Version] = set()
        self._silent: set[Version] = set()

    def __contains__(self, version: object) -> bool:
        return version in self._moments

    def of(self, version: Version) -> Moment | None:
        """Return the moment of a version's newest event, None before its first."""
        return self._moments.get(version)

    def is_fresh(self, version: Version) -> bool:
        """Whether an event of it was read after catching up."""
        return version in self._fresh

    def silences(self, matured: Mapping[Version, Matured], until: int) -> Iterator[Silence]:
        """Yield which versions fell silent or spoke again with these events, and no others up to a time."""
        for version in self._moments.keys() | matured.keys():
            newest, end = self._moments.get(version), until - self._maturity(version[0])
            if version not in matured and newest is not None:
                if version in self._silent or end - newest.timestamp < self._patience:
                    continue  # nothing new, as of most versions at most times
            known = _moments(newest, matured.get(version))
            for time, place in silences(known[0], end, self._patience):
                last_event, recorded, position = (int(column[place]) for column in known)
                is_silent = time > last_event
                if is_silent != (version in self._silent):
                    (self._silent.add if is_silent else self._silent.discard)(version)
                    yield Silence(version, Moment(time, recorded, position), last_event)

    def note(self, matured: Mapping[Version, Matured], present: Present) -> None:
        """Take in further events."""
        for version, events in matured.items():
            columns = events.columns
            last = columns.timestamp[-1], events.marks.recorded[-1], columns.position[-1]
            self._moments[version] = Moment(*map(int, last))
            if version not in self._fresh and self.are_fresh(columns.position, present.read_after):
                self._fresh.add(version)

    def are_fresh(self, position: NDArray[np.int64], read_after: Mapping[Partition, int] | None) -> bool:
        """Whether some event of these positions was read after catching up."""
        if read_after is None:
            return False
        source, offset = position >> OFFSET_BITS, position & OFFSET_MASK
        old = np.zeros(len(position), np.bool_)
        for partition, first in read_after.items():
            old |= (source == self._positions.base(*partition) >> OFFSET_BITS) & (offset < first)
        return not old.all()

    def forget(self, version: Version) -> None:
        """Let a version go."""
        self._moments.pop(version, None)
        self._fresh.discard(version)
        self._silent.discard(version)

    def has(self, model: str) -> bool:
        """Whether there is a version of a model."""
        return any(known == model for known, _ in self._moments)

    def tree(self) -> list[list[Any]]:
        """Return everything that is to be remembered, as plain data."""
        return [[*version, *moment, version in self._silent] for version, moment in self._moments.items()]

    def resume(self, tree: list[Any]) -> None:
        """Go on from what `tree` returned.

        Raises
        ------
        ValueError
            If it is something else.
        """
        for row in tree:
            model, version, *times, is_silent = plain(row, list, "a newest event")
            self._moments[model, version] = Moment(*(plain(time, int, "a time") for time in times))
            if plain(is_silent, bool, "a silence"):
                self._silent.add((model, version))


def _moments(newest: Moment | None, events: Matured | None) -> NDArray[np.int64]:
    """Return times, Kafka's times and places of the newest event before and of further ones, shape (3, n)."""
    parts = []
    if newest is not None:
        parts.append(np.array(newest).reshape(3, 1))
    if events is not None:
        columns, marks = events.columns, events.marks
        parts.append(np.stack([columns.timestamp, marks.recorded, columns.position]))
    return np.concatenate(parts, axis=1)
