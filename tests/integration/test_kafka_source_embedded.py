import re
import socket
import threading
import time

import pytest
from kafka.structs import TopicPartition

from monitor.clock import SystemClock
from monitor.errors import ConfigurationError, SourceError
from monitor.records import Partition
from monitor.sources.kafka import KafkaSource
from monitor.sources.probe import probe, sample
from tests.support.brokers import free_ports
from tests.support.reading import numbered, reading

pytestmark = [
    pytest.mark.usefixtures("refused_sockets"),
    pytest.mark.filterwarnings("ignore:unclosed <s:ResourceWarning"),
]


@pytest.fixture
def topic(embedded_broker, request):
    """A topic of the test's own, with two partitions."""
    return embedded_broker.create_topic(re.sub(r"\W+", "-", request.node.name), 2)


def test_reads_everything_in_order_and_is_caught_up(embedded_broker, topic):
    zero, one = Partition(topic, 0), Partition(topic, 1)
    embedded_broker.produce(topic, numbered(3000), 0)
    embedded_broker.produce(topic, numbered(500), 1, key=b"k", headers=[("h", b"x")])
    with reading(embedded_broker.settings, topic, topic) as reader:
        assert reader.source.assigned() == frozenset()
        assert reader.source.lag() == {}
        reader.until(lambda: reader.count() == 3500)
        assert reader.values() == {zero: numbered(3000), one: numbered(500)}
        assert [record.offset for record in reader.records[zero]] == list(range(3000))
        record = reader.records[one][0]
        assert (record.key, record.headers) == (b"k", [("h", b"x")])
        assert abs(record.timestamp - time.time() * 1000) < 60_000
        reader.until(reader.caught_up)
        assert reader.source.assigned() == {zero, one}
        assert reader.source.problem is None
        assert reader.source.rebalances == 1

        embedded_broker.produce(topic, numbered(10, 500), 1)
        reader.until(lambda: reader.count() == 3510)
        assert reader.values()[one] == numbered(510)


def test_lag_counts_what_is_not_read_yet(embedded_broker, topic):
    embedded_broker.produce(topic, numbered(100), 0)
    with reading({**embedded_broker.settings, "max_poll_records": 30}, topic, topic) as reader:
        reader.until(lambda: reader.count() > 0)
        assert reader.source.lag() == {Partition(topic, 0): 70, Partition(topic, 1): 0}


def test_hold_stops_exactly_the_given_partitions(embedded_broker, topic):
    zero, one = Partition(topic, 0), Partition(topic, 1)
    with reading(embedded_broker.settings, topic, topic) as reader:
        reader.source.hold([zero])  # also before anything is assigned
        reader.until(lambda: bool(reader.source.assigned()))
        for partition in (0, 1):
            embedded_broker.produce(topic, numbered(10), partition)
        reader.until(lambda: reader.count() == 10)
        assert reader.values() == {one: numbered(10)}

        reader.source.hold([one])
        embedded_broker.produce(topic, numbered(10, 10), 1)
        reader.until(lambda: reader.count() == 20)
        assert reader.values() == {zero: numbered(10), one: numbered(10)}

        reader.source.hold([])
        reader.until(lambda: reader.count() == 30)
        assert reader.values()[one] == numbered(20)


