"""How far behind the end of its partitions a consumer is, with few questions to the broker."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, NamedTuple

from kafka import TopicPartition
from kafka.errors import KafkaError

from monitor.clock import Clock
from monitor.records import Partition
from monitor.sources.positions import ranges

logger = logging.getLogger(__name__)

ASK_EVERY = 1.0
"""Seconds between two questions, at most."""


class _End(NamedTuple):
    offset: int
    highwater: int | None
    """The high watermark when `offset` was the end; a new one means that something was appended."""


class EndOffsets:
    """The end of each partition, as a reader of committed records sees it.

    Every fetched response brings the high watermark, for free. It lies above the last record that can
    be read while a transaction is open; only then a broker is asked, at most once a second, and over
    the admin client, since a question behind a waiting fetch would wait with it.
    """

    def __init__(self, consumer: Any, admin: Any, clock: Clock) -> None:
        self._consumer = consumer
        self._admin = admin
        self._clock = clock
        self._ends: dict[Partition, _End] = {}
        self._asked = float("-inf")

    def begin(self, partition: Partition, end: int) -> None:
        """Set the end of a partition that was just positioned."""
        self._ends[partition] = _End(end, None)

    def lag(self, positions: Mapping[Partition, int]) -> dict[Partition, int]:
        """Return the offsets between positions and ends; 0: caught up."""
        ends = {partition: self._end(partition) for partition in positions}
        behind = [p for p, position in positions.items() if ends[p].offset > position]
        open_ended = [p for p in behind if ends[p] is not self._ends.get(p)]
        now = self._clock.monotonic()
        if open_ended and now - self._asked >= ASK_EVERY:
            self._asked = now
            try:
                for partition, found in ranges(self._admin, open_ended, committed=True).items():
                    ends[partition] = ends[partition]._replace(offset=found.end)
                    self._ends[partition] = ends[partition]
            except KafkaError as error:
                logger.debug("end offsets: %s", error)
        return {p: max(0, ends[p].offset - position) for p, position in positions.items()}

    def _end(self, partition: Partition) -> _End:
        known = self._ends[partition]
        highwater = self._consumer.highwater(TopicPartition(*partition))
        if highwater is None or highwater == known.highwater:
            return known
        return _End(highwater, highwater)
