"""Topics that come and go: the codes of places in the log follow from the list of all of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import numpy as np

from monitor.errors import MonitorError
from monitor.events.position import OFFSET_BITS, SOURCES, Positions
from monitor.state.packing import Packed, positions, recoded


class Moved:
    """How events stand among the topics that are configured now and those that they came from.

    Parameters
    ----------
    packed
        What `monitor.state.packing.pack` returned.
    old
        The topics that their positions were coded with.
    configured
        The topics that are read now.

    Attributes
    ----------
    topics
        The configured ones, and those that are no longer read but have events.
    same
        Whether places in the log are coded as they were then.

    Raises
    ------
    ValueError
        If a position is in none of the old topics, or there are too many topics or partitions.
    """

    def __init__(self, packed: Sequence[Packed], old: Iterable[str], configured: Collection[str]) -> None:
        try:
            before = Positions(old)
            found = {source: before.partition(source) for source in _sources(packed)}
            self.topics = {*configured, *(partition.topic for partition in found.values())}
            after = Positions(self.topics)
            self._table = np.arange(SOURCES)
            for source, partition in found.items():
                self._table[source] = after.base(*partition) >> OFFSET_BITS
        except MonitorError as error:
            raise ValueError(str(error)) from error
        self.same = before.topics == after.topics

    def __call__(self, packed: Packed) -> Packed:
        """Return events with the positions that they have among `topics`."""
        return packed if self.same else recoded(packed, self._table)


def _sources(packed: Iterable[Packed]) -> list[int]:
    """Return which partitions, by their codes, have events."""
    present = np.zeros(SOURCES, np.bool_)
    for of_shape in packed:
        for codes in positions(of_shape):
            present[codes >> OFFSET_BITS] = True
    found: list[int] = np.flatnonzero(present).tolist()
    return found
