"""The dead-letter topic: records that are no valid events, passed on with the reason."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal

from kafka import KafkaProducer
from kafka.errors import (
    CorruptRecordError,
    InvalidRecordError,
    InvalidTimestampError,
    KafkaError,
    MessageSizeTooLargeError,
    RecordListTooLargeError,
    UnsupportedForMessageFormatError,
)

from monitor.clock import Clock, SystemClock
from monitor.errors import MonitorError
from monitor.sources.connection import ConnectionFailed, connect, connect_admin
from monitor.sources.letter import TRUNCATED_TO, Letter, RejectedRecord, letter
from monitor.sources.outbox import MAX_PENDING, Outbox, Posted
from monitor.sources.refusals import error_text
from monitor.sources.topics import describe, problem_of

logger = logging.getLogger(__name__)

_IN_FLIGHT = 1_000
_RETRY_EVERY = 5.0
_PRODUCER: dict[str, object] = {
    "acks": "all",
    # A letter that is sent twice is recognised by its monitor-id; idempotence would need another permission.
    "enable_idempotence": False,
    "max_request_size": 2**25,  # the broker's limit counts, not the client's default
    "linger_ms": 20,
    "max_block_ms": 5000,
    "request_timeout_ms": 10_000,
    "delivery_timeout_ms": 15_000,  # after that we say what is wrong, and try again ourselves
    "metrics_enabled": False,
}

_TOO_LARGE = (MessageSizeTooLargeError, RecordListTooLargeError)
# What is wrong with a letter. Everything else is wrong with the topic or the broker, and may pass.
_REFUSED = (
    InvalidRecordError,
    InvalidTimestampError,
    UnsupportedForMessageFormatError,
    CorruptRecordError,  # what brokers before 2.4 say of an invalid record
)

Result = Literal["sent", "failed", "not_forwarded"]


class DeadLetters:
    """Sends rejected records to a topic, in a thread of its own.

    A letter ends as ``sent``, as ``failed`` (the broker refuses this very message), or as ``not_forwarded``.
    While the topic or the broker is the problem, letters wait and are tried again.

    `send` and `mark` are called on the thread that reads, the rest on any.

    Parameters
    ----------
    settings
        kafka-python's consumer settings; those that its producer has too are used.
    topic
        Where letters go. It is never created.
    topic_ids
        Ids of the input topics, for `monitor-id`.
    on_error
        What happens when `max_pending` letters or 64 MiB wait: with ``"pause"`` the caller stops reading
        while `full`, with ``"drop"`` further letters are counted as ``not_forwarded``.
    max_per_second
        Letters above this rate are counted as ``not_forwarded``; None: all are sent.
    max_pending
        Letters that may wait for the broker.

    Attributes
    ----------
    results : dict
        Letters by result: sent, failed, not_forwarded.
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
        self._settings = settings
        self._topic = topic
        self._topic_ids = topic_ids
        self._drop = on_error == "drop"
        self._max_per_second = max_per_second
        self._clock = clock or SystemClock()
        self._second = (0.0, 0)
        self._outbox = Outbox(max_pending)
        self._error: str | None = None
        self._refusals: set[type[Exception]] = set()
        self._changed = threading.Condition()
        self._failing = threading.Event()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="dead-letters", daemon=True)
        self._thread.start()

    @property
    def alive(self) -> bool:
        """Whether letters are still being sent."""
        return self._thread.is_alive()

    @property
    def full(self) -> bool:
        """Whether so many letters wait that reading should pause, until half of them are gone."""
        return self._outbox.crowded and not self._drop

    @property
    def problem(self) -> str | None:
        """Why letters are not sent at the moment, and what that holds up; None while all is well."""
        error, effect = self._error, None
        if self.full:
            effect = f"reading pauses because {len(self._outbox)} rejected events wait"
        elif self._drop and self._outbox.full:
            effect = "further rejected events are not forwarded"
        if effect is not None:
            effect += f" (kafka.dead_letter.on_error: {'drop' if self._drop else 'pause'})"
        return "; ".join(filter(None, (error, effect))) or None

    def send(self, rejected: Iterable[RejectedRecord]) -> None:
        """Pass rejected records on; never waits."""
        ids = self._topic_ids()
        was_full = self.full
        with self._changed:
            for each in rejected:
                if self._too_fast() or (self._drop and self._outbox.full):
                    self.results["not_forwarded"] += 1
                else:
                    self._outbox.add(letter(each, ids.get(each.partition.topic)))
            self._changed.notify_all()
        if self.full and not was_full:
            logger.warning("%s", self.problem)

    def mark(self) -> int:
        """Return a mark behind everything passed to `send` so far."""
        with self._changed:
            return self._outbox.mark()

    def settled(self, mark: int, timeout: float) -> bool:
        """Wait up to `timeout` seconds for every letter before a mark; return whether none waits any more.

        What is forgotten after that can be lost no more: each of these letters was sent, or is counted. With
        ``on_error="drop"`` this is True at once, and a crash loses what waits.
        """
        if self._drop:
            return True
        with self._changed:
            self._changed.wait_for(lambda: self._outbox.settled(mark) or self._closing.is_set(), timeout)
            return self._outbox.settled(mark)

    def close(self, timeout: float = 5.0) -> None:
        """Send what waits, for at most `timeout` seconds; what is left is counted as failed."""
        with self._changed:
            self._changed.wait_for(lambda: not self._outbox or self._error is not None, timeout)
            self._closing.set()
            self._changed.notify_all()
        self._thread.join(2.0)
        with self._changed:
            self.results["failed"] += len(self._outbox)

    def _too_fast(self) -> bool:
        if self._max_per_second is None:
            return False
        now, (began, count) = self._clock.monotonic(), self._second
        if now - began >= 1:
            began, count = now, 0
        self._second = began, count + 1
        return count >= self._max_per_second

    def _run(self) -> None:
        producer = self._ready(None)
        while not self._closing.is_set():
            if self._failing.is_set():
                self._closing.wait(_RETRY_EVERY)
                self._failing.clear()
                self._ready(producer)
                continue
            with self._changed:
                self._changed.wait_for(lambda: self._stopped() or self._can_send(), timeout=1.0)
                if self._stopped() or not self._can_send():
                    continue
                posted = self._outbox.take()
            self._send_one(producer, posted)
        try:
            if producer is not None:
                producer.close(1)
        except KafkaError as error:
            logger.debug("closing the dead-letter producer: %s", error)

    def _stopped(self) -> bool:
        return self._closing.is_set() or self._failing.is_set()

    def _can_send(self) -> bool:
        return self._outbox.waiting > 0 and self._outbox.in_flight < _IN_FLIGHT

    def _ready(self, producer: Any) -> Any:
        """Wait until the topic can be written; return a producer, None where we close before."""
        while not self._closing.is_set():
            try:
                self._look()
                if producer is None:
                    producer = connect(KafkaProducer, {**self._settings, **_PRODUCER})
                    self._error = None
                return producer
            except (MonitorError, KafkaError) as error:
                # Of brokers that are away the source speaks; here it matters where letters wait.
                if self._outbox or not isinstance(error, (ConnectionFailed, KafkaError)):
                    self._say(f"dead letters cannot be sent: {error_text(error)}")
                self._closing.wait(_RETRY_EVERY)
        return producer

    def _look(self) -> None:
        # A producer only times out; a description tells what is wrong.
        admin = connect_admin(self._settings)
        try:
            found = describe(admin, [self._topic])[self._topic]
        finally:
            admin.close()
        problem = problem_of(found, self._settings, operation="WRITE", key="kafka.dead_letter_topic")
        if problem:
            raise MonitorError(problem)

    def _send_one(self, producer: Any, posted: Posted) -> None:
        key, value, headers = posted.letter
        try:
            future = producer.send(self._topic, value, key=key, headers=headers)
        except Exception as error:  # whatever one letter does to the client, the next are sent
            self._failed(posted, error)
        else:
            future.add_callback(lambda _: self._arrived(posted))
            future.add_errback(lambda error: self._failed(posted, error))

    def _arrived(self, posted: Posted) -> None:
        self._settle(posted, "sent", None)

    def _failed(self, posted: Posted, error: Exception) -> None:
        if isinstance(error, _TOO_LARGE):
            shorter = posted.letter.truncated()
            if shorter is not None:
                self._again(posted, shorter)
            else:
                what = f"its key and headers are too large beside {TRUNCATED_TO:,} bytes of its value"
                self._refused(posted, error, what)
        elif isinstance(error, _REFUSED) or not isinstance(error, KafkaError):
            self._refused(posted, error, str(error))
        else:
            # A bare KafkaError: another letter of the batch was refused, and this one along with it.
            if type(error) is not KafkaError and not self._failing.is_set():
                self._say(f"dead letters cannot be sent: {error_text(error)}")
                self._failing.set()
            self._again(posted, posted.letter)

    def _refused(self, posted: Posted, error: Exception, what: str) -> None:
        problem = f"a dead letter is refused ({type(error).__name__}): {what}"
        if type(error) not in self._refusals:
            self._refusals.add(type(error))
            logger.error("%s; it and others like it are counted as failed", problem)
        self._settle(posted, "failed", problem)

    def _again(self, posted: Posted, changed: Letter) -> None:
        with self._changed:
            self._outbox.again(posted, changed)
            self._changed.notify_all()

    def _settle(self, posted: Posted, result: Result, problem: str | None) -> None:
        with self._changed:
            self._outbox.settle(posted)
            self.results[result] += 1
            self._error = problem
            self._changed.notify_all()

    def _say(self, problem: str) -> None:
        if problem != self._error:
            logger.warning("%s", problem)
        with self._changed:
            self._error = problem
            self._changed.notify_all()
