"""`KafkaConsumer.poll`, with what kafka-python 3.0.12 gets wrong put right.

Everything here looks into the client: read it again before another version is allowed.
"""

from __future__ import annotations

from typing import Any

from kafka.errors import KafkaError
from kafka.structs import MemberState

from monitor.errors import SourceError
from monitor.records import Partition
from monitor.sources.tracking import partition_text


def poll(consumer: Any, timeout_ms: int) -> dict[Any, list[Any]]:
    """Poll once.

    Parameters
    ----------
    consumer
        A `KafkaConsumer`.
    timeout_ms
        Longest wait for the first record.

    Raises
    ------
    KafkaError
        As the client raises them.
    SourceError
        Where a record cannot be unpacked; polling again would never end.
    """
    fetcher = consumer._fetcher
    if not fetcher._next_partition_records:
        # The buffered records of a partition that was paused and resumed are given only where this is None;
        # the used-up buffer of another partition would block them for ever.
        fetcher._next_partition_records = None
    failed = fetcher._next_in_line_exception_metadata
    if failed is not None and failed.partition in consumer.paused():
        # It would be dropped, and the broken buffer be read without end once the partition is resumed.
        fetcher._next_in_line_exception_metadata = None
        raise failed.exception
    try:
        found: dict[Any, list[Any]] = consumer.poll(timeout_ms=timeout_ms)
    except KafkaError:
        raise
    except Exception as error:  # what decompressors and decoders of text raise
        raise SourceError(_unreadable(fetcher._next_partition_records, error)) from error
    if consumer.group_metadata().state is MemberState.REBALANCING:
        # A join that outlasts one poll is forgotten where it was for added partitions: no assignment, no
        # heartbeat, no exception. Asked for again, it goes on.
        consumer._coordinator.request_rejoin()
    return found


def _unreadable(records: Any, error: Exception) -> str:
    where, offset = "a partition", ""
    if records:
        where = partition_text(Partition(*records.topic_partition))
        offset = f" at offset {records.next_fetch_offset} or soon after"
    return (
        f"{where}: a record{offset} cannot be unpacked ({type(error).__name__}: {error}); have its producer "
        "mended, and delete the records up to it (kafka-delete-records.sh)"
    )
