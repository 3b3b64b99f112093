"""Where reading begins in each partition."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, Literal, NamedTuple

from kafka import TopicPartition
from kafka.admin import OffsetSpec
from kafka.protocol.consumer import IsolationLevel

from monitor.records import Partition

Start = Literal["windows", "earliest", "latest"]

OFFSETS_TIMEOUT_MS = 5000


class Range(NamedTuple):
    """Offsets that can be read: from `first` up to, not including, `end`."""

    first: int
    end: int


class Place(NamedTuple):
    """Where reading goes on, and what was found missing there."""

    offset: int
    lost: int = 0
    truncated: bool = False


def place(wanted: int, available: Range) -> Place:
    """Put a wanted offset into what the log still has.

    Parameters
    ----------
    wanted
        The offset that comes next by what we know.
    available
        What can be read, uncommitted transactions included (they take offsets, and a reader that
        stopped inside one is no sign of a truncated log).
    """
    if wanted < available.first:
        return Place(available.first, lost=available.first - wanted)
    if wanted > available.end:
        return Place(available.end, truncated=True)
    return Place(wanted)


def ranges(
    admin: Any, partitions: Collection[Partition], *, committed: bool = False
) -> dict[Partition, Range]:
    """Ask for the offsets of partitions; with `committed`, up to the first open transaction only."""
    asked = [TopicPartition(*partition) for partition in partitions]
    level = IsolationLevel.READ_COMMITTED if committed else IsolationLevel.READ_UNCOMMITTED
    first, end = (
        admin.list_partition_offsets(
            dict.fromkeys(asked, spec), isolation_level=level, timeout_ms=OFFSETS_TIMEOUT_MS
        )
        for spec in (OffsetSpec.EARLIEST, OffsetSpec.LATEST)
    )
    return {Partition(*tp): Range(first[tp].offset, end[tp].offset) for tp in asked}


def committed(admin: Any, group_id: str, partitions: Collection[Partition]) -> dict[Partition, int]:
    """Ask what a group has committed of partitions; one of which it has not is left out."""
    asked = [TopicPartition(*partition) for partition in partitions]
    found = admin.list_group_offsets({group_id: asked})[group_id] if asked else {}
    return {Partition(*tp): at.offset for tp, at in found.items() if at.offset >= 0}


def starting_points(
    consumer: Any,
    available: Mapping[Partition, Range],
    known: Mapping[Partition, int],
    entered: Collection[str],
    start: Start,
    start_timestamp: Callable[[], int | None],
) -> dict[Partition, Place]:
    """Choose where each new partition begins.

    Parameters
    ----------
    consumer
        A `KafkaConsumer`, asked for offsets by time.
    available
        Every partition to place, with what can be read of it.
    known
        Next offsets that the state knows.
    entered
        Topics of which something was read already: a partition that they gain is new from its
        first record on.
    start
        Where a topic begins that nothing is known of.
    start_timestamp
        Epoch microseconds where ``start="windows"`` begins; None where no window needs a past.
    """
    entered = {*entered, *(partition.topic for partition in known)}
    points = {
        partition: place(known[partition], available[partition])
        for partition in available
        if partition in known
    }
    unknown = available.keys() - points.keys()
    points |= {p: Place(available[p].first) for p in unknown if p.topic in entered or start == "earliest"}
    rest = available.keys() - points.keys()
    timestamp = start_timestamp() if start == "windows" and rest else None
    if timestamp is not None:
        asked = {TopicPartition(*partition): max(0, timestamp // 1000) for partition in rest}
        found = consumer.offsets_for_times(asked, timeout_ms=OFFSETS_TIMEOUT_MS)
        points |= {Partition(*tp): Place(at.offset) for tp, at in found.items() if at is not None}
    # No record is that new, or nothing of the past is wanted.
    return {p: points.get(p, Place(available[p].end)) for p in available}
