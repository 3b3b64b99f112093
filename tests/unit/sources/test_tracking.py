import pytest
from kafka import TopicPartition
from kafka.errors import KafkaConnectionError, KafkaTimeoutError, LogTruncationError, OffsetOutOfRangeError
from kafka.structs import OffsetAndMetadata

from monitor.records import Partition
from monitor.sources.positions import Place, Range
from monitor.sources.tracking import Tracking

ZERO, ONE = Partition("t", 0), Partition("t", 1)


class Client:
    """A consumer's positions; an exception among them is raised, once."""

    def __init__(self):
        self.positions = {}

    def seek(self, partition, offset):
        self.positions[Partition(*partition)] = offset

    def position(self, partition, timeout_ms):
        found = self.positions[Partition(*partition)]
        if isinstance(found, Exception):
            self.positions[Partition(*partition)] = None
            raise found
        return found


@pytest.fixture
def client():
    return Client()


@pytest.fixture
def tracking(client):
    tracking = Tracking(client)
    tracking.go_to(ZERO, Place(5))
    return tracking


@pytest.fixture
def logs(monkeypatch):
    """What brokers say of the partitions."""
    found = {}
    monkeypatch.setattr(
        "monitor.sources.tracking.ranges", lambda _, partitions: {p: found[p] for p in partitions}
    )
    return found


def truncation(partition, offset):
    agreed = None if offset is None else OffsetAndMetadata(offset, "", 1)
    return LogTruncationError({TopicPartition(*partition): agreed})


def test_next_is_the_clients_position_past_markers(tracking, client):
    tracking.delivered(ZERO, 8)
    client.positions[ZERO] = 10
    assert tracking.next(ZERO) == 10


@pytest.mark.parametrize("position", [None, KafkaTimeoutError()])
def test_next_without_a_position_is_past_what_was_delivered(tracking, client, position):
    tracking.delivered(ZERO, 8)
    client.positions[ZERO] = position
    assert tracking.next(ZERO) == 8


def test_what_is_missing_is_counted_and_a_truncation_told_once(tracking):
    tracking.go_to(ZERO, Place(20, lost=15))
    tracking.go_to(ONE, Place(7, truncated=True))
    assert (tracking.offsets_lost, tracking.log_truncations) == (15, 1)
    assert tracking.take_truncated() == {ONE: 7}
    assert tracking.take_truncated() == {}


def test_truncation_that_the_client_says_while_it_is_asked_for_a_position_is_kept(tracking, client, logs):
    tracking.delivered(ZERO, 8)
    client.positions[ZERO] = truncation(ZERO, 6)
    assert tracking.next(ZERO) == 8
    logs[ZERO] = Range(0, 30)
    tracking.relocate(None, {ZERO})
    assert client.positions[ZERO] == 6
    assert tracking.take_truncated() == {ZERO: 6}
    assert tracking.astray == {}


def test_truncation_without_a_known_end_goes_on_where_it_stands(tracking, client, logs):
    tracking.delivered(ZERO, 8)
    tracking.note_astray(truncation(ZERO, None))
    logs[ZERO] = Range(0, 30)
    tracking.relocate(None, {ZERO})
    assert tracking.take_truncated() == {ZERO: 8}


@pytest.mark.parametrize(
    ("log", "goes_to", "lost", "truncated"),
    [(Range(20, 30), 20, 12, {}), (Range(0, 4), 4, 0, {ZERO: 4}), (Range(0, 9), 8, 0, {})],
)
def test_position_out_of_range_is_put_back(tracking, client, logs, log, goes_to, lost, truncated):
    tracking.note_astray(OffsetOutOfRangeError({TopicPartition(*ZERO): 8}))
    logs[ZERO] = log
    tracking.relocate(None, {ZERO})
    assert client.positions[ZERO] == goes_to
    assert tracking.offsets_lost == lost
    assert tracking.take_truncated() == truncated


def test_partition_stays_astray_while_no_broker_answers(tracking, monkeypatch):
    def away(*_):
        raise KafkaConnectionError

    monkeypatch.setattr("monitor.sources.tracking.ranges", away)
    tracking.note_astray(truncation(ZERO, 6))
    with pytest.raises(KafkaConnectionError):
        tracking.relocate(None, {ZERO})
    assert tracking.astray == {ZERO: Place(6, truncated=True)}


def test_what_was_given_up_is_neither_put_back_nor_told(tracking, client, logs):
    tracking.note_astray(truncation(ONE, 6))
    tracking.relocate(None, {ZERO})
    assert ONE not in client.positions
    tracking.go_to(ZERO, Place(7, truncated=True))
    tracking.note_astray(truncation(ZERO, 6))
    tracking.forget()
    assert (tracking.take_truncated(), tracking.astray) == ({}, {})
