"""Messages to a control topic, one at a time: each is with the brokers before the next is thought of."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from kafka import KafkaProducer
from kafka.errors import KafkaError

from monitor.errors import MonitorError
from monitor.sources.connection import connect, connect_admin
from monitor.sources.topics import describe, problem_of

logger = logging.getLogger(__name__)

_PRODUCER: dict[str, object] = {
    "acks": "all",
    # Readers know a message that is sent twice by its key; idempotence would need another permission.
    "enable_idempotence": False,
    "retries": 0,  # whoever posts tries again, and judges before whether it still should
    "metrics_enabled": False,
}


class ControlTopic:
    """A topic that deployment tools listen on. It is never created.

    Parameters
    ----------
    settings
        kafka-python's consumer settings; those that its producer has too are used.
    topic
        Its name.
    key
        Where the configuration names it, for messages.
    timeout
        Seconds for one message.
    """

    def __init__(self, settings: Mapping[str, object], topic: str, key: str, timeout: float) -> None:
        self._settings = settings
        self._topic = topic
        self._key = key
        self._timeout = timeout
        self._producer: Any = None
        self._lock = threading.Lock()
        self._closed = False

    def post(self, key: bytes, value: bytes, headers: Sequence[tuple[str, bytes]]) -> None:
        """Write a message; returns once the brokers have it.

        Raises
        ------
        MonitorError
            If they have not, or nobody knows; the message says why.
        """
        try:
            self._look()
            with self._lock:
                if self._closed:
                    raise MonitorError("the daemon stops")
                if self._producer is None:
                    self._producer = self._connected()
                sent = self._producer.send(self._topic, value, key=key, headers=list(headers))
            sent.get(self._timeout)
        except KafkaError as error:
            raise MonitorError(f"the message to {self._topic!r} did not arrive: {error}") from None

    def close(self) -> None:
        """Give up what is under way, and write nothing any more."""
        self._closed = True  # before the lock, which may be held while a producer connects
        with self._lock:
            producer, self._producer = self._producer, None
        if producer is not None:
            with suppress(KafkaError):
                producer.close(0.5)

    def _look(self) -> None:
        # A producer only times out; a description tells what is wrong.
        admin = connect_admin(self._settings)
        try:
            found = describe(admin, [self._topic])[self._topic]
        finally:
            admin.close()
        if problem := problem_of(found, self._settings, operation="WRITE", key=self._key):
            raise MonitorError(problem)

    def _connected(self) -> Any:
        names = ("max_block_ms", "request_timeout_ms", "delivery_timeout_ms")
        limits = dict.fromkeys(names, round(self._timeout * 1000))
        return connect(KafkaProducer, {**self._settings, **_PRODUCER, **limits})
