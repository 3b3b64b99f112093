"""Seeded events from an idempotent producer in a process of its own, and how a monitor reads them.

Event times follow the wall clock, a second out of order at most; one in 2000 is ten minutes late. The model
"fraud" is good and bad in turn, five seconds each. What was
written stands in the log: runs are compared on that, so it does not matter how far the producer came.
"""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kafka import KafkaProducer

PARTITIONS = 3

CONFIGURATION = """
kafka:
  bootstrap_servers: ["{address}"]
  topics: [{topic}]
  group_id: {topic}
  dead_letter_topic: {topic}.dead
  start: earliest
  session_timeout_ms: {session_ms}
  heartbeat_interval_ms: {heartbeat_ms}
  request_timeout_ms: 5000
{kafka}
models:
  fraud: {{task: binary, classes: [legit, fraud], positive_class: fraud, segments: [region, channel],
          label_maturity: 2s, champion: "2",
          windows: [{{name: last_5k, events: 5000}}, {{name: 20s, duration: 20s}},
                    {{name: last_200_frauds, positives: 200}}]}}
  iris: {{task: multiclass, classes: [a, b, c], segments: [region], top_k: [1, 2]}}
  tags: {{task: multilabel, classes: [a, b, c, d], windows: [{{name: last_1k, events: 1000}}]}}
  "*": {{task: binary, classes: ["0", "1"], windows: [{{name: last_500, events: 500}}]}}
evaluation: {{every: 5s}}
checkpoint: {{directory: "{directory}", every: 1s}}
server: {{port: {port}}}
logging: {{format: json, level: debug}}
"""

ALERTS = """
events: {allowed_lateness: 10s}
alerts:
  every: 2s
  max_age: 3650d
  rules:
    RecallLow: {model: fraud, metric: recall, floor: 0.5, false_alarm_every: 50}
    RegionLow: {model: fraud, metric: accuracy, segment: region=*, floor: 0.7, false_alarm_every: 20}
    Drift: {model: fraud, detector: calibration, false_alarm_every: 100}
    Worse: {model: fraud, metric: accuracy, compare_to: champion, margin: 0.01, false_alarm_every: 20}
    AccuracyLow: {model: fraud, metric: accuracy, floor: 0.72, condition: interval, window: 20s}
    PrecisionLow: {model: fraud, metric: precision, floor: 0.5, condition: value, window: 20s, for: 2}
"""
"""Sections with alerts of every kind: none passes over an old mark, and no late event is in their windows."""

REJECTED = (
    b"no json",
    b'{"model": "fraud", "label": "unheard of", "score": 0.5}',
    b'{"model": "fraud", "label": "legit", "score": 1.5}',
    b'{"model": "iris", "label": "a", "scores": [1.0]}',
)


def configuration(
    address: str, topic: str, directory: Path, *, port: int = 0, session_ms: int = 6000, **kafka: object
) -> str:
    """Return the text of a monitor.yaml; further settings are those of the section `kafka`."""
    return CONFIGURATION.format(
        address=address,
        topic=topic,
        directory=directory,
        port=port,
        session_ms=session_ms,
        heartbeat_ms=session_ms // 4,
        kafka="".join(f"  {key}: {value}\n" for key, value in kafka.items()),
    )


def events(seed: int, start: float, rate: float, late_after: int = 20_000) -> Iterator[tuple[int, bytes]]:
    """Yield partition and value without end; the event of number i is `i / rate` seconds after `start`.

    Before number `late_after` none is late: until every partition has shown its time nothing counts as late,
    so that the first polls would decide.
    """
    rng = random.Random(seed)
    number = 0
    while True:
        number += 1
        seconds = start + number / rate - rng.random()
        if number > late_after and rng.random() < 5e-4:
            seconds -= 600
        yield rng.randrange(PARTITIONS), _value(rng, seconds)


def _value(rng: random.Random, seconds: float) -> bytes:
    kind = rng.random()
    if kind < 0.005:
        return rng.choice(REJECTED)
    event: dict[str, object] = {"timestamp": round(seconds, 6), "version": rng.choice("112")}
    segments = {"region": rng.choice(["eu", "us", "apac", "ü"])}
    score = rng.random() ** 3
    if kind < 0.5:
        segments["channel"] = f"c{rng.randrange(20)}"
        is_good = seconds % 10 < 5
        fraud = rng.random() < (score if is_good else 1 / 3)
        event |= {"model": "fraud", "label": "fraud" if fraud else "legit", "score": score}
    elif kind < 0.7:
        scores = [rng.random() for _ in range(3)]
        event |= {"model": "iris", "label": rng.choice("abc"), "scores": [x / sum(scores) for x in scores]}
    elif kind < 0.8:
        scores = [rng.random() for _ in range(4)]
        event |= {"model": "tags", "label": rng.sample("abcd", rng.randrange(4)), "scores": scores}
    else:
        event |= {"model": f"model-{rng.randrange(5)}", "label": rng.choice("01"), "score": score}
    if rng.random() < 0.05:
        event["label"] = None
    if rng.random() < 0.9:
        event["segments"] = segments
    return json.dumps(event).encode()


def produce(address: str, topic: str, seed: int, rate: float, stop: threading.Event) -> int:
    """Send events at a rate until told to stop; return how many."""
    producer = KafkaProducer(
        bootstrap_servers=address, linger_ms=20, delivery_timeout_ms=600_000, max_block_ms=600_000
    )
    failures: list[Exception] = []
    start = time.time()
    sent = 0
    for partition, value in events(seed, start, rate):
        while start + sent / rate > time.time() and not stop.wait(0.02):
            pass
        if stop.is_set():
            break
        producer.send(topic, value, partition=partition).add_errback(failures.append)
        sent += 1
    producer.flush(60)
    producer.close(10)
    if failures:
        raise failures[0]
    return sent


class Producer:
    """The process; `stop` ends it and returns how many records are in the topic."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def stop(self) -> int:
        self._process.send_signal(signal.SIGTERM)
        out, _ = self._process.communicate(timeout=90)
        assert self._process.returncode == 0
        return int(out)


@contextmanager
def producing(address: str, topic: str, seed: int, rate: float) -> Iterator[Producer]:
    """Have events produced until the block is left or `Producer.stop`."""
    command = [sys.executable, "-m", "tests.chaos.traffic", address, topic, str(seed), str(rate)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2])
    try:
        yield Producer(process)
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def main() -> None:
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    address, topic, seed, rate = sys.argv[1:]
    print(produce(address, topic, int(seed), float(rate), stop))


if __name__ == "__main__":
    main()
