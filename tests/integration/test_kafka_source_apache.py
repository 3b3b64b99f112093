"""What only a full broker shows: groups of two, transactions, recreated topics, TLS, SASL, permissions."""

import re
import threading
import time

import pytest
from kafka import KafkaConsumer, TopicPartition
from kafka.admin import ACLOperation, ResourceType

from monitor.errors import SourceError
from monitor.records import Partition
from monitor.sources.dead_letters import TRUNCATED_TO, DeadLetters
from monitor.sources.probe import probe, sample
from tests.support.brokers import USERS
from tests.support.reading import reading, rejected

pytestmark = [
    pytest.mark.kafka,
    pytest.mark.usefixtures("refused_sockets"),
    pytest.mark.filterwarnings("ignore:unclosed <s:ResourceWarning"),
]

FAST = {"session_timeout_ms": 3000, "metadata_max_age_ms": 500}


def numbered(count, first=0):
    return [b"%d" % number for number in range(first, first + count)]


@pytest.fixture
def topic(apache_kafka, request):
    """A topic of the test's own, with three partitions."""
    return apache_kafka.create_topic(re.sub(r"\W+", "-", request.node.name), 3)


@pytest.fixture
def watch_often(monkeypatch):
    """Look at the topics several times a second."""
    monkeypatch.setattr("monitor.sources.topics.WATCH_EVERY", 0.3)


