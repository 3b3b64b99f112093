"""Records a second through `KafkaSource.poll`, as a ratio to a bare `KafkaConsumer.poll` in the same run.

python -m tests.benchmarks.kafka_throughput                            the embedded broker
python -m tests.benchmarks.kafka_throughput --kafka-home DIR           Apache Kafka (or KAFKA_HOME)

Both read the same topic, turn by turn, so that what else the machine does hits both alike.
"""

import argparse
import json
import os
import statistics
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

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


def bare(settings: Mapping[str, object], topic: str, partitions: int, count: int) -> float:
    """Read with kafka-python alone, as its documentation does; return records a second."""
    consumer = KafkaConsumer(**settings, group_id=None, enable_auto_commit=False)
    asked = [TopicPartition(topic, number) for number in range(partitions)]
    consumer.assign(asked)
    consumer.seek_to_beginning(*asked)
    began, read = None, 0
    while read < count:
        found = sum(map(len, consumer.poll(timeout_ms=500, max_records=2000).values()))
        began, read = began or time.perf_counter(), read + found
    seconds = time.perf_counter() - began
    consumer.close(autocommit=False)
    return count / seconds


def ours(settings: Mapping[str, object], topic: str, count: int, group: str) -> float:
    """Read as the daemon does, lag included; return records a second."""
    source = KafkaSource(settings, [topic], group, start="earliest")
    while not source.assigned():
        source.poll(0.1)
    began, read = None, 0
    while read < count:
        found = sum(len(batch.records) for batch in source.poll(0.5).batches)
        source.lag()
        began, read = began or time.perf_counter(), read + found
    seconds = time.perf_counter() - began
    source.close()
    return count / seconds


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
                ratios.append(through / alone)
                print(f"bare {alone:9.0f}/s   KafkaSource {through:9.0f}/s   ratio {ratios[-1]:.2f}")
            print(f"{type(broker).__name__}: median ratio {statistics.median(ratios):.2f}")
        finally:
            broker.stop()


if __name__ == "__main__":
    main()
