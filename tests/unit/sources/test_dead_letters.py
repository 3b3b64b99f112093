"""Sending letters, on a producer that does what the test says."""

import threading
import time
from collections.abc import Callable, Iterator
from types import SimpleNamespace

import pytest
from kafka.errors import (
    InvalidRecordError,
    KafkaError,
    KafkaTimeoutError,
    MessageSizeTooLargeError,
    TopicAuthorizationFailedError,
    UnknownTopicOrPartitionError,
)
from kafka.future import Future

from monitor.clock import ManualClock
from monitor.sources import dead_letters
from monitor.sources.connection import ConnectionFailed
from monitor.sources.dead_letters import DeadLetters
from monitor.sources.diagnosis import Failure
from monitor.sources.letter import TRUNCATED_TO
from monitor.sources.topics import Topic


class Producer:
    """Keeps what is sent until the test says what becomes of it."""

    def __init__(self) -> None:
        self.sent: list[tuple[bytes | None, dict[str, bytes], Future]] = []
        self.raises: Exception | None = None
        self.closed = False

    def send(self, topic, value, key, headers):
        if self.raises is not None:
            raise self.raises
        future = Future()
        self.sent.append((value, dict(headers), future))
        return future

    def close(self, timeout):
        self.closed = True


class Broker:
    """One topic, which can be missing, and the producer of whoever connects."""

    def __init__(self) -> None:
        self.error: type[KafkaError] | None = None
        self.looks = 0
        self.producer = Producer()

    def describe(self, admin, names):
        self.looks += 1
        return {name: Topic(name, "id", (0,), self.error, None) for name in names}


@pytest.fixture
def broker(monkeypatch: pytest.MonkeyPatch) -> Broker:
    broker = Broker()
    monkeypatch.setattr(dead_letters, "connect_admin", lambda _: SimpleNamespace(close=lambda: None))
    monkeypatch.setattr(dead_letters, "connect", lambda *_: broker.producer)
    monkeypatch.setattr(dead_letters, "describe", broker.describe)
    monkeypatch.setattr(dead_letters, "_RETRY_EVERY", 0.02)
    return broker


@pytest.fixture
def make(broker: Broker) -> Iterator[Callable[..., DeadLetters]]:
    made: list[DeadLetters] = []

    def make(**options) -> DeadLetters:
        made.append(DeadLetters({"bootstrap_servers": "b:9092"}, "dead", **options))
        return made[-1]

    yield make
    for letters in made:
        letters.close(0)
        assert not letters.alive


def rejected(*values: bytes, headers=()):
    return [
        SimpleNamespace(
            partition=SimpleNamespace(topic="t", partition=0),
            record=SimpleNamespace(key=None, value=value, headers=headers, offset=i),
            reason="not_json",
            detail="why",
        )
        for i, value in enumerate(values)
    ]


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.002)


def test_a_mark_waits_for_what_was_passed_before_it_and_for_nothing_else(broker, make):
    letters = make()
    letters.send(rejected(b"a", b"b"))
    mark = letters.mark()
    letters.send(rejected(b"c"))
    sent = broker.producer.sent
    until(lambda: len(sent) == 3)
    sent[2][2].success(None)
    sent[1][2].success(None)
    assert not letters.settled(mark, 0)
    waiter: list[bool] = []
    thread = threading.Thread(target=lambda: waiter.append(letters.settled(mark, 10)))
    thread.start()
    sent[0][2].success(None)
    thread.join(10)
    assert waiter == [True]
    assert letters.results == {"sent": 3, "failed": 0, "not_forwarded": 0}


def test_a_mark_waits_for_letters_that_are_tried_again_or_shortened(broker, make):
    letters = make()
    letters.send(rejected(b"x" * (TRUNCATED_TO + 1), b"b"))
    mark = letters.mark()
    sent = broker.producer.sent
    until(lambda: len(sent) == 2)
    sent[0][2].failure(MessageSizeTooLargeError("too large"))
    until(lambda: len(sent) == 3)
    assert (len(sent[2][0]), sent[2][1]["truncated"]) == (TRUNCATED_TO, b"100001")
    sent[1][2].failure(KafkaTimeoutError("no answer"))
    assert "KafkaTimeoutError" in letters.problem
    sent[2][2].success(None)
    assert not letters.settled(mark, 0)
    until(lambda: len(sent) == 4)
    sent[3][2].success(None)
    assert letters.settled(mark, 0)
    assert letters.problem is None
    assert letters.results == {"sent": 2, "failed": 0, "not_forwarded": 0}


def test_what_the_broker_refuses_is_failed_and_said_once(broker, make, caplog):
    letters = make()
    sent = broker.producer.sent
    for i in range(3):
        letters.send(rejected(b"a"))
        until(lambda n=i + 1: len(sent) == n)
        sent[i][2].failure(InvalidRecordError("no key for a compacted topic"))
    assert letters.settled(letters.mark(), 0)
    assert letters.results["failed"] == 3
    assert "InvalidRecordError" in letters.problem
    letters.send(rejected(b"x" * (TRUNCATED_TO + 1)))
    for i in (3, 4):
        until(lambda n=i + 1: len(sent) == n)
        sent[i][2].failure(MessageSizeTooLargeError("too large"))
    assert "its key and headers are too large" in letters.problem
    broker.producer.raises = TypeError("a header that nobody thought of")
    letters.send(rejected(b"a"))
    until(lambda: letters.results["failed"] == 5)
    broker.producer.raises = None
    letters.send(rejected(b"a"))
    until(lambda: len(sent) == 6)
    sent[5][2].success(None)
    assert letters.problem is None
    assert [record.levelname for record in caplog.records] == ["ERROR"] * 3
    assert "counted as failed" in caplog.text