@pytest.mark.parametrize(("start", "expected"), [("earliest", 20), ("windows", 15), ("latest", 5)])
def test_start(embedded_broker, topic, start, expected):
    now = SystemClock().now()
    embedded_broker.produce(topic, numbered(5), timestamp_ms=now // 1000 - 7_200_000)
    embedded_broker.produce(topic, numbered(10), timestamp_ms=now // 1000 - 60_000)
    options = {"start": start, "start_timestamp": lambda: now - 3_600_000_000}
    with reading(embedded_broker.settings, topic, topic, **options) as reader:
        reader.until(lambda: bool(reader.source.assigned()))
        embedded_broker.produce(topic, numbered(5))
        reader.until(lambda: reader.count() >= expected and reader.caught_up())
        assert reader.count() == expected


def test_what_is_remembered_is_resumed(embedded_broker, topic):
    embedded_broker.produce(topic, numbered(100), 0)
    embedded_broker.produce(topic, numbered(10), 1)
    asked = []

    def known(partitions):
        asked.append(partitions)
        return {Partition(topic, 0): 90, Partition(topic, 1): 25}

    with reading(embedded_broker.settings, topic, topic, take_over=known) as reader:
        reader.until(lambda: reader.count() == 10)
        assert reader.values() == {Partition(topic, 0): numbered(10, 90)}
        assert reader.source.log_truncations == 1  # the second partition ends before 25
        assert reader.truncated == {Partition(topic, 1): 10}
        assert reader.source.positions() == {Partition(topic, 0): 100, Partition(topic, 1): 10}
        assert asked == [{Partition(topic, 0), Partition(topic, 1)}]


def test_an_owner_that_reads_on_until_it_is_replaced_left_no_truncated_log(embedded_broker, topic):
    embedded_broker.produce(topic, numbered(10), 0)

    def take_over(_):
        embedded_broker.produce(topic, numbered(5, 10), 0)  # and the former owner has read them
        return {Partition(topic, 0): 15}

    with reading(embedded_broker.settings, topic, topic, take_over=take_over) as reader:
        reader.until(reader.caught_up)
        assert reader.source.joined
        assert reader.truncated == {}
        assert reader.source.positions()[Partition(topic, 0)] == 15


def test_commit_tells_lag_tools_and_who_has_lost_its_checkpoints(embedded_broker, topic, caplog):
    embedded_broker.produce(topic, numbered(10), 0)
    with reading(embedded_broker.settings, topic, topic) as reader:
        reader.until(lambda: reader.count() == 10)
        assert reader.source.commit({Partition(topic, 0): 4, Partition("other", 0): 7})
        assert not reader.source.commit({Partition("other", 0): 7})
    with embedded_broker.admin() as admin:
        committed = admin.list_group_offsets({topic: None})[topic]
    assert {tp: found.offset for tp, found in committed.items()} == {TopicPartition(topic, 0): 4}
    for known in (4, None):
        assert "before, but no checkpoint" not in caplog.text
        past = {} if known is None else {Partition(topic, 0): known}
        with reading(embedded_broker.settings, topic, topic, take_over=lambda _, past=past: past) as reader:
            reader.until(reader.caught_up)
    assert f"has read {topic}/0 up to 4 before, but no checkpoint in checkpoint.directory" in caplog.text


def test_missing_topic_is_waited_for_and_never_created(embedded_broker, caplog):
    name = "appears-later"
    with reading(embedded_broker.settings, name, name) as reader:
        for _ in range(3):
            reader.poll()
        assert f"there is no topic '{name}'" in reader.source.problem
        assert "--create" in reader.source.problem
        assert name not in embedded_broker.topics()
        embedded_broker.create_topic(name)
        embedded_broker.produce(name, numbered(3))
        reader.until(lambda: reader.count() == 3)
        assert reader.source.problem is None
    assert sum(f"there is no topic '{name}'" in record.getMessage() for record in caplog.records) == 1


def test_missing_topic_ends_it_when_patience_is_over(embedded_broker):
    with (
        reading(embedded_broker.settings, "never-there", "g", give_up_after=0) as reader,
        pytest.raises(SourceError, match=r"there is no topic 'never-there' .*--create.*kafka\.topics"),
    ):
        reader.poll()


def test_unreachable_broker_is_said_once(caplog):
    (port,) = free_ports(1)
    settings = {"bootstrap_servers": f"127.0.0.1:{port}", "bootstrap_timeout_ms": 300}
    with (
        reading(settings, "t", give_up_after=2) as reader,
        pytest.raises(SourceError, match=r"nothing listens there.*kafka\.bootstrap_servers.*given up"),
    ):
        for _ in range(30):
            reader.poll()
    said = [record for record in caplog.records if record.name.startswith("monitor")]
    assert [record.levelname for record in said if record.levelname != "DEBUG"] == ["WARNING"]


def test_a_waiting_poll_ends_at_once_when_told_to_stop():
    stop = threading.Event()
    (port,) = free_ports(1)
    settings = {"bootstrap_servers": f"127.0.0.1:{port}", "bootstrap_timeout_ms": 100}
    with reading(settings, "t", stop=stop) as reader:
        reader.poll(0)
        stop.set()
        for _ in range(100):
            reader.poll(5)  # would last for minutes


def test_a_silent_port_is_no_broker():
    with socket.create_server(("127.0.0.1", 0)) as server:
        settings = {
            "bootstrap_servers": f"127.0.0.1:{server.getsockname()[1]}",
            "bootstrap_timeout_ms": 200,
        }
        with (
            reading(settings, "t", give_up_after=0) as reader,
            pytest.raises(SourceError, match="no answer"),
        ):
            reader.poll()


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"ssl_cafile": "/nowhere/ca.pem"}, r"kafka\.ssl_cafile: cannot read /nowhere/ca\.pem"),
        ({"sesion_timeout_ms": 1}, r"kafka\.sesion_timeout_ms"),
        ({"fetch_max_wait_ms": 10**6}, "kafka: .*fetch_max_wait_ms"),
    ],
)
def test_settings_that_cannot_work(embedded_broker, topic, setting, message):
    with reading({**embedded_broker.settings, **setting}, topic) as reader:
        with pytest.raises(ConfigurationError, match=message):
            reader.poll()


