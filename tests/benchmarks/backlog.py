"""A backlog of millions in a topic: is it worked off in flat memory, and in the order of event times?

python -m tests.benchmarks.backlog [MILLIONS]        2 by default; needs KAFKA_HOME and Linux

A day of events in four partitions, of which the last has half as many events as the first.
"""

from __future__ import annotations

import os
import random
import sys
import tempfile
import time
from collections.abc import Collection
from pathlib import Path

from monitor.pipeline import Pipeline, Snapshot
from tests.benchmarks.traffic import RECORD_MS
from tests.support.brokers import ApacheKafka, Broker
from tests.support.daemons import running

CONFIGURATION = """
kafka: {{bootstrap_servers: ["{address}"], topics: [{topic}], group_id: {topic}, start: earliest}}
models:
  fraud: {{task: binary, classes: [legit, fraud], segments: [region],
          windows: [{{name: last_10k, events: 10000}}, {{name: 10m, duration: 10m}}]}}
events: {{max_skew: 10m}}
evaluation: {{every: 10s}}
server: {{port: 0}}
"""
SHARES = (0.3, 0.3, 0.25, 0.15)
DAY = 86_400


def fill(broker: Broker, topic: str, events: int) -> None:
    """Write the backlog."""
    rng = random.Random(1)
    for partition, share in enumerate(SHARES):
        total = round(events * share)
        broker.produce_many(topic, (_event(rng, i * DAY / total) for i in range(total)), partition)


def _event(rng: random.Random, second: float) -> tuple[bytes, int]:
    score, milliseconds = rng.random(), RECORD_MS + round(second * 1000)
    value = (
        f'{{"model": "fraud", "timestamp": {milliseconds}, "label": "{rng.choice(("legit", "fraud"))}", '
        f'"score": {score:.6f}, "segments": {{"region": "eu"}}}}'
    )
    return value.encode(), milliseconds


class Watch:
    """Prints what is consumed, what this process holds and how far partitions are apart."""

    def __init__(self, every: int) -> None:
        self._every = every
        self._next = every
        self._skew = 0
        self._began = time.monotonic()

    def look(self, pipeline: Pipeline, lagging: Collection[tuple[str, int]]) -> None:
        """Take note after a poll."""
        clocks = pipeline.state.clocks.partitions
        times = [clocks[p] for p in lagging if p in clocks]
        self._skew = max(self._skew, max(times, default=0) - min(times, default=0))
        consumed = sum(pipeline.consumed.values())
        if consumed >= self._next:
            print(
                f"{consumed:11,d} events {time.monotonic() - self._began:6.0f} s  RSS {_resident():7.1f} MB  "
                f"skew at most {self._skew / 6e7:5.1f} min",
                flush=True,
            )
            self._next += self._every
            self._skew = 0


def _resident() -> float:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def main(millions: float) -> None:
    """Write the backlog, then read it as the daemon does."""
    events = round(millions * 1_000_000)
    with tempfile.TemporaryDirectory() as folder:
        broker = ApacheKafka(Path(os.environ["KAFKA_HOME"]), Path(folder) / "kafka")
        try:
            topic = broker.create_topic("backlog", partitions=len(SHARES), retention_ms="-1")
            fill(broker, topic, events)
            print(f"{events:11,d} events wait; RSS {_resident():7.1f} MB", flush=True)
            watch, advance = Watch(events // 10), Pipeline.advance

            def watched(self: Pipeline, lagging: Collection[tuple[str, int]]) -> Snapshot:
                watch.look(self, lagging)
                return advance(self, lagging)  # type: ignore[arg-type]

            Pipeline.advance = watched  # type: ignore[assignment,method-assign]
            text = CONFIGURATION.format(address=broker.address, topic=topic)
            with running(text, Path(folder)) as daemon:
                daemon.wait_for_records(events, seconds=3600)
        finally:
            broker.stop()


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 2)
