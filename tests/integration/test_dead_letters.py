"""Dead letters on real brokers: what arrives, and what happens while none can."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count

import pytest
from kafka.admin import ACLOperation, ResourceType

from monitor import tenure
from monitor.records import Partition
from monitor.sources import dead_letters
from monitor.sources.dead_letters import DeadLetters
from monitor.sources.letter import TRUNCATED_TO
from tests.support.brokers import USERS, Broker
from tests.support.daemons import configuration, event, running
from tests.support.reading import reading, rejected
from tests.support.records import raw

pytestmark = [
    pytest.mark.filterwarnings("ignore:unclosed <s:ResourceWarning"),
    pytest.mark.usefixtures("refused_sockets"),
]

_names = (f"dead-{number}" for number in count())


@pytest.fixture
def name() -> str:
    return next(_names)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Try again soon: the same steps in less time."""
    monkeypatch.setattr(dead_letters, "_RETRY_EVERY", 0.3)
    hasty = {"max_block_ms": 1000, "request_timeout_ms": 1000, "delivery_timeout_ms": 2000}
    monkeypatch.setattr(dead_letters, "_PRODUCER", dead_letters._PRODUCER | hasty)


@contextmanager
def sending(settings, topic: str, **options) -> Iterator[DeadLetters]:
    letters = DeadLetters(settings, topic, **options)
    try:
        yield letters
    finally:
        letters.close()


def bad(*values: bytes | None, **changes):
    """Return rejected records of a partition, as if they stood there from offset 0 on."""
    return [rejected(raw(i, value)._replace(**changes), Partition("t", 1)) for i, value in enumerate(values)]


def until(condition: Callable[[], bool], letters: DeadLetters) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, f"{letters.results} {letters.problem}"
        time.sleep(0.05)


def sent(letters: DeadLetters) -> None:
    """Wait until everything is settled, as a checkpoint does."""
    assert letters.settled(letters.mark(), 60), f"{letters.results} {letters.problem}"


def found(broker: Broker, topic: str, number: int):
    with reading(broker.settings, topic, topic) as reader:
        reader.until(lambda: reader.count() == number)
        return [record for records in reader.records.values() for record in records]


def test_letters_arrive_as_they_were(embedded_broker: Broker, name: str) -> None:
    embedded_broker.create_topic(name)
    with sending(embedded_broker.settings, name) as letters:
        letters.send(bad(b"\xff not json", None, key=b"k", headers=[("trace", b"\x00\x01")]))
        sent(letters)
    assert letters.results == {"sent": 2, "failed": 0, "not_forwarded": 0}
    first, second = found(embedded_broker, name, 2)
    assert [(record.key, record.value) for record in (first, second)] == [
        (b"k", b"\xff not json"),
        (b"k", None),
    ]
    assert first.headers == [
        ("trace", b"\x00\x01"),
        ("monitor-id", b"t/1/0"),
        ("monitor-reason", b"not_json"),
        ("monitor-detail", b"no JSON"),
    ]


def test_letters_wait_for_their_topic_and_never_create_it(embedded_broker: Broker, name: str) -> None:
    with sending(embedded_broker.settings, name, max_pending=3) as letters:
        letters.send(bad(b"a", b"b"))
        assert not letters.full
        assert not letters.settled(letters.mark(), 1)
        letters.send(bad(b"c"))
        assert letters.full
        until(lambda: letters.problem.startswith("dead letters cannot be sent: there is"), letters)
        assert "kafka.dead_letter_topic" in letters.problem
        assert letters.problem.endswith(
            "reading pauses because 3 rejected events wait (kafka.dead_letter.on_error: pause)"
        )
    assert letters.results == {"sent": 0, "failed": 3, "not_forwarded": 0}
    assert name not in embedded_broker.topics()


WAITING = 25_000


