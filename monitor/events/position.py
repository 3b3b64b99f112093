"""Where an event stands in the log, as one integer that sorts as (topic, partition, offset)."""

from __future__ import annotations

from collections.abc import Iterable

from monitor.errors import ConfigurationError, SourceError
from monitor.records import Partition

OFFSET_BITS = 48
OFFSET_MASK = (1 << OFFSET_BITS) - 1
"""The bits of a code that are the offset."""

SOURCES = 1 << 15
"""Codes shifted right by `OFFSET_BITS` are below this: one for each partition."""


class Positions:
    """Code of (topic, partition, offset) in one int64, independent of arrival.

    Parameters
    ----------
    topics
        All topics that can ever occur, in any order.

    Attributes
    ----------
    topics
        The topics in order.

    Raises
    ------
    ConfigurationError
        If there are more topics than codes.
    """

    def __init__(self, topics: Iterable[str]) -> None:
        self.topics = tuple(sorted(set(topics)))
        self._rank = {topic: i for i, topic in enumerate(self.topics)}
        topic_bits = max(0, len(self._rank) - 1).bit_length()
        self._partition_bits = SOURCES.bit_length() - 1 - topic_bits
        if self._partition_bits < 1:
            raise ConfigurationError(f"kafka.topics: at most {SOURCES // 2} topics")

    def base(self, topic: str, partition: int) -> int:
        """Return the code of offset 0; add an offset below 2**48 to it.

        Raises
        ------
        SourceError
            If the partition's number is too large to be coded beside the other topics.
        """
        if partition >> self._partition_bits:
            raise SourceError(
                f"{topic} has a partition {partition}; with {len(self._rank)} topics at most "
                f"{1 << self._partition_bits} partitions a topic can be read: split the topics over "
                "several configurations"
            )
        return ((self._rank[topic] << self._partition_bits) | partition) << OFFSET_BITS

    def partition(self, source: int) -> Partition:
        """Return whose codes are `source` once they are shifted right by `OFFSET_BITS`.

        Raises
        ------
        ValueError
            If none are.
        """
        rank, partition = source >> self._partition_bits, source & ((1 << self._partition_bits) - 1)
        if not 0 <= rank < len(self.topics):
            raise ValueError(f"no topic has a place coded {source}")
        return Partition(self.topics[rank], partition)
