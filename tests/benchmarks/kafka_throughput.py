"""Records a second through `KafkaSource.poll`, as a ratio to a bare `KafkaConsumer.poll` in the same run.

python -m tests.benchmarks.kafka_throughput                            the embedded broker
python -m tests.benchmarks.kafka_throughput --kafka-home DIR           Apache Kafka (or KAFKA_HOME)

Both read the same topic, turn by turn, so that what else the machine does hits both alike; the ratio
of CPU times shows less of it.
"""

import argparse
import json
import os
import statistics
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from kafka import KafkaConsumer, KafkaProducer, TopicPartition

from monitor.sources.kafka import KafkaSource
from tests.support.brokers import ApacheKafka, Broker, EmbeddedBroker


def fill(broker: Broker, topic: str, count: int, partitions: int) -> None:
    """Produce predictions of about 140 bytes."""
    broker.create_topic(topic, partitions)
    producer = KafkaProducer(bootstrap_servers=broker.address, linger_ms=20, batch_size=2**17)
    for number in range(count):
        event = {
            "id": f"req-{number}",
            "model": "fraud",
            "version": "2026-11-01",
            "timestamp": 1764400000 + number / 1000,
            "label": "fraud" if number % 50 == 0 else "legit",
            "score": number % 997 / 997,
        }
        producer.send(topic, json.dumps(event).encode(), partition=number % partitions)
    producer.flush(60)
    producer.close(5)


class Rate(NamedTuple):
    """Records a second of wall-clock time, and of CPU time of this process."""

    wall: float
    cpu: float


class Stopwatch:
    """Starts when first asked for how many records are still to be read."""

    def __init__(self, count: int) -> None:
        self._count = self._left = count
        self._began: tuple[float, float] | None = None

    def running(self, found: int) -> bool:
        """Take in what a poll found; return whether there is more to read."""
        self._began = self._began or (time.perf_counter(), time.process_time())
        self._left -= found
        return self._left > 0

    def rate(self) -> Rate:
        assert self._began is not None
        wall, cpu = self._began
        return Rate(self._count / (time.perf_counter() - wall), self._count / (time.process_time() - cpu))


def bare(settings: Mapping[str, object], topic: str, partitions: int, count: int) -> Rate:
    """Read with kafka-python alone, as its documentation does."""
    consumer = KafkaConsumer(**settings, group_id=None, enable_auto_commit=False)
    asked = [TopicPartition(topic, number) for number in range(partitions)]
    consumer.assign(asked)
    consumer.seek_to_beginning(*asked)
    watch = Stopwatch(count)
    while watch.running(sum(map(len, consumer.poll(timeout_ms=500, max_records=2000).values()))):
        pass
    rate = watch.rate()
    consumer.close(autocommit=False)
    return rate


def ours(settings: Mapping[str, object], topic: str, count: int, group: str) -> Rate:
    """Read as the daemon does, lag included; joining the group is not timed."""
    source = KafkaSource(settings, [topic], group, start="earliest")
    found = 0
    while not source.assigned():
        found = sum(len(batch.records) for batch in source.poll(0.1).batches)
    watch = Stopwatch(count)
    while watch.running(found):
        found = sum(len(batch.records) for batch in source.poll(0.5).batches)
        source.lag()
    rate = watch.rate()
    source.close()
    return rate


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--messages", type=int, default=200_000)
    parser.add_argument("--partitions", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--kafka-home", type=Path, default=os.environ.get("KAFKA_HOME"))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if options.kafka_home:
            broker: Broker = ApacheKafka(Path(options.kafka_home), Path(folder) / "kafka")
        else:
            broker = EmbeddedBroker(Path(folder))
        try:
            fill(broker, "events", options.messages, options.partitions)
            ratios = []
            for turn in range(options.rounds):
                alone = bare(broker.settings, "events", options.partitions, options.messages)
                through = ours(broker.settings, "events", options.messages, f"round-{turn}")
                ratios.append(Rate(through.wall / alone.wall, through.cpu / alone.cpu))
                print(
                    f"bare {alone.wall:9.0f}/s   KafkaSource {through.wall:9.0f}/s   "
                    f"ratio {ratios[-1].wall:.2f}, of CPU time {ratios[-1].cpu:.2f}"
                )
            wall, cpu = (statistics.median(column) for column in zip(*ratios, strict=True))
            print(f"{type(broker).__name__}: median ratio {wall:.2f}, of CPU time {cpu:.2f}")
        finally:
            broker.stop()


if __name__ == "__main__":
    main()