@pytest.mark.parametrize("on_error", ["pause", "drop"])
def test_what_the_daemon_does_while_the_topic_is_missing(
    embedded_broker: Broker, name: str, impatient: None, tmp_path, on_error: str
) -> None:
    topic = embedded_broker.create_topic(f"{name}-read")
    embedded_broker.produce_many(topic, ((b"%d" % i, None) for i in range(WAITING)))
    text = configuration(
        embedded_broker,
        topic,
        dead_letter_topic=name,
        dead_letter=f"{{on_error: {on_error}, max_per_second: 1000000}}",
    )
    with running(text, tmp_path) as daemon:
        status = daemon.daemon.status
        rule = f"(kafka.dead_letter.on_error: {on_error})"
        daemon.wait_until(lambda: rule in (status().dead_letter_error or ""), 60)
        assert f"there is no topic '{name}'" in status().dead_letter_error
        if on_error == "pause":
            time.sleep(1)  # would be enough to read the rest
            assert 10_000 <= status().events_consumed[topic] < WAITING
        else:
            daemon.wait_until(lambda: status().events_consumed[topic] == WAITING, 60)
            assert status().dead_letters["not_forwarded"] == WAITING - 10_000
        embedded_broker.create_topic(name)
        forwarded = WAITING if on_error == "pause" else 10_000
        daemon.wait_until(lambda: status().dead_letters.get("sent") == forwarded, 60)
        daemon.wait_until(lambda: status().dead_letter_error is None, 60)
        assert status().events_consumed[topic] == WAITING
        assert status().dead_letters == {
            "sent": forwarded, "failed": 0, "not_forwarded": WAITING - forwarded,
        }  # fmt: skip