def until_owner(*readers, seconds=20.0):
    """Poll all members until one owns all three partitions; return it and the others."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        for reader in readers:
            reader.poll(0.1)
        owners = [reader for reader in readers if len(reader.source.assigned()) == 3]
        if len(owners) == 1:
            return owners[0], [reader for reader in readers if reader is not owners[0]]
    raise AssertionError([reader.source.assigned() for reader in readers])


def test_standby_revokes_nothing_and_takes_over_after_a_clean_stop(apache_kafka, topic):
    settings = {**apache_kafka.settings, **FAST}
    for partition in range(3):
        apache_kafka.produce(topic, numbered(10), partition)
    with reading(settings, topic, topic) as first, reading(settings, topic, topic) as second:
        first.until(lambda: first.count() == 30)
        for _ in range(20):
            second.poll(0.1)
            first.poll(0.1)
        assert second.source.assigned() == frozenset()
        assert second.source.problem is None
        assert first.revoked == []
        assert first.count() == 30
        first.source.commit(dict.fromkeys(first.source.assigned(), 10))

        began = time.monotonic()
        first.source.close()
        second.until(lambda: second.count() == 30)
        assert len(second.source.assigned()) == 3
        assert time.monotonic() - began < FAST["session_timeout_ms"] / 1000
        assert second.revoked == []


def test_static_owner_that_stops_lets_the_standby_in_at_once(apache_kafka, topic):
    settings = {**apache_kafka.settings, "session_timeout_ms": 30_000}
    one = {**settings, "group_instance_id": "one"}
    two = {**settings, "group_instance_id": "two"}
    with reading(one, topic, topic) as first, reading(two, topic, topic) as second:
        owner, (standby,) = until_owner(first, second)
        began = time.monotonic()
        owner.source.close()
        until_owner(standby)
        assert time.monotonic() - began < 15


def test_owner_that_hangs_is_replaced_and_its_commit_is_refused(apache_kafka, topic):
    settings = {**apache_kafka.settings, **FAST, "max_poll_interval_ms": 3000}
    apache_kafka.produce(topic, numbered(5))
    with reading(settings, topic, topic) as first, reading(settings, topic, topic) as second:
        first.until(lambda: first.count() == 5)
        second.until(lambda: len(second.source.assigned()) == 3)  # the first one is not polled meanwhile
        with pytest.raises(SourceError, match=r"gone on without this instance"):
            first.source.commit({Partition(topic, 0): 5})
        first.until(lambda: bool(first.revoked))
        assert first.revoked == [{Partition(topic, number) for number in range(3)}]
        for _ in range(10):
            first.poll(0.1)
            second.poll(0.1)
        assert len(second.source.assigned()) == 3
        assert second.revoked == []


def test_same_static_name_twice_stops_the_old_one(apache_kafka, topic):
    settings = {**apache_kafka.settings, **FAST, "group_instance_id": "one"}
    with reading(settings, topic, topic) as first, reading(settings, topic, topic) as second:
        first.until(lambda: len(first.source.assigned()) == 3)
        second.until(lambda: len(second.source.assigned()) == 3)
        with pytest.raises(SourceError, match=r"another process joined.*kafka\.group_instance_id"):
            first.source.commit({Partition(topic, 0): 0})
        first.source.close()
        for _ in range(5):
            second.poll(0.1)
        second.source.commit({Partition(topic, 0): 0})
        assert len(second.source.assigned()) == 3


def test_aborted_records_are_not_read_and_the_lag_reaches_zero(apache_kafka, topic):
    zero = Partition(topic, 0)
    with apache_kafka.transaction(topic, numbered(5), commit=True):
        pass
    with apache_kafka.transaction(topic, [b"aborted"] * 7, commit=False):
        pass
    with reading(apache_kafka.settings, topic, topic) as reader:
        reader.until(lambda: reader.count() == 5 and reader.caught_up())
        assert reader.values() == {zero: numbered(5)}
        reader.source.commit({zero: 5})

        with apache_kafka.transaction(topic, numbered(3, 5), commit=True):
            for _ in range(8):  # open: its records can't be read yet, and are no lag
                reader.poll()
            assert reader.count() == 5
            assert reader.source.lag()[zero] == 0
        reader.until(lambda: reader.count() == 8 and reader.caught_up())
        assert reader.values() == {zero: numbered(8)}
    assert sample({**apache_kafka.settings, "group_id": topic}, [topic], 100).lag == {zero: 4}


def test_added_partition_goes_to_the_owner_and_is_read_from_its_first_record(apache_kafka, topic):
    settings = {**apache_kafka.settings, **FAST}
    with reading(settings, topic, topic, start="latest") as reader:
        reader.until(lambda: len(reader.source.assigned()) == 3)
        apache_kafka.add_partitions(topic, 4)
        apache_kafka.produce(topic, numbered(5), 3)
        # Polls shorter than a join, which kafka-python would forget.
        reader.until(lambda: reader.count() == 5, timeout=0.003)
        assert reader.values() == {Partition(topic, 3): numbered(5)}
        assert reader.revoked == []


def recreate(broker, topic):
    broker.delete_topic(topic)
    deadline = time.monotonic() + 10
    while topic in broker.topics() and time.monotonic() < deadline:
        time.sleep(0.05)
    broker.create_topic(topic, 3)
    broker.produce(topic, numbered(3, 100))


def test_recreated_topic_is_refused(apache_kafka, topic, watch_often):
    apache_kafka.produce(topic, numbered(10))
    with reading({**apache_kafka.settings, **FAST}, topic, topic) as reader:
        reader.until(lambda: reader.count() == 10)
        recreate(apache_kafka, topic)
        with pytest.raises(SourceError, match=r"deleted and created again.*kafka\.on_topic_recreated"):
            reader.until(lambda: False)


def test_recreated_topic_is_begun_anew_where_that_is_wanted(apache_kafka, topic, watch_often):
    apache_kafka.produce(topic, numbered(10))
    options = {"on_topic_recreated": "restart", "start": "latest"}
    with reading({**apache_kafka.settings, **FAST}, topic, topic, **options) as reader:
        reader.until(lambda: len(reader.source.assigned()) == 3)
        before = dict(reader.source.topic_ids)
        recreate(apache_kafka, topic)
        reader.until(lambda: reader.count() == 3 and bool(reader.revoked))
        assert reader.values() == {Partition(topic, 0): numbered(3, 100)}
        assert reader.source.topic_ids[topic] != before[topic]


def test_offsets_that_are_gone_are_counted(apache_kafka, topic):
    apache_kafka.produce(topic, numbered(30))
    settings = {**apache_kafka.settings, "max_poll_records": 5}
    with reading(settings, topic, topic) as reader:
        reader.source.hold([Partition(topic, 0)])
        reader.until(lambda: len(reader.source.assigned()) == 3)
        with apache_kafka.admin() as admin:
            admin.delete_records({TopicPartition(topic, 0): 20})
        reader.source.hold([])
        reader.until(lambda: reader.count() == 10)
        assert reader.values() == {Partition(topic, 0): numbered(10, 20)}
        assert reader.source.offsets_lost == 20


def test_mistyped_topic_is_not_created_on_a_broker_that_would(apache_kafka):
    mistyped = "predictoins"
    with (
        reading(apache_kafka.settings, mistyped, "g", give_up_after=2) as reader,
        pytest.raises(SourceError, match=f"there is no topic '{mistyped}'"),
    ):
        for _ in range(30):
            reader.poll()
    letters = DeadLetters(apache_kafka.settings, mistyped)
    letters.close(1)
    assert probe(apache_kafka.settings, [mistyped])
    assert mistyped not in apache_kafka.topics()


def test_deleted_topic_is_said_and_not_created_again(apache_kafka, topic, watch_often):
    with reading({**apache_kafka.settings, **FAST}, topic, topic) as reader:
        reader.until(lambda: len(reader.source.assigned()) == 3)
        apache_kafka.delete_topic(topic)
        reader.until(lambda: reader.source.problem is not None)
        assert f"there is no topic '{topic}'" in reader.source.problem
        reader.until(lambda: reader.source.assigned() == frozenset())
        for _ in range(10):
            reader.poll()
    assert topic not in apache_kafka.topics()


def test_broker_that_hangs_is_said_and_the_source_goes_on(apache_kafka, topic, watch_often):
    settings = {**apache_kafka.settings, "request_timeout_ms": 1000}
    apache_kafka.produce(topic, numbered(5))
    with reading(settings, topic, topic) as reader:
        reader.until(lambda: reader.count() == 5)
        apache_kafka.freeze()
        try:
            reader.until(lambda: reader.source.problem is not None)
            reader.source.commit({Partition(topic, 0): 5})  # a courtesy: its failure is counted
            assert reader.source.commit_failures == 1
        finally:
            apache_kafka.thaw()
        reader.until(lambda: reader.source.problem is None)
        apache_kafka.produce(topic, numbered(5, 5))
        reader.until(lambda: reader.count() >= 10)
        assert reader.values() == {Partition(topic, 0): numbered(10)}


def test_close_keeps_its_time_while_the_broker_hangs(apache_kafka, topic):
    with reading(apache_kafka.settings, topic, topic) as reader:
        reader.until(lambda: len(reader.source.assigned()) == 3)
        apache_kafka.freeze()
        try:
            began = time.monotonic()
            reader.source.close()
            assert time.monotonic() - began < 10
        finally:
            apache_kafka.thaw()


def test_large_dead_letter_is_cut(apache_kafka, topic):
    dead = apache_kafka.create_topic(f"{topic}.dead", max_message_bytes="150000")
    apache_kafka.produce(topic, [b"x" * 300_000])
    ids = {}
    with reading(apache_kafka.settings, topic, topic) as reader:
        reader.until(lambda: reader.count() == 1)
        ids = reader.source.topic_ids
        (record,) = reader.records[Partition(topic, 0)]
    letters = DeadLetters(apache_kafka.settings, dead, topic_ids=lambda: ids)
    letters.send([rejected(record, Partition(topic, 0))])
    assert letters.flush(20)
    letters.close()
    assert letters.results == {"sent": 1, "failed": 0, "not_forwarded": 0}
    with reading(apache_kafka.settings, dead, dead) as reader:
        reader.until(lambda: reader.count() == 1)
        (found,) = reader.records[Partition(dead, 0)]
    assert found.value == b"x" * TRUNCATED_TO
    headers = dict(found.headers)
    assert headers["truncated"] == b"300000"
    assert headers["monitor-id"] == f"{ids[topic]}/0/0".encode()


# Security --------------------------------------------------------------------------------------------


def tls(broker):
    return {"ssl_cafile": str(broker.certificates.ca.certificate)}


def client_certificate(certificate):
    return {"ssl_certfile": str(certificate.certificate), "ssl_keyfile": str(certificate.key)}


def sasl(user="alice", mechanism="PLAIN", password=None):
    return {
        "sasl_mechanism": mechanism,
        "sasl_plain_username": user,
        "sasl_plain_password": password or USERS[user],
    }


def listener(broker, name, protocol=None, **settings):
    own = {"bootstrap_servers": broker.server(name), "security_protocol": protocol or name}
    return {**own, "bootstrap_timeout_ms": 1500, **settings}


@pytest.mark.parametrize(
    "case", ["SASL_PLAINTEXT PLAIN", "SASL_SSL SCRAM-SHA-256", "SASL_PLAINTEXT SCRAM-SHA-512", "SSL", "MTLS"]
)
def test_secured_listeners_are_read(secure_kafka, case):
    name, _, mechanism = case.partition(" ")
    topic = secure_kafka.create_topic(re.sub(r"\W+", "-", case))
    secure_kafka.produce(topic, numbered(5))
    settings = listener(secure_kafka, name, "SSL" if name == "MTLS" else name)
    if name.startswith("SASL"):
        settings |= sasl(mechanism=mechanism)
    if not name.endswith("PLAINTEXT"):
        settings |= tls(secure_kafka)
    if name == "MTLS":
        settings |= client_certificate(secure_kafka.certificates.client)
    with reading(settings, topic, topic) as reader:
        reader.until(lambda: reader.count() == 5)
        reader.source.commit({Partition(topic, 0): 5})


def failing(broker):
    """Settings that cannot work, with the cause and the remedy that is to be said."""
    stranger = str(broker.certificates.stranger_ca.certificate)
    other = client_certificate(broker.certificates.stranger)
    return {
        "wrong password": (
            listener(broker, "SASL_PLAINTEXT", **sasl(password="wrong-secret")),
            r"(refuses|closes .* with a wrong) .*password; .*kafka\.sasl_plain_password",
        ),
        "wrong password, SCRAM": (
            listener(
                broker, "SASL_SSL", **tls(broker), **sasl(mechanism="SCRAM-SHA-256", password="wrong-secret")
            ),
            r"(refuses|closes .* with a wrong) .*password; .*kafka\.sasl_plain_password",
        ),
        "wrong CA": (
            listener(broker, "SSL", ssl_cafile=stranger),
            r"not signed by a CA that we trust; set kafka\.ssl_cafile",
        ),
        "no client certificate": (
            listener(broker, "MTLS", "SSL", **tls(broker)),
            r"asks for a client certificate .*kafka\.ssl_certfile",
        ),
        "client certificate of a stranger": (
            listener(broker, "MTLS", "SSL", **tls(broker), **other),
            r"refuses our client certificate; .*kafka\.ssl_certfile",
        ),
        "plaintext to a TLS port": (
            listener(broker, "SSL", "PLAINTEXT"),
            r"the port speaks TLS .*set it to SSL",
        ),
        "SASL without TLS to a TLS port": (
            listener(broker, "SASL_SSL", "SASL_PLAINTEXT", **sasl()),
            r"the port speaks TLS .*set it to SASL_SSL",
        ),
        "TLS to a plaintext port": (
            listener(broker, "PLAINTEXT", "SSL", **tls(broker)),
            r"does not speak TLS .*set it to PLAINTEXT",
        ),
        "SASL to a listener without": (
            listener(broker, "PLAINTEXT", "SASL_PLAINTEXT", **sasl()),
            r"does not take SASL; set kafka\.security_protocol",
        ),
        "no SASL to a listener with": (
            listener(broker, "SASL_PLAINTEXT", "PLAINTEXT"),
            r"expects SASL .*set it to SASL_PLAINTEXT",
        ),
    }


CASES = (
    "wrong password",
    "wrong password, SCRAM",
    "wrong CA",
    "no client certificate",
    "client certificate of a stranger",
    "plaintext to a TLS port",
    "SASL without TLS to a TLS port",
    "TLS to a plaintext port",
    "SASL to a listener without",
    "no SASL to a listener with",
)


@pytest.mark.parametrize("case", CASES)
def test_connection_that_cannot_work_ends_in_one_message(secure_kafka, case, caplog):
    settings, expected = failing(secure_kafka)[case]
    with reading(settings, "t", "g", give_up_after=600) as reader:
        with pytest.raises(SourceError, match=expected) as raised:
            reader.until(lambda: False)  # now and then a refusal shows as a closed connection first
    assert str(settings.get("sasl_plain_password")) not in str(raised.value)
    said = [record for record in caplog.records if record.name.startswith("monitor")]
    assert sum(record.levelname != "DEBUG" for record in said) <= 1


def test_forbidden_topic_names_user_and_remedy(secure_kafka):
    topic = secure_kafka.create_topic("only-bobs")
    secure_kafka.allow("bob", ResourceType.TOPIC, topic, ACLOperation.ALL)
    settings = listener(secure_kafka, "SASL_PLAINTEXT", **sasl())
    with reading(settings, topic, "g") as reader:
        with pytest.raises(
            SourceError, match=r"'alice' may not read the topic 'only-bobs'; .*--operation Read"
        ):
            reader.poll()
    (problem,) = probe(settings, [], topic)
    assert "may not write the topic 'only-bobs'" in problem


def test_topic_that_may_only_be_described_is_forbidden_too(secure_kafka):
    topic = secure_kafka.create_topic("described")
    secure_kafka.allow("bob", ResourceType.TOPIC, topic, ACLOperation.ALL)
    secure_kafka.allow("alice", ResourceType.TOPIC, topic, ACLOperation.DESCRIBE)
    with reading(listener(secure_kafka, "SASL_PLAINTEXT", **sasl()), topic, "g") as reader:
        with pytest.raises(SourceError, match=r"'alice' may not read the topic 'described'"):
            reader.poll()


def test_forbidden_group_names_user_and_remedy(secure_kafka):
    topic = secure_kafka.create_topic("everyones")
    secure_kafka.allow("bob", ResourceType.GROUP, "bobs-group", ACLOperation.ALL)
    settings = listener(secure_kafka, "SASL_PLAINTEXT", **sasl())
    expected = r"'alice' may not use the consumer group 'bobs-group'; .*--group bobs-group.*kafka\.group_id"
    with reading(settings, topic, "bobs-group") as reader:
        with pytest.raises(SourceError, match=expected):
            reader.until(lambda: False)
    (problem,) = probe({**settings, "group_id": "bobs-group"}, [topic])
    assert re.search(expected, problem)


def test_group_of_other_consumers_is_refused(apache_kafka, topic):
    other = KafkaConsumer(topic, bootstrap_servers=apache_kafka.address, group_id=topic)
    try:
        other.poll(3000)
        stop = threading.Event()
        polling = threading.Thread(target=lambda: [other.poll(100) for _ in iter(stop.is_set, True)])
        polling.start()
        with reading(apache_kafka.settings, topic, topic) as reader:
            with pytest.raises(SourceError, match=r"other consumers.*kafka\.group_id"):
                reader.until(lambda: False)
        stop.set()
        polling.join()
    finally:
        other.close()
