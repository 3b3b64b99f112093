"""Where a consumer stands in each partition, and what it found missing there."""

from __future__ import annotations

import logging
from collections.abc import Collection
from typing import Any

from kafka import TopicPartition
from kafka.errors import KafkaError, LogTruncationError, OffsetOutOfRangeError

from monitor.records import Partition
from monitor.sources.positions import Place, place, ranges

logger = logging.getLogger(__name__)


class Tracking:
    """Positions of a `KafkaConsumer` that chooses none itself.

    Attributes
    ----------
    offsets_lost
        Offsets that were gone before they were read.
    log_truncations
        Times that a partition's log ended before our position.
    astray
        Partitions whose position is not in their log, and where they belong as far as it is known.
    """

    def __init__(self, consumer: Any) -> None:
        self.offsets_lost = 0
        self.log_truncations = 0
        self.astray: dict[Partition, Place] = {}
        self._consumer = consumer
        self._delivered: dict[Partition, int] = {}
        self._truncated: dict[Partition, int] = {}

    def go_to(self, partition: Partition, point: Place) -> None:
        """Read on from a place, and count what is missing there."""
        self._consumer.seek(TopicPartition(*partition), point.offset)
        self._delivered[partition] = point.offset
        if point.lost:
            logger.warning(
                "%s: %d offsets were gone before they were read", partition_text(partition), point.lost
            )
            self.offsets_lost += point.lost
        if point.truncated:
            logger.warning(
                "%s: the log ends before our position; going on at offset %d",
                partition_text(partition),
                point.offset,
            )
            self.log_truncations += 1
            self._truncated[partition] = point.offset

    def delivered(self, partition: Partition, end: int) -> None:
        """Note that everything below an offset was handed on."""
        self._delivered[partition] = end

    def next(self, partition: Partition) -> int:
        """Return the offset that is read next, past markers and aborted records."""
        position = None
        try:
            position = self._consumer.position(TopicPartition(*partition), timeout_ms=0)
        except LogTruncationError as error:
            self.note_astray(error)
        except KafkaError:
            pass  # to be validated; the next poll says why
        return self._delivered[partition] if position is None else int(position)

    def note_astray(self, error: OffsetOutOfRangeError | LogTruncationError) -> None:
        """Remember what the client says once, until `relocate` has dealt with it."""
        if isinstance(error, LogTruncationError):
            for tp, agreed in error.divergent_offsets.items():
                partition = Partition(*tp)
                offset = agreed.offset if agreed else self._delivered[partition]
                self.astray[partition] = Place(offset, truncated=True)
        else:
            self.astray |= {Partition(*tp): Place(offset) for tp, offset in error.args[0].items()}

    def relocate(self, admin: Any, assigned: Collection[Partition]) -> None:
        """Put partitions back into what their logs still have; after an error they stay astray."""
        astray = {partition: at for partition, at in self.astray.items() if partition in assigned}
        available = ranges(admin, astray)
        for partition, at in astray.items():
            point = place(at.offset, available[partition])
            self.go_to(partition, point._replace(truncated=point.truncated or at.truncated))
        self.astray = {}

    def take_truncated(self) -> dict[Partition, int]:
        """Return where reading goes on in logs that were truncated since the last call."""
        taken, self._truncated = self._truncated, {}
        return taken

    def forget(self) -> None:
        """Drop what is to be told and done: the partitions are given up."""
        self.astray, self._truncated = {}, {}


def partition_text(partition: Partition) -> str:
    """Return a partition for a message."""
    return f"{partition.topic}/{partition.partition}"