def test_letters_beside_a_refused_one_are_sent_again(broker, make):
    letters = make()
    letters.send(rejected(b"a", b"b"))
    sent = broker.producer.sent
    until(lambda: len(sent) == 2)
    sent[0][2].failure(InvalidRecordError("no key for a compacted topic"))
    sent[1][2].failure(KafkaError("Failed to append record because it was part of a batch ..."))
    until(lambda: len(sent) == 3)
    sent[2][2].success(None)
    assert letters.results == {"sent": 1, "failed": 1, "not_forwarded": 0}


@pytest.mark.parametrize("lost", [TopicAuthorizationFailedError, UnknownTopicOrPartitionError])
def test_a_topic_that_is_lost_is_waited_for_without_spinning(broker, make, caplog, lost):
    letters = make()
    letters.send(rejected(b"a", b"b"))
    mark = letters.mark()
    sent = broker.producer.sent
    until(lambda: len(sent) == 2)
    broker.error = lost
    sent[0][2].failure(lost("dead"))
    sent[1][2].failure(lost("dead"))
    looks = broker.looks
    until(lambda: broker.looks >= looks + 3)
    assert len(sent) == 2  # looked at the topic, sent nothing
    assert "kafka.dead_letter_topic" in letters.problem
    assert not letters.settled(mark, 0)
    assert len(caplog.records) == 2  # the failure, and what it comes from
    broker.error = None
    until(lambda: len(sent) == 4)
    for _, _, future in sent[2:]:
        future.success(None)
    assert letters.settled(mark, 0)
    assert letters.problem is None


def test_reading_pauses_from_full_to_half(broker, make, caplog):
    letters = make(max_pending=4)
    letters.send(rejected(b"a", b"b", b"c"))
    assert not letters.full
    letters.send(rejected(b"d"))
    assert letters.full
    assert letters.problem == (
        "reading pauses because 4 rejected events wait (kafka.dead_letter.on_error: pause)"
    )
    assert letters.problem in caplog.text
    sent = broker.producer.sent
    until(lambda: len(sent) == 4)
    sent[0][2].success(None)
    assert letters.full
    sent[1][2].success(None)
    assert not letters.full
    assert letters.problem is None


def test_the_problem_says_why_and_what_it_holds_up(broker, make):
    broker.error = UnknownTopicOrPartitionError
    letters = make(max_pending=1)
    until(lambda: letters.problem is not None)
    letters.send(rejected(b"a"))
    cause, _, effect = letters.problem.partition("; reading pauses")
    assert cause.startswith("dead letters cannot be sent: there is no topic 'dead'")
    assert effect == " because 1 rejected events wait (kafka.dead_letter.on_error: pause)"


def test_of_brokers_that_are_away_only_the_source_speaks_while_no_letter_waits(
    broker, make, monkeypatch, caplog
):
    looks: list[object] = []

    def away(settings: object) -> None:
        looks.append(settings)
        raise ConnectionFailed(Failure("cannot connect to Kafka", waiting_helps=True))

    monkeypatch.setattr(dead_letters, "connect_admin", away)
    letters = make()
    until(lambda: len(looks) > 2)
    assert letters.problem is None
    assert not caplog.records
    letters.send(rejected(b"a"))
    until(lambda: letters.problem is not None)
    assert letters.problem == "dead letters cannot be sent: cannot connect to Kafka"


def test_drop_forwards_no_more_than_there_is_room_for_and_waits_for_nothing(broker, make):
    letters = make(max_pending=2, on_error="drop")
    letters.send(rejected(b"a", b"b", b"c"))
    assert not letters.full
    assert letters.results["not_forwarded"] == 1
    assert "not forwarded (kafka.dead_letter.on_error: drop)" in letters.problem
    assert letters.settled(letters.mark(), 10)


@pytest.mark.parametrize("on_error", ["pause", "drop"])
def test_keys_and_headers_take_room_too(broker, make, on_error):
    letters = make(on_error=on_error)
    big = b"h" * 1_000_000
    letters.send(rejected(*[b"v"] * 100, headers=[("trace", big)]))
    assert letters.full == (on_error == "pause")
    assert letters.results["not_forwarded"] == (0 if on_error == "pause" else 100 - 68)


@pytest.mark.parametrize("on_error", ["pause", "drop"])
def test_above_the_rate_nothing_is_forwarded(broker, make, on_error):
    clock = ManualClock()
    letters = make(max_per_second=3, on_error=on_error, clock=clock)
    letters.send(rejected(*[b"v"] * 5))
    assert letters.results["not_forwarded"] == 2
    letters.send(rejected(*[b"v"] * 5))
    assert letters.results["not_forwarded"] == 7
    clock.advance(1)
    letters.send(rejected(*[b"v"] * 5))
    assert letters.results["not_forwarded"] == 9
    until(lambda: len(broker.producer.sent) == 6)


def test_what_waits_at_the_end_is_failed_and_not_settled(broker, make):
    letters = make()
    letters.send(rejected(b"a", b"b"))
    mark = letters.mark()
    until(lambda: len(broker.producer.sent) == 2)
    broker.producer.sent[0][2].success(None)
    letters.close(0.01)
    assert broker.producer.closed
    assert letters.results == {"sent": 1, "failed": 1, "not_forwarded": 0}
    assert not letters.settled(mark, 10)  # at once
