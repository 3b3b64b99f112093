from types import SimpleNamespace

import pytest
from kafka import TopicPartition
from kafka.errors import CorruptRecordError, KafkaTimeoutError
from kafka.structs import MemberState

from monitor.errors import SourceError
from monitor.sources import quirks

TP = TopicPartition("t", 3)


class Consumer:
    """As much of a client as is looked into."""

    def __init__(self, found=(), state=MemberState.STABLE):
        self.found = found
        self.state = state
        self.rejoins = 0
        self.held = set()
        self._fetcher = SimpleNamespace(_next_partition_records=None, _next_in_line_exception_metadata=None)
        self._coordinator = SimpleNamespace(request_rejoin=self.rejoin)

    def rejoin(self):
        self.rejoins += 1

    def paused(self):
        return self.held

    def group_metadata(self):
        return SimpleNamespace(state=self.state)

    def poll(self, timeout_ms):
        if isinstance(self.found, Exception):
            raise self.found
        return self.found


class UsedUp:
    def __bool__(self):
        return False


def test_buffer_that_is_used_up_makes_room():
    consumer = Consumer(found={TP: ["record"]})
    consumer._fetcher._next_partition_records = UsedUp()
    assert quirks.poll(consumer, 10) == {TP: ["record"]}
    assert consumer._fetcher._next_partition_records is None


def test_error_of_a_partition_that_is_paused_meanwhile_is_not_dropped():
    consumer = Consumer(found={})
    kept = SimpleNamespace(partition=TP, exception=CorruptRecordError("x"))
    consumer._fetcher._next_in_line_exception_metadata = kept
    assert quirks.poll(consumer, 10) == {}  # the client raises it itself
    consumer.held = {TP}
    with pytest.raises(CorruptRecordError):
        quirks.poll(consumer, 10)


def test_what_no_kafka_error_is_says_where():
    consumer = Consumer(found=UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"))
    consumer._fetcher._next_partition_records = SimpleNamespace(topic_partition=TP, next_fetch_offset=7)
    with pytest.raises(SourceError, match=r"^t/3: a record at offset 7 .*UnicodeDecodeError.*delete-records"):
        quirks.poll(consumer, 10)
    consumer._fetcher._next_partition_records = None
    with pytest.raises(SourceError, match=r"^a partition: a record cannot be unpacked"):
        quirks.poll(consumer, 10)


def test_kafka_errors_pass():
    with pytest.raises(KafkaTimeoutError):
        quirks.poll(Consumer(found=KafkaTimeoutError()), 10)


@pytest.mark.parametrize(("state", "rejoins"), [(MemberState.REBALANCING, 1), (MemberState.STABLE, 0)])
def test_join_that_outlasts_a_poll_goes_on(state, rejoins):
    consumer = Consumer(found={}, state=state)
    quirks.poll(consumer, 10)
    assert consumer.rejoins == rejoins