def test_nothing_connects_before_the_first_poll():
    source = KafkaSource({"bootstrap_servers": "127.0.0.1:1"}, ["t"], "g")
    source.hold([Partition("t", 0)])
    assert not source.commit({Partition("t", 0): 1})
    assert source.lag() == {}
    assert source.positions() == {}
    assert not source.joined
    source.close()


def test_probe_says_what_is_wrong(embedded_broker, topic):
    settings = {**embedded_broker.settings, "group_id": topic}
    assert probe(settings, [topic], topic) == []
    problems = probe(settings, [topic, "nowhere"], "no-dead-letters")
    assert [problem.split(" at ")[0] for problem in problems] == [
        "there is no topic 'nowhere'",
        "there is no topic 'no-dead-letters'",
    ]
    (port,) = free_ports(1)
    unreachable = {"bootstrap_servers": f"127.0.0.1:{port}", "bootstrap_timeout_ms": 200}
    (problem,) = probe(unreachable, [topic])
    assert "nothing listens there" in problem
    assert "nowhere" not in embedded_broker.topics()


def test_sample_reads_the_end_without_the_group(embedded_broker, topic):
    settings = {**embedded_broker.settings, "group_id": topic}
    zero, one = Partition(topic, 0), Partition(topic, 1)
    embedded_broker.produce(topic, numbered(100), 0)
    embedded_broker.produce(topic, numbered(2), 1)
    found = sample(settings, [topic], 10)
    values = {batch.partition: [record.value for record in batch.records] for batch in found.batches}
    assert values == {zero: numbered(8, 92), one: numbered(2)}
    assert found.ranges == {zero: (0, 100), one: (0, 2)}
    assert found.rates == {zero: pytest.approx(100 / 60), one: pytest.approx(2 / 60)}
    assert found.lag == {}
    with reading(embedded_broker.settings, topic, topic) as reader:
        reader.until(lambda: reader.count() == 102)
        reader.source.commit({zero: 60})
    assert sample(settings, [topic], 1).lag == {zero: 40}


def test_sample_of_an_empty_topic(embedded_broker, topic):
    assert sample(embedded_broker.settings, [topic], 10).batches == []
