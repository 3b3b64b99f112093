"""What is said of rejected records, and how often."""

from __future__ import annotations

import logging

import pytest

from monitor.clock import ManualClock
from monitor.events.batch import Rejected
from monitor.records import Partition
from monitor.rejections import Rejections
from tests.support.records import raw


def bad(reason: str, count: int, detail: str = "why") -> list[Rejected]:
    return [Rejected(Partition("t", 3), raw(i, b"x"), "fraud", reason, detail) for i in range(count)]


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def rejections(clock: ManualClock) -> Rejections:
    return Rejections(clock)


def test_a_sample_at_most_every_ten_seconds(
    rejections: Rejections, clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    for second in range(25):
        rejections.note(100, bad("not_json", 2), 2 * second + 2)
        clock.advance(1)
    assert [record.rejected_so_far for record in caplog.records] == [2, 22, 42]
    first = caplog.records[0]
    assert first.getMessage() == "record rejected: why"
    assert (first.reason, first.topic, first.partition, first.offset) == ("not_json", "t", 3, 1)
    rejections.note(100, [], 50)
    assert len(caplog.records) == 3


def minute(rejections: Rejections, clock: ManualClock, read: int, rejected: list[Rejected]) -> None:
    rejections.note(read, rejected, len(rejected))
    clock.advance(60)
    rejections.note(0, [], len(rejected))


def errors(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno == logging.ERROR]


def test_more_than_half_of_a_minute_is_said_once_until_it_is_over(
    rejections: Rejections, clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    minute(rejections, clock, 100, bad("not_json", 50))  # half is not more than half
    assert rejections.problem is None
    wrong = bad("not_json", 20) + bad("unknown_label", 43, "'frod' is none of the classes")
    minute(rejections, clock, 100, wrong)
    assert rejections.problem is not None
    assert rejections.problem.startswith(
        "63% of the events of a minute were rejected (63 of 100), 43 of them as unknown_label: "
        "'frod' is none of the classes; "
    )
    assert "`monitor doctor`" in rejections.problem
    minute(rejections, clock, 10, bad("not_json", 9))
    assert "90%" in rejections.problem
    assert len(errors(caplog)) == 1
    minute(rejections, clock, 0, [])
    assert rejections.problem is not None  # nothing was read: nothing is known to be better
    minute(rejections, clock, 100, bad("not_json", 50))
    assert rejections.problem is None
    minute(rejections, clock, 10, bad("not_json", 9))
    assert len(errors(caplog)) == 2


def test_a_minute_is_judged_as_a_whole(rejections: Rejections, clock: ManualClock) -> None:
    rejections.note(100, bad("not_json", 100), 100)
    for _ in range(59):
        clock.advance(1)
        rejections.note(10, [], 100)
        assert rejections.problem is None
    clock.advance(1)
    rejections.note(0, [], 100)
    assert rejections.problem is None


def test_a_burst_is_judged_though_nothing_follows(rejections: Rejections, clock: ManualClock) -> None:
    rejections.note(100, bad("not_json", 100), 100)
    clock.advance(61)
    rejections.note(0, [], 100)
    assert rejections.problem is not None
