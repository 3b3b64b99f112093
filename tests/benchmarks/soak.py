"""Full speed for minutes with a checkpoint every five seconds: does memory stay flat, and files closed?

python -m tests.benchmarks.soak [SECONDS]        600 by default; needs KAFKA_HOME and Linux

The producer is this process and sends chunk by chunk, as the daemon reads them.
"""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from kafka import KafkaProducer

from tests.benchmarks.daemon import endless
from tests.chaos import script
from tests.chaos.instance import Instance
from tests.support.brokers import Broker, free_ports

PARTITIONS = 3
CHUNK = 10_000
AHEAD = 60_000
"""Records that may wait to be read."""

CONFIGURATION = """
kafka: {{bootstrap_servers: ["{address}"], topics: [{topic}], group_id: {topic}, start: earliest}}
models:
  "*": {{task: binary, classes: [legit, fraud], segments: [region],
        windows: [{{name: last_10k, events: 10000}}, {{name: 10s, duration: 10s}}]}}
evaluation: {{every: 5s}}
checkpoint: {{directory: "{directory}", every: 5s}}
server: {{port: {port}}}
logging: {{format: json, level: debug}}
"""


class Sample(NamedTuple):
    """A look at the process."""

    seconds: float
    rss: float
    """Megabytes."""
    files: int
    threads: int
    consumed: int
    written: int
    """Checkpoints so far."""

    def __str__(self) -> str:
        return (
            f"{self.seconds:5.0f} s  RSS {self.rss:7.1f} MB  {self.files:3d} files  "
            f"{self.threads:2d} threads  {self.consumed:12,d} events  {self.written:4d} checkpoints"
        )


def look(instance: Instance, began: float) -> Sample:
    process = Path("/proc") / str(instance.pid)
    status = dict(line.split(":", 1) for line in (process / "status").read_text().splitlines())
    return Sample(
        seconds=time.monotonic() - began,
        rss=int(status["VmRSS"].split()[0]) / 1024,
        files=len(list((process / "fd").iterdir())),
        threads=int(status["Threads"]),
        consumed=int(instance.consumed()),
        written=sum(line.message == "checkpoint written" for line in instance.lines()),
    )


def run(
    broker: Broker,
    folder: Path,
    topic: str,
    *,
    seconds: float,
    every: float = 10,
    models: int = 20,
    say: Callable[[object], None] = lambda _: None,
) -> list[Sample]:
    """Keep the daemon busy for so many seconds; return what was seen of it."""
    broker.create_topic(topic, PARTITIONS, retention_bytes=str(2**27), segment_bytes=str(2**25))
    (port,) = free_ports(1)
    text = CONFIGURATION.format(address=broker.address, topic=topic, directory=folder / "state", port=port)
    instance = Instance("soak", folder, text, port)
    producer = KafkaProducer(bootstrap_servers=broker.address, linger_ms=20, batch_size=2**17)
    samples: list[Sample] = []
    try:
        instance.start()
        instance.until(instance.owner, 60)
        began = time.monotonic()
        values = (record.value for batch in endless(models) for record in batch.records)
        for sent in itertools.count(CHUNK, CHUNK):
            for number, value in enumerate(itertools.islice(values, CHUNK)):
                producer.send(topic, value, partition=number % PARTITIONS)
            while sent - instance.consumed() > AHEAD:
                assert instance.alive, instance.tail()
                time.sleep(0.1)
            if time.monotonic() - began >= every * (len(samples) + 1):
                samples.append(look(instance, began))
                say(samples[-1])
                if samples[-1].seconds >= seconds:
                    break
        producer.flush(60)
        instance.until(instance.caught_up, 60)
        assert instance.stop() == 0, instance.tail()
    finally:
        producer.close(5)
        if instance.alive:
            instance.kill()
    assert not instance.plain(), instance.plain()
    return samples


def verdict(samples: Sequence[Sample], after: float) -> str:
    """Say how far memory and files moved once it has run for `after` seconds."""
    later = [sample for sample in samples if sample.seconds >= after]
    if len(later) < 2:
        return f"too short to judge: it must run for more than {after:.0f} s"
    low, high = min(s.rss for s in later), max(s.rss for s in later)
    flat = high <= 1.05 * low
    files = sorted({s.files for s in later})
    rate = (later[-1].consumed - later[0].consumed) / (later[-1].seconds - later[0].seconds)
    return (
        f"RSS after {after:.0f} s: {low:.1f} to {high:.1f} MB, {'flat' if flat else 'NOT flat'} within 5%; "
        f"open files {files[0]} to {files[-1]}; {rate:,.0f} events/s"
    )


def main(seconds: float) -> None:
    """Run and print a line every ten seconds."""
    with script.broker(log_retention_check_interval_ms=5000) as (broker, folder):
        print(verdict(run(broker, folder, "soak", seconds=seconds, say=print), after=120))


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 600)
