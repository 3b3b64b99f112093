"""Reading from a live source until something is so."""

import time
from collections.abc import Callable
from contextlib import contextmanager
from types import SimpleNamespace

from monitor.records import Partition
from monitor.sources.kafka import KafkaSource


class Reader:
    """A source with everything it has brought so far."""

    def __init__(self, source: KafkaSource) -> None:
        self.source = source
        self.records: dict[Partition, list] = {}
        self.revoked: list[frozenset[Partition]] = []

    def poll(self, timeout: float = 0.2) -> None:
        poll = self.source.poll(timeout)
        if poll.revoked:
            self.revoked.append(poll.revoked)
            self.records.clear()  # whoever loses one forgets the whole state
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

    def values(self) -> dict[Partition, list[bytes]]:
        return {partition: [record.value for record in found] for partition, found in self.records.items()}

    def count(self) -> int:
        return sum(map(len, self.records.values()))

    def caught_up(self) -> bool:
        lag = self.source.lag()
        return bool(lag) and not any(lag.values())


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
