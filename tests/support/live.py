"""Events of a model that go on while a test runs, as good as the test says at each moment."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from kafka import KafkaProducer

from tests.support.brokers import Broker

EVERY = 0.05
"""Seconds between two batches."""


def values(model: str, version: str, recall: float, times: Iterator[float]) -> Iterator[bytes]:
    """Yield events, every other a fraud; those found are spread evenly. No other event is taken for one."""
    found = 0.0
    for number, timestamp in enumerate(times):
        fraud, score = number % 2 == 0, 0.1
        if fraud:
            found += recall
            if found >= 1 - 1e-9:
                found, score = found - 1, 0.9
        event = {
            "model": model,
            "version": version,
            "timestamp": timestamp,
            "label": ("legit", "fraud")[fraud],
            "score": score,
        }
        yield json.dumps(event).encode()


class Live:
    """Sends events until it is stopped.

    Attributes
    ----------
    version, recall
        Of the events from now on.
    """

    def __init__(self, broker: Broker, topic: str, model: str, batch: int) -> None:
        self.version = "1"
        self.recall = 1.0
        self._topic = topic
        self._model = model
        self._batch = batch
        self._producer = KafkaProducer(bootstrap_servers=broker.address, linger_ms=5)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="live")

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(10)
        self._producer.close(5)

    def _run(self) -> None:
        while not self._stop.wait(EVERY):
            times = iter([time.time()] * self._batch)
            for value in values(self._model, self.version, self.recall, times):
                self._producer.send(self._topic, value, partition=0)


@contextmanager
def live(broker: Broker, topic: str, model: str = "fraud", batch: int = 10) -> Iterator[Live]:
    """Have 20 batches a second sent until the block is left."""
    found = Live(broker, topic, model, batch)
    try:
        found.start()
        yield found
    finally:
        found.stop()
