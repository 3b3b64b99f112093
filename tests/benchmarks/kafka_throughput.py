"""Records a second through `KafkaSource.poll` and the whole daemon, beside a bare `KafkaConsumer.poll`.

python -m tests.benchmarks.kafka_throughput                            the embedded broker
python -m tests.benchmarks.kafka_throughput --kafka-home DIR           Apache Kafka (or KAFKA_HOME)

All read the same topic, turn by turn, so that what else the machine does hits them alike; the ratio
of CPU times shows less of it. The daemon decodes, keeps its state, evaluates every ten seconds and
serves HTTP meanwhile; the bare client throws the records away.
"""

import argparse
import gc
import os
import statistics
import tempfile
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from kafka import KafkaConsumer, KafkaProducer, TopicPartition

from monitor.daemon import Daemon
from monitor.sources.base import Poll, TakeOver
from monitor.sources.kafka import KafkaSource
from tests.benchmarks.traffic import binary, configuration, events
from tests.support.brokers import ApacheKafka, Broker, EmbeddedBroker


def fill(broker: Broker, topic: str, count: int, partitions: int) -> None:
    """Produce canonical events of about 160 bytes."""
    broker.create_topic(topic, partitions)
    producer = KafkaProducer(bootstrap_servers=broker.address, linger_ms=20, batch_size=2**17)
    for number, value in zip(range(count), events(), strict=False):
        producer.send(topic, value, partition=number % partitions)
    producer.flush(60)
    producer.close(5)


class Rate(NamedTuple):
    """Records a second of wall-clock time, and of CPU time of this process."""

    wall: float
    cpu: float


class Stopwatch:
    """Runs from when the first records are there until `count` are read."""

    rate: Rate

    def __init__(self, count: int) -> None:
        self._count = self._left = count
        self._began: tuple[float, float] | None = None

    def start(self) -> None:
        """Start, unless it runs."""
        self._began = self._began or (time.perf_counter(), time.process_time())

    def running(self, found: int) -> bool:
        """Take in what a poll found; return whether there is more to read."""
        if found:
            self.start()
        self._left -= found
        if self._began and self._left <= 0:
            wall, cpu = self._began
            self.rate = Rate(
                self._count / (time.perf_counter() - wall), self._count / (time.process_time() - cpu)
            )
        return self._left > 0


def bare(settings: Mapping[str, object], topic: str, partitions: int, count: int) -> Rate:
    """Read with kafka-python alone, as its documentation does."""
    consumer = KafkaConsumer(**settings, group_id=None, enable_auto_commit=False)
    asked = [TopicPartition(topic, number) for number in range(partitions)]
    consumer.assign(asked)
    consumer.seek_to_beginning(*asked)
    watch = Stopwatch(count)
    while watch.running(sum(map(len, consumer.poll(timeout_ms=500, max_records=2000).values()))):
        pass
    consumer.close(autocommit=False)
    return watch.rate


def source_alone(settings: Mapping[str, object], topic: str, count: int, group: str) -> Rate:
    """Poll as the daemon does, lag included."""
    source = KafkaSource(settings, [topic], group, start="earliest")
    watch = Stopwatch(count)
    while watch.running(sum(len(batch.records) for batch in source.poll(0.5).batches)):
        source.lag()
    source.close()
    return watch.rate


class Timed(KafkaSource):
    """Ends its daemon when the last record is in the state."""

    def __init__(
        self,
        watch: Stopwatch,
        stop: threading.Event,
        settings: Mapping[str, object],
        topic: str,
        group: str,
        take_over: TakeOver = lambda _: {},
    ) -> None:
        super().__init__(settings, [topic], group, start="earliest", stop=stop, take_over=take_over)
        self._watch = watch
        self._ended = stop
        self._found = 0

    def poll(self, timeout: float) -> Poll:
        if not self._watch.running(self._found):
            self._ended.set()
            return Poll()
        poll = super().poll(timeout)
        self._found = sum(len(batch.records) for batch in poll.batches)
        if self._found:
            self._watch.start()
        return poll


def whole_daemon(settings: Mapping[str, object], topic: str, count: int, group: str) -> Rate:
    """Read with all parts at work."""
    watch = Stopwatch(count)
    thresholds = gc.get_threshold()
    with tempfile.TemporaryDirectory() as state:
        config = configuration(
            {"fraud": binary(segments=["region"])},
            kafka={"topics": [topic], "group_id": group},
            server={"port": 0},
            checkpoint={"directory": state, "every": "5s"},
        )
        Daemon(
            config, source=lambda stop, take_over: Timed(watch, stop, settings, topic, group, take_over)
        ).run()
    gc.set_threshold(*thresholds)  # the bare client has what its users have
    gc.unfreeze()
    return watch.rate


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--messages", type=int, default=400_000)
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
                print(f"bare {alone.wall:7.0f}/s", end="")
                for name, measure in {"source": source_alone, "daemon": whole_daemon}.items():
                    rate = measure(broker.settings, "events", options.messages, f"{name}-{turn}")
                    ratios.append((name, rate.wall / alone.wall, rate.cpu / alone.cpu))
                    wall, cpu = ratios[-1][1:]
                    print(f"   {name} {rate.wall:7.0f}/s, ratio {wall:.2f}, of CPU time {cpu:.2f}", end="")
                print()
            for name in ("source", "daemon"):
                wall, cpu = (statistics.median(r[i] for r in ratios if r[0] == name) for i in (1, 2))
                print(f"{type(broker).__name__}, {name}: median ratio {wall:.2f}, of CPU time {cpu:.2f}")
        finally:
            broker.stop()


if __name__ == "__main__":
    main()
