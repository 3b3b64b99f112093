"""Looking at brokers and topics without joining the group: for `monitor check` and `monitor doctor`."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from kafka import KafkaConsumer, TopicPartition
from kafka.errors import KafkaError

from monitor.errors import MonitorError, SourceError
from monitor.records import Partition, RecordBatch
from monitor.sources.connection import check_settings, connect, connect_admin
from monitor.sources.positions import OFFSETS_TIMEOUT_MS, Range, ranges
from monitor.sources.refusals import explain_refusal
from monitor.sources.topics import describe, problem_of

RATE_OVER = 60.0
"""Seconds that a rate is measured over."""


class Sample(NamedTuple):
    """What stands in some topics.

    Attributes
    ----------
    batches
        The last records, at most one batch a partition.
    ranges
        First and end offset of each partition.
    rates
        Records a second of each partition over the last minute, by the records' own time.
    lag
        Records of each partition that the group has not committed; absent where it never committed.
    """

    batches: Sequence[RecordBatch]
    ranges: Mapping[Partition, Range]
    rates: Mapping[Partition, float]
    lag: Mapping[Partition, int]


def probe(
    settings: Mapping[str, object], topics: Collection[str], dead_letter_topic: str | None = None
) -> list[str]:
    """Reach the brokers and every topic; return what is wrong, each with its remedy.

    Parameters
    ----------
    settings
        kafka-python's consumer settings.
    topics
        Topics that are to be read.
    dead_letter_topic
        Topic that is to be written.
    """
    try:
        with _admin(settings) as admin:
            written = [dead_letter_topic] if dead_letter_topic else []
            found = describe(admin, [*topics, *written])
            problems = [problem_of(found[name], settings) for name in topics]
            problems += [
                problem_of(found[name], settings, operation="WRITE", key="kafka.dead_letter_topic")
                for name in written
            ]
            problems.append(_group_problem(admin, settings))
    except MonitorError as error:
        return [str(error)]
    return [problem for problem in problems if problem]


def sample(
    settings: Mapping[str, object], topics: Collection[str], count: int, timeout: float = 10.0
) -> Sample:
    """Read the last records of topics.

    Parameters
    ----------
    settings
        kafka-python's consumer settings; a `group_id` among them is looked up, not joined.
    topics
        Topics to look at.
    count
        Records to read, over all partitions.
    timeout
        Seconds to wait for them.

    Raises
    ------
    SourceError
        If the brokers or a topic cannot be reached or read.
    """
    with _admin(settings) as admin:
        found = describe(admin, topics)
        problems = [problem_of(topic, settings) for topic in found.values()]
        if any(problems):
            raise SourceError("; ".join(filter(None, problems)))
        partitions = [
            Partition(topic.name, number) for topic in found.values() for number in topic.partitions
        ]
        available = ranges(admin, partitions, committed=True)
        committed = _committed(admin, settings)
    own = {"group_id": None, "group_instance_id": None, "enable_auto_commit": False}
    consumer = connect(KafkaConsumer, {**settings, **own, "isolation_level": "read_committed"})
    try:
        return Sample(
            batches=list(_read(consumer, _shares(available, count), available, timeout)),
            ranges=available,
            rates=_rates(consumer, available),
            lag={p: max(0, available[p].end - offset) for p, offset in committed.items() if p in available},
        )
    except KafkaError as error:
        raise explain_refusal(error, settings, str(settings.get("group_id"))) from error
    finally:
        consumer.close(autocommit=False, timeout_ms=1000)


@contextmanager
def _admin(settings: Mapping[str, object]) -> Iterator[Any]:
    check_settings(settings)
    admin = connect_admin(settings)
    try:
        yield admin
    except KafkaError as error:
        raise explain_refusal(error, settings, str(settings.get("group_id"))) from error
    finally:
        admin.close()


def _group_problem(admin: Any, settings: Mapping[str, object]) -> str | None:
    group = settings.get("group_id")
    if group is None:
        return None
    try:
        admin.list_group_offsets({group: None})
    except KafkaError as error:
        return str(explain_refusal(error, settings, str(group)))
    return None


def _committed(admin: Any, settings: Mapping[str, object]) -> dict[Partition, int]:
    group = settings.get("group_id")
    if group is None:
        return {}
    offsets = admin.list_group_offsets({group: None})[group]
    return {Partition(*partition): found.offset for partition, found in offsets.items()}


def _shares(available: Mapping[Partition, Range], count: int) -> dict[Partition, int]:
    """Spread `count` records evenly; a partition with fewer leaves its rest to the others."""
    shares = dict.fromkeys(available, 0)
    sizes = sorted((end - first, partition) for partition, (first, end) in available.items())
    for position, (size, partition) in enumerate(sizes):
        shares[partition] = min(size, -(-count // (len(sizes) - position)))
        count -= shares[partition]
    return {partition: share for partition, share in shares.items() if share > 0}


def _read(
    consumer: Any, shares: Mapping[Partition, int], available: Mapping[Partition, Range], timeout: float
) -> Iterator[RecordBatch]:
    asked = {partition: TopicPartition(*partition) for partition in shares}
    if not asked:
        return
    consumer.assign(list(asked.values()))
    for partition, tp in asked.items():
        consumer.seek(tp, available[partition].end - shares[partition])
    records: dict[Partition, list[Any]] = {partition: [] for partition in shares}
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline and any(
        (consumer.position(tp, timeout_ms=0) or 0) < available[partition].end
        for partition, tp in asked.items()
    ):
        for found, more in consumer.poll(timeout_ms=200).items():
            records[Partition(*found)] += more
    for partition, read in records.items():
        if read:
            yield RecordBatch(partition, read[: shares[partition]])


def _rates(consumer: Any, available: Mapping[Partition, Range]) -> dict[Partition, float]:
    since = int((time.time() - RATE_OVER) * 1000)
    asked = {TopicPartition(*partition): since for partition in available}
    found = consumer.offsets_for_times(asked, timeout_ms=OFFSETS_TIMEOUT_MS)
    return {
        partition: (end - at.offset) / RATE_OVER if (at := found[TopicPartition(*partition)]) else 0.0
        for partition, (_, end) in available.items()
    }
