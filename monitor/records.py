"""Raw records and where they stand: what sources give and events are decoded from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol


class Partition(NamedTuple):
    """One ordered log of records: a Kafka partition, or a file."""

    topic: str
    partition: int


class Record(Protocol):
    """One raw record. kafka-python's ConsumerRecord is one as it stands."""

    @property
    def offset(self) -> int:
        """Place in the partition."""

    @property
    def timestamp(self) -> int | None:
        """Milliseconds since the epoch; what an event without a timestamp of its own gets.

        None or -1 where the message format has none.
        """

    @property
    def key(self) -> bytes | None:
        """Key as produced."""

    @property
    def value(self) -> bytes | None:
        """The message; None for a tombstone."""

    @property
    def headers(self) -> Sequence[tuple[str, bytes | None]]:
        """Headers in order."""


class RecordBatch(NamedTuple):
    """Consecutive records of one partition, in offset order, never empty."""

    partition: Partition
    records: Sequence[Record]
