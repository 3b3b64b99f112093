"""The dead-letter topic: records that are no valid events, passed on with the reason."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, NamedTuple, Protocol

from kafka import KafkaProducer
from kafka.errors import KafkaError, MessageSizeTooLargeError, RecordListTooLargeError, RetriableError

from monitor.clock import Clock, SystemClock
from monitor.errors import MonitorError
from monitor.records import Partition, Record
from monitor.sources.connection import connect, connect_admin
from monitor.sources.topics import describe, problem_of

logger = logging.getLogger(__name__)

MAX_PENDING = 10_000
MAX_PENDING_BYTES = 1 << 26
TRUNCATED_TO = 100_000
"""Bytes that are kept of a value that the broker does not take whole."""

_IN_FLIGHT = 1_000
_RETRY_EVERY = 5.0
_PRODUCER: dict[str, object] = {
    "acks": "all",
    # A letter that is sent twice is recognised by its monitor-id; idempotence would need another permission.
    "enable_idempotence": False,
    "max_request_size": 2**25,  # the broker's limit counts, not the client's default
    "linger_ms": 20,
    "max_block_ms": 5000,
    "metrics_enabled": False,
}

Result = Literal["sent", "failed", "not_forwarded"]


class RejectedRecord(Protocol):
    """A record that is no valid event."""

    @property
    def partition(self) -> Partition:
        """Where it stands."""

    @property
    def record(self) -> Record:
        """The record as read."""

    @property
    def reason(self) -> str:
        """Reason from the fixed list."""

    @property
    def detail(self) -> str:
        """What exactly is wrong."""


class _Letter(NamedTuple):
    key: bytes | None
    value: bytes | None
    headers: list[tuple[str, bytes]]

    @property
    def size(self) -> int:
        """Bytes of the value."""
        return len(self.value or b"")

    def truncated(self) -> _Letter | None:
        """Return the beginning of the letter, None where it is that already."""
        if self.value is None or len(self.value) <= TRUNCATED_TO:
            return None
        return self._replace(
            value=self.value[:TRUNCATED_TO],
            headers=[*self.headers, ("truncated", str(len(self.value)).encode())],
        )


def letter(rejected: RejectedRecord, topic_id: str | None = None) -> _Letter:
    """Make the message that goes to the dead-letter topic.

    Key, value and headers are the record's own, byte by byte. Added are `monitor-id`
    (topic id, or the topic's name where there is none, / partition / offset), which tells a repeated letter,
    `monitor-reason` and `monitor-detail`; `monitor-null-header` names a header whose value was null, which
    kafka-python cannot send.
    """
    record, partition = rejected.record, rejected.partition
    place = f"{topic_id or partition.topic}/{partition.partition}/{record.offset}"
    headers = [(name, b"" if value is None else value) for name, value in record.headers]
    headers += [("monitor-null-header", name.encode()) for name, value in record.headers if value is None]
    headers += [
        ("monitor-id", place.encode()),
        ("monitor-reason", rejected.reason.encode()),
        ("monitor-detail", rejected.detail[:1000].encode()),
    ]
    value = b"" if record.key is None and record.value is None else record.value
    return _Letter(record.key, value, headers)


class DeadLetters:
    """Sends rejected records to a topic, in a thread of its own.

    Parameters
    ----------
    settings
        kafka-python's consumer settings; those that its producer has too are used.
    topic
        Where letters go. It is never created.
    topic_ids
        Ids of the input topics, for `monitor-id`.
    on_error
        What happens when `max_pending` letters wait: with ``"pause"`` the caller stops reading while
        `full`, with ``"drop"`` further letters are counted as ``not_forwarded``.
    max_per_second
        Letters above this rate are counted as ``not_forwarded``; None: all are sent.
    max_pending
        Letters that may wait for the broker.

    Attributes
    ----------
    results : dict
        Letters by result: sent, failed, not_forwarded.
    problem : str or None
        Why nothing can be sent at the moment.
    """

    def __init__(
        self,
        settings: Mapping[str, object],
        topic: str,
        *,
        topic_ids: Callable[[], Mapping[str, str | None]] = dict,
        on_error: Literal["pause", "drop"] = "pause",
        max_per_second: int | None = None,
        max_pending: int = MAX_PENDING,
        clock: Clock | None = None,
    ) -> None:
        self.results: dict[Result, int] = {"sent": 0, "failed": 0, "not_forwarded": 0}
        self.problem: str | None = None
        self._settings = settings
        self._topic = topic
        self._topic_ids = topic_ids
        self._drop = on_error == "drop"
        self._max_per_second = max_per_second
        self._max_pending = max_pending
        self._clock = clock or SystemClock()
        self._second = (0.0, 0)
        self._waiting: deque[_Letter] = deque()
        self._bytes = 0
        self._in_flight = 0
        self._changed = threading.Condition()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="dead-letters", daemon=True)
        self._thread.start()

    @property
    def alive(self) -> bool:
        """Whether letters are still being sent."""
        return self._thread.is_alive()

    @property
    def full(self) -> bool:
        """Whether so many letters wait that reading should pause."""
        return not self._drop and (self._pending() >= self._max_pending or self._bytes >= MAX_PENDING_BYTES)

    def send(self, rejected: Iterable[RejectedRecord]) -> None:
        """Pass rejected records on; never waits."""
        ids = self._topic_ids()
        with self._changed:
            for each in rejected:
                if self._too_fast() or (self._drop and self._pending() >= self._max_pending):
                    self.results["not_forwarded"] += 1
                else:
                    self._waiting.append(letter(each, ids.get(each.partition.topic)))
                    self._bytes += self._waiting[-1].size
            self._changed.notify_all()

    def flush(self, timeout: float) -> bool:
        """Wait up to `timeout` seconds until nothing waits any more; return whether that is so."""
        with self._changed:
            return self._changed.wait_for(lambda: self._pending() == 0, timeout)

    def close(self, timeout: float = 5.0) -> None:
        """Send what waits, for at most `timeout` seconds; what is left is counted as failed."""
        with self._changed:
            self._changed.wait_for(lambda: self._pending() == 0 or self.problem is not None, timeout)
            self._closing.set()
            self._changed.notify_all()
        self._thread.join(2.0)
        with self._changed:
            self.results["failed"] += self._pending()

    def _pending(self) -> int:
        return len(self._waiting) + self._in_flight

    def _too_fast(self) -> bool:
        if self._max_per_second is None:
            return False
        now, (began, count) = self._clock.monotonic(), self._second
        if now - began >= 1:
            began, count = now, 0
        self._second = began, count + 1
        return count >= self._max_per_second

    def _run(self) -> None:
        producer = None
        while producer is None and not self._closing.is_set():
            try:
                producer = self._open()
            except (MonitorError, KafkaError) as error:
                self._say(f"dead letters wait: {error}")
                self._closing.wait(_RETRY_EVERY)
        if producer is None:
            return
        while not self._closing.is_set():
            with self._changed:
                ready = self._changed.wait_for(self._can_send, timeout=1.0)
                if not ready or self._closing.is_set():
                    continue
                next_letter = self._waiting.popleft()
                self._in_flight += 1
            self._send_one(producer, next_letter)
        try:
            producer.close(1)
        except KafkaError as error:
            logger.debug("closing the dead-letter producer: %s", error)

    def _can_send(self) -> bool:
        return self._closing.is_set() or (bool(self._waiting) and self._in_flight < _IN_FLIGHT)

    def _open(self) -> Any:
        admin = connect_admin(self._settings)
        try:
            found = describe(admin, [self._topic])[self._topic]
        finally:
            admin.close()
        problem = problem_of(found, self._settings, operation="WRITE", key="kafka.dead_letter_topic")
        if problem:
            raise MonitorError(problem)
        producer = connect(KafkaProducer, {**self._settings, **_PRODUCER})
        self._say(None)
        return producer

    def _send_one(self, producer: Any, sent: _Letter) -> None:
        try:
            future = producer.send(self._topic, sent.value, key=sent.key, headers=sent.headers)
        except KafkaError as error:
            self._failed(sent, error)
        else:
            future.add_callback(lambda _: self._arrived(sent))
            future.add_errback(lambda error: self._failed(sent, error))

    def _arrived(self, sent: _Letter) -> None:
        with self._changed:
            self._in_flight -= 1
            self._bytes -= sent.size
            self.results["sent"] += 1
            self._changed.notify_all()
        self._say(None)

    def _failed(self, sent: _Letter, error: Exception) -> None:
        if isinstance(error, MessageSizeTooLargeError | RecordListTooLargeError):
            again = sent.truncated()
        else:
            again = sent if isinstance(error, RetriableError) else None
            self._say(f"dead letters cannot be sent: {type(error).__name__}: {error}")
        with self._changed:
            self._in_flight -= 1
            self._bytes -= sent.size
            if again is None:
                self.results["failed"] += 1
            else:
                self._waiting.append(again)
                self._bytes += again.size
            self._changed.notify_all()

    def _say(self, problem: str | None) -> None:
        if problem and problem != self.problem:
            logger.warning("%s", problem)
        with self._changed:
            self.problem = problem
            self._changed.notify_all()