def test_letters_that_could_not_be_sent_are_sent_by_the_next_instance(
    embedded_broker: Broker, name: str, impatient: None, tmp_path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No checkpoint passes a letter that waits, so that its record is read again."""
    monkeypatch.setattr(tenure, "LETTERS_SECONDS", 0.5)
    topic = embedded_broker.create_topic(f"{name}-read")
    embedded_broker.produce(topic, [event(0), b"bad 1", event(2), b"bad 3"])
    text = configuration(embedded_broker, topic, dead_letter_topic=name) + "checkpoint: {every: 200ms}\n"
    with running(text, tmp_path) as daemon:
        daemon.wait_for_records(4)
        daemon.wait_until(lambda: "dead" in (daemon.daemon.status().checkpoint_error or ""), 30)
    embedded_broker.create_topic(name)
    with running(text, tmp_path) as daemon:
        daemon.wait_until(lambda: daemon.daemon.status().dead_letters.get("sent") == 2, 30)
        daemon.wait_for_records(4)
        daemon.wait_until(lambda: daemon.daemon.status().checkpoint_age is not None, 30)
        assert daemon.daemon.status().checkpoint_error is None
        assert sum(daemon.daemon.status().events_rejected.values()) == 2
    embedded_broker.produce(topic, [b"bad 4"])
    with running(text, tmp_path) as daemon:  # goes on behind the letters that were sent
        daemon.wait_until(lambda: daemon.daemon.status().dead_letters.get("sent") == 1, 30)
        assert sum(daemon.daemon.status().events_rejected.values()) == 3
    records = found(embedded_broker, name, 3)
    assert [(record.value, dict(record.headers)["monitor-id"].decode()) for record in records] == [
        (b"bad 1", f"{topic}/0/1"),
        (b"bad 3", f"{topic}/0/3"),
        (b"bad 4", f"{topic}/0/4"),
    ]


@pytest.mark.kafka
def test_a_mistyped_topic_is_not_created_on_a_broker_that_would(apache_kafka: Broker, name: str) -> None:
    with sending(apache_kafka.settings, name) as letters:
        letters.send(bad(b"a"))
        until(lambda: letters.problem is not None, letters)
    assert name not in apache_kafka.topics()


@pytest.mark.kafka
def test_a_topic_that_is_deleted_is_waited_for_and_not_created(
    apache_kafka: Broker, name: str, impatient: None
) -> None:
    apache_kafka.create_topic(name)
    with sending(apache_kafka.settings, name) as letters:
        letters.send(bad(b"a"))
        sent(letters)
        apache_kafka.delete_topic(name)
        until(lambda: name not in apache_kafka.topics(), letters)
        letters.send(bad(b"b", b"c"))
        mark = letters.mark()
        until(lambda: "there is no topic" in (letters.problem or ""), letters)
        assert not letters.settled(mark, 1)
        assert name not in apache_kafka.topics()
        apache_kafka.create_topic(name)
        assert letters.settled(mark, 60), letters.problem
        assert letters.results == {"sent": 3, "failed": 0, "not_forwarded": 0}
        assert letters.problem is None
    assert {record.value for record in found(apache_kafka, name, 2)} == {b"b", b"c"}


@pytest.mark.kafka
def test_a_right_that_is_lost_is_waited_for(secure_kafka, name: str, impatient: None) -> None:
    secure_kafka.create_topic(name)
    settings = {
        "bootstrap_servers": secure_kafka.server("SASL_PLAINTEXT"),
        "security_protocol": "SASL_PLAINTEXT",
        "sasl_mechanism": "PLAIN",
        "sasl_plain_username": "bob",
        "sasl_plain_password": USERS["bob"],
    }
    with sending(settings, name) as letters:
        letters.send(bad(b"a"))
        sent(letters)
        secure_kafka.allow("alice", ResourceType.TOPIC, name, ACLOperation.WRITE)  # hence nobody else
        letters.send(bad(b"b", b"c"))
        mark = letters.mark()
        until(lambda: "'bob' may not write the topic" in (letters.problem or ""), letters)
        assert not letters.settled(mark, 1)
        secure_kafka.allow("bob", ResourceType.TOPIC, name, ACLOperation.WRITE, ACLOperation.DESCRIBE)
        assert letters.settled(mark, 60), letters.problem
        assert letters.results == {"sent": 3, "failed": 0, "not_forwarded": 0}


@pytest.mark.kafka
def test_letters_of_an_outage_arrive_after_it(apache_kafka, name: str, impatient: None) -> None:
    apache_kafka.create_topic(name)
    with sending(apache_kafka.settings, name) as letters:
        letters.send(bad(b"a"))
        sent(letters)
        apache_kafka.freeze()
        try:
            letters.send(bad(b"b", b"c"))
            mark = letters.mark()
            until(lambda: letters.problem is not None, letters)
            assert not letters.settled(mark, 0.1)
        finally:
            apache_kafka.thaw()
        assert letters.settled(mark, 60), letters.problem
        assert letters.results == {"sent": 3, "failed": 0, "not_forwarded": 0}
        assert letters.problem is None


@pytest.mark.kafka
def test_a_message_that_the_topic_refuses_does_not_hold_up_others(apache_kafka: Broker, name: str) -> None:
    """A compacted topic takes no message without a key."""
    apache_kafka.create_topic(name, cleanup_policy="compact")
    with sending(apache_kafka.settings, name) as letters:
        records = bad(b"a", key=b"k") + bad(b"b") + bad(b"c", key=b"k")
        letters.send(records)
        sent(letters)
        assert letters.results == {"sent": 2, "failed": 1, "not_forwarded": 0}
    assert [record.value for record in found(apache_kafka, name, 2)] == [b"a", b"c"]


@pytest.mark.kafka
def test_a_large_letter_is_cut(apache_kafka: Broker, name: str) -> None:
    apache_kafka.create_topic(name, max_message_bytes="150000")
    with sending(apache_kafka.settings, name, topic_ids=lambda: {"t": "0f1e"}) as letters:
        letters.send(bad(b"x" * 300_000))
        letters.send(bad(b"x" * 300_000, key=b"k" * 60_000))
        letters.send(bad(b"y"))
        sent(letters)
        assert letters.results == {"sent": 2, "failed": 1, "not_forwarded": 0}
    cut = next(record for record in found(apache_kafka, name, 2) if record.value != b"y")
    assert cut.value == b"x" * TRUNCATED_TO
    assert dict(cut.headers)["truncated"] == b"300000"
    assert dict(cut.headers)["monitor-id"] == b"0f1e/1/0"
