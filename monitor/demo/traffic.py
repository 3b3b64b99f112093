"""Labeled predictions of the demo's models, sent to the broker as a serving system would."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from kafka import KafkaProducer

from monitor.demo.model import Classifier, Release
from monitor.errors import MonitorError
from monitor.sources.connection import quiet

SITES = ("north", "south")
SHARE_OF_SOUTH = 0.6
DAMAGED_SITE = "south"
SHARE_OF_BAD_MESSAGES = 0.003
TICK_SECONDS = 0.05
_LONGEST_TICK = 1.0
"""A process that was stopped for longer does not make up for what it did not send."""


class Stream:
    """An endless stream of one model's events.

    Parameters
    ----------
    model
        As named in the events.
    release
        What serves at first.
    classifier
        What predicts.
    rate
        Events a second.
    seed
        Of cases, noise and sites.

    Attributes
    ----------
    release
        What serves from now on; may be replaced at any time.
    """

    def __init__(self, model: str, release: Release, classifier: Classifier, rate: float, seed: int) -> None:
        self.rate = rate
        self.release = release
        self._model = model
        self._classifier = classifier
        self._rng = np.random.default_rng(seed)
        self._sent = 0

    def events(self, count: int, timestamp: float) -> Iterator[dict[str, Any]]:
        """Yield the next `count` events in canonical form, all with one timestamp (epoch seconds)."""
        if count == 0:
            return
        release = self.release  # once, since another thread replaces it
        fault = release.fault
        cases, labels = self._classifier.draw(self._rng, count)
        sites = np.where(self._rng.random(count) < SHARE_OF_SOUTH, "south", "north")
        if fault is not None:
            cases = np.where((sites == DAMAGED_SITE)[:, None], fault.measure(cases), cases)
        scores = self._classifier.scores(cases)
        if fault is not None:
            scores = fault.sharpen(scores)
        classes = self._classifier.classes
        for label, row, site in zip(labels, scores.round(6).tolist(), sites.tolist(), strict=True):
            self._sent += 1
            yield {
                "id": f"{self._model}-{self._sent}",
                "model": self._model,
                "version": release.version,
                "timestamp": round(timestamp, 6),
                "label": classes[label],
                **({"score": row[1]} if len(classes) == 2 else {"scores": row}),
                "segments": {"site": site},
            }


def spoil(event: dict[str, Any], kind: int) -> bytes:
    """Return an event as a message that has to be rejected, in one of three ways."""
    if kind == 0:
        return json.dumps(event).encode()[:-20]
    return json.dumps(event | ({"label": "unsure"} if kind == 1 else {"model": "forgotten"})).encode()


class Traffic(threading.Thread):
    """Sends streams to a topic until it is stopped; a context manager.

    Parameters
    ----------
    broker
        Address as host:port.
    topic
        Where to.
    partitions
        How many the topic has.
    streams
        What to send.
    """

    def __init__(self, broker: str, topic: str, partitions: int, streams: Sequence[Stream]) -> None:
        super().__init__(name="traffic", daemon=True)
        self._broker = broker
        self._topic = topic
        self._partitions = partitions
        self._streams = streams
        self._ended = threading.Event()
        self._error: Exception | None = None

    def __enter__(self) -> Traffic:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self.join()

    def check(self) -> None:
        """Raise a MonitorError if nothing is sent any more."""
        if self._error is not None:
            raise MonitorError(
                f"the demo's events cannot be sent: {type(self._error).__name__}: {self._error}"
            ) from self._error

    def run(self) -> None:
        """Send until the block is left."""
        quiet()
        try:
            producer = KafkaProducer(
                bootstrap_servers=self._broker,
                linger_ms=20,
                request_timeout_ms=3000,
                delivery_timeout_ms=4000,  # what a lost broker does not take is dropped
            )
            try:
                self._send(producer)
            finally:
                producer.close(timeout=10)
        except Exception as error:  # for check(), which speaks in the main thread
            self._error = error

    def _send(self, producer: Any) -> None:
        rng = np.random.default_rng(0)
        last = time.monotonic()
        while not self._ended.wait(TICK_SECONDS):
            now = time.monotonic()
            elapsed, last = min(now - last, _LONGEST_TICK), now
            for stream in self._streams:
                for event in stream.events(int(rng.poisson(stream.rate * elapsed)), time.time()):
                    bad = rng.random() < SHARE_OF_BAD_MESSAGES
                    message = spoil(event, int(rng.integers(3))) if bad else json.dumps(event).encode()
                    producer.send(self._topic, message, partition=int(rng.integers(self._partitions)))
