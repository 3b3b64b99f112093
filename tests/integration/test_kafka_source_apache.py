"""What only a full broker shows: groups of two, transactions, topics that come, grow and are recreated."""

import re
import threading
import time

import pytest
from kafka import KafkaConsumer, TopicPartition
from kafka.admin import MemberToRemove

from monitor.errors import SourceError
from monitor.records import Partition
from monitor.sources.dead_letters import DeadLetters
from monitor.sources.probe import probe, sample
from monitor.sources.topics import recreated
from tests.support.reading import numbered, reading

pytestmark = [
    pytest.mark.kafka,
    pytest.mark.usefixtures("refused_sockets"),
    pytest.mark.filterwarnings("ignore:unclosed <s:ResourceWarning"),
]

FAST = {"session_timeout_ms": 3000, "metadata_max_age_ms": 500}


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
        for polls in range(200):
            second.poll(0.1)
            first.poll(0.1)
            if polls >= 20 and first.source.joined:
                break
        assert second.source.assigned() == frozenset()
        assert second.source.problem is None
        assert first.revoked == []
        assert first.count() == 30
        assert first.source.joined
        assert second.source.joined  # a standby, too
        assert second.source.positions() == {}
        assert not second.source.commit({Partition(topic, 0): 10})
        assert first.source.commit(dict.fromkeys(first.source.assigned(), 10))

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


def test_owner_that_hangs_is_replaced_and_stands_by(apache_kafka, topic, caplog):
    settings = {**apache_kafka.settings, **FAST, "max_poll_interval_ms": 3000}
    apache_kafka.produce(topic, numbered(5))
    with reading(settings, topic, topic) as first, reading(settings, topic, topic) as second:
        first.until(lambda: first.count() == 5)
        second.until(lambda: len(second.source.assigned()) == 3)  # the first one is not polled meanwhile
        assert not first.source.commit({Partition(topic, 0): 5})
        first.poll(0)
        assert "gone on without this instance" in caplog.text
        assert not first.source.commit({Partition(topic, 0): 5})  # nothing of ours is left to commit
        assert first.revoked == [{Partition(topic, number) for number in range(3)}]
        for _ in range(10):
            first.poll(0.1)
            second.poll(0.1)
        assert len(second.source.assigned()) == 3
        assert second.revoked == []


def test_the_only_member_that_was_put_out_joins_again(apache_kafka, topic):
    settings = {**apache_kafka.settings, **FAST}
    apache_kafka.produce(topic, numbered(5))
    with reading(settings, topic, topic) as only, apache_kafka.admin() as admin:
        only.until(lambda: only.count() == 5)
        (group,) = admin.describe_groups([topic]).values()
        admin.remove_group_members(topic, [MemberToRemove(group["members"][0]["member_id"], None, "test")])
        assert not only.source.commit({Partition(topic, 0): 5})
        only.until(lambda: bool(only.revoked))
        only.until(lambda: len(only.source.assigned()) == 3)
        assert only.source.commit({Partition(topic, 0): 5})


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
        assert second.source.commit({Partition(topic, 0): 0})
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
        assert reader.source.positions()[zero] == 14  # past two markers and what was aborted
        assert reader.source.commit({zero: 5})  # as it is given

        with apache_kafka.transaction(topic, numbered(3, 5), commit=True):
            for _ in range(8):  # open: its records can't be read yet, and are no lag
                reader.poll()
            assert reader.count() == 5
            assert reader.source.lag()[zero] == 0
        reader.until(lambda: reader.count() == 8 and reader.caught_up())
        assert reader.values() == {zero: numbered(8)}
    assert sample({**apache_kafka.settings, "group_id": topic}, [topic], 100).lag == {zero: 13}


def test_restored_position_past_markers_is_no_truncation_and_no_lag(apache_kafka, topic):
    zero = Partition(topic, 0)
    with apache_kafka.transaction(topic, [b"aborted"] * 7, commit=False):
        pass
    with apache_kafka.transaction(topic, [b"open"] * 3, commit=True):
        # In the midst of it: one that read uncommitted records once stood at their end.
        with reading(apache_kafka.settings, topic, topic, take_over=lambda _: {zero: 11}) as reader:
            reader.until(reader.caught_up)
            assert reader.source.log_truncations == 0
            assert reader.source.positions()[zero] == 11


def test_added_partition_goes_to_the_owner_and_is_read_from_its_first_record(apache_kafka, topic):
    settings = {**apache_kafka.settings, **FAST}
    asked = []

    def take_over(partitions):
        asked.append({partition.partition for partition in partitions})
        return {}

    with reading(settings, topic, topic, start="latest", take_over=take_over) as reader:
        reader.until(lambda: len(reader.source.assigned()) == 3)
        apache_kafka.add_partitions(topic, 4)
        apache_kafka.produce(topic, numbered(5), 3)
        # Polls shorter than a join, which kafka-python would forget.
        reader.until(lambda: reader.count() == 5, timeout=0.003)
        assert reader.values() == {Partition(topic, 3): numbered(5)}
        assert reader.revoked == []
        assert asked == [{0, 1, 2}, {3}]


FEWER_AND_MORE = pytest.mark.parametrize("records", [3, 20])
"""Than the ten that were read before."""


@FEWER_AND_MORE
def test_recreated_topic_is_refused(apache_kafka, topic, watch_often, records):
    apache_kafka.produce(topic, numbered(10))
    with reading({**apache_kafka.settings, **FAST}, topic, topic) as reader:
        reader.until(lambda: reader.count() == 10)
        apache_kafka.recreate_topic(topic, 3)
        apache_kafka.produce(topic, numbered(records, 100))
        with pytest.raises(SourceError, match=r"deleted and created again.*kafka\.on_topic_recreated"):
            reader.until(lambda: False)


@FEWER_AND_MORE
def test_recreated_topic_is_begun_anew_where_that_is_wanted(apache_kafka, topic, watch_often, records):
    apache_kafka.produce(topic, numbered(10))
    asked = []

    def take_over(partitions):
        asked.append(dict(reader.source.topic_ids))
        # As the daemon does it: what was remembered is of another topic.
        return dict.fromkeys(partitions, 0) if len(asked) > 1 else {}

    options = {"on_topic_recreated": "restart", "start": "latest", "take_over": take_over}
    with reading({**apache_kafka.settings, **FAST}, topic, topic, **options) as reader:
        reader.until(lambda: len(reader.source.assigned()) == 3)
        apache_kafka.recreate_topic(topic, 3)
        apache_kafka.produce(topic, numbered(records, 100))
        reader.until(lambda: reader.count() == records and bool(reader.revoked))
        assert reader.values() == {Partition(topic, 0): numbered(records, 100)}
        assert reader.source.log_truncations == 0
        assert len(asked) == 2
        assert asked[0][topic] != asked[1][topic] == reader.source.topic_ids[topic]


def test_refusal_to_take_over_ends_the_source(apache_kafka, topic):
    def take_over(_):
        raise recreated(topic, "a", "b")

    with reading(apache_kafka.settings, topic, topic, take_over=take_over) as reader:
        with pytest.raises(SourceError, match=r"its id was a and is now b.*kafka\.on_topic_recreated"):
            reader.until(lambda: False)
        assert not reader.source.joined
        assert reader.source.assigned() == frozenset()


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
