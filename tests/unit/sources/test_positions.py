from types import SimpleNamespace

import pytest
from kafka import TopicPartition

from monitor.records import Partition
from monitor.sources.positions import Place, Range, place, starting_points

A0, A1, B0 = Partition("a", 0), Partition("a", 1), Partition("b", 0)
AVAILABLE = {A0: Range(10, 100), A1: Range(0, 50), B0: Range(5, 5)}


class Consumer:
    """Answers questions for offsets by time."""

    def __init__(self, offsets):
        self.offsets = offsets
        self.asked = None

    def offsets_for_times(self, asked, timeout_ms):
        self.asked = asked
        found = {tp: self.offsets.get(tp) for tp in asked}
        return {
            tp: None if offset is None else SimpleNamespace(offset=offset) for tp, offset in found.items()
        }


def start(known=(), entered=(), start="latest", timestamp=None, consumer=None):
    return starting_points(consumer, AVAILABLE, dict(known), entered, start, lambda: timestamp)


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (50, Place(50)),
        (10, Place(10)),
        (100, Place(100)),
        (4, Place(10, lost=6)),
        (101, Place(100, truncated=True)),
    ],
)
def test_place(wanted, expected):
    assert place(wanted, Range(10, 100)) == expected


def test_earliest_and_latest():
    assert start(start="earliest") == {A0: Place(10), A1: Place(0), B0: Place(5)}
    assert start(start="latest") == {A0: Place(100), A1: Place(50), B0: Place(5)}


def test_windows_ask_by_time_in_milliseconds_and_begin_at_the_end_where_nothing_is_that_new():
    consumer = Consumer({TopicPartition(*A0): 70})
    points = start(start="windows", timestamp=1_764_400_000_123_456, consumer=consumer)
    assert points == {A0: Place(70), A1: Place(50), B0: Place(5)}
    assert set(consumer.asked.values()) == {1_764_400_000_123}


def test_windows_without_a_past_begin_at_the_end():
    assert start(start="windows", timestamp=None) == start(start="latest")


def test_known_offsets_come_first():
    points = start(known={A0: 4, B0: 9}, start="earliest")
    assert points == {A0: Place(10, lost=6), A1: Place(0), B0: Place(5, truncated=True)}


def test_partition_that_was_added_is_read_from_its_first_record():
    assert start(known={A0: 50}, start="latest")[A1] == Place(0)
    assert start(entered={"a"}, start="latest") == {A0: Place(10), A1: Place(0), B0: Place(5)}
