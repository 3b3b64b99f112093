"""Reading from a live source until something is so."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace

from kafka import KafkaProducer

from monitor.records import Partition
from monitor.sources.kafka import KafkaSource


class Reader:
    """A source with everything it has brought so far."""

    def __init__(self, source: KafkaSource) -> None:
        self.source = source
        self.records: dict[Partition, list] = {}
        self.revoked: list[frozenset[Partition]] = []
        self.truncated: dict[Partition, int] = {}

    def poll(self, timeout: float = 0.2) -> None:
        poll = self.source.poll(timeout)
        if poll.revoked:
            self.revoked.append(poll.revoked)
            self.records.clear()  # whoever loses one forgets the whole state
        self.truncated |= poll.truncated
        for batch in poll.batches:
            self.records.setdefault(batch.partition, []).extend(batch.records)

    def until(self, condition: Callable[[], bool], seconds: float = 20.0, timeout: float = 0.2) -> None:
        """Poll until something is so."""
        deadline = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < deadline, (
                f"{self.values()} {self.source.assigned()} {self.source.problem}"
            )
            self.poll(timeout)

    def until_with(
        self, others: "list[Reader]", condition: Callable[[], bool], seconds: float = 20.0
    ) -> None:
        """Poll this one and others in turn until something is so."""

        def met() -> bool:
            for other in others:
                other.poll(0.05)
            return condition()

        self.until(met, seconds, 0.05)

    def values(self) -> dict[Partition, list[bytes]]:
        return {partition: [record.value for record in found] for partition, found in self.records.items()}

    def count(self) -> int:
        return sum(map(len, self.records.values()))

    def caught_up(self) -> bool:
        lag = self.source.lag()
        return bool(lag) and not any(lag.values())


def numbered(count: int, first: int = 0) -> list[bytes]:
    """Return the values of records, in order."""
    return [b"%d" % number for number in range(first, first + count)]


class Load:
    """What a producer has written so far: numbers in order, each exactly once."""

    count = 0


@contextmanager
def load(servers: list[str], topic: str, per_second: float = 200) -> Iterator[Load]:
    """Write to partition 0 without a pause, whatever happens to the brokers; in the end all is there."""
    written, stop, failures = Load(), threading.Event(), []
    producer = KafkaProducer(
        bootstrap_servers=servers,
        enable_idempotence=True,
        delivery_timeout_ms=120_000,
        linger_ms=5,
        reconnect_backoff_max_ms=1000,
    )

    def write() -> None:
        while not stop.wait(1 / per_second):
            sent = producer.send(topic, b"%d" % written.count, partition=0)
            sent.add_errback(failures.append)
            written.count += 1

    thread = threading.Thread(target=write)
    thread.start()
    try:
        yield written
    finally:
        stop.set()
        thread.join()
        try:
            producer.flush(60)
        finally:
            producer.close(5)
    assert not failures, failures[0]


@contextmanager
def reading(settings, topics, group="monitor", **options):
    """Open a source on topics, from their beginning unless told otherwise."""
    options = {"start": "earliest", "give_up_after": 20, **options}
    source = KafkaSource(settings, [topics] if isinstance(topics, str) else topics, group, **options)
    try:
        yield Reader(source)
    finally:
        source.close()


def rejected(record, partition, reason="not_json", detail="no JSON"):
    """Make what the decoder makes of a record that is no valid event."""
    return SimpleNamespace(partition=partition, record=record, reason=reason, detail=detail)
