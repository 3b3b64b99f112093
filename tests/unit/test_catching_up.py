"""When reading has caught up, so that people are told and something is done."""

from __future__ import annotations

import pytest

from monitor.catching_up import CatchingUp, Progress
from monitor.clock import ManualClock
from monitor.records import Partition, RecordBatch
from tests.support.records import raw

P = Partition("t", 0)
MINUTE = 60_000_000


def read(clock: ManualClock, ago: float, offset: int = 0) -> RecordBatch:
    """Return a record that Kafka received some seconds ago."""
    return RecordBatch(P, [raw(offset, b"{}", clock.now() // 1000 - round(ago * 1000))])


def progress(lag: int, frontier: int | None = 5, decided: int | None = 5, offset: int = 9) -> Progress:
    return Progress({P: lag}, {P: offset}, frontier, decided)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def catching_up(clock: ManualClock) -> CatchingUp:
    return CatchingUp(clock, 5 * MINUTE)


def test_old_records_are_history_until_they_are_read_and_decided(
    clock: ManualClock, catching_up: CatchingUp
) -> None:
    catching_up.note([read(clock, 3600)], progress(10, frontier=5, decided=None, offset=1))
    assert (catching_up.present.current, catching_up.lagging) == (False, True)
    catching_up.note([read(clock, 1800)], progress(0, frontier=7, decided=5, offset=11))
    assert not catching_up.present.current
    catching_up.note([], progress(0, frontier=8, decided=6, offset=11))
    assert not catching_up.present.current
    catching_up.note([], progress(0, frontier=9, decided=7, offset=12))
    assert catching_up.present.current
    assert catching_up.present.read_after == {P: 12}
    assert not catching_up.lagging


def test_without_events_there_is_nothing_to_decide(catching_up: CatchingUp) -> None:
    catching_up.note([], progress(0, frontier=None, decided=None, offset=0))
    assert catching_up.present.current


def test_who_falls_behind_later_is_not_current_until_that_is_decided(
    clock: ManualClock, catching_up: CatchingUp
) -> None:
    catching_up.note([], progress(0))
    assert catching_up.present.current
    clock.advance(600)
    catching_up.note([read(clock, 400)], progress(5, frontier=20, decided=5))
    assert (catching_up.present.current, catching_up.lagging) == (False, True)
    catching_up.note([read(clock, 100)], progress(0, frontier=30, decided=20))
    assert not catching_up.present.current
    catching_up.note([], progress(0, frontier=40, decided=30))
    assert (catching_up.present.current, catching_up.lagging) == (True, False)
    assert catching_up.present.read_after == {P: 9}  # of the start


@pytest.mark.parametrize(
    ("behind", "current", "lagging"), [(5, True, False), (200, True, False), (600, False, True)]
)
def test_late_clocks_of_producers_do_not_hide_how_far_reading_is(
    clock: ManualClock, catching_up: CatchingUp, behind: int, current: bool, lagging: bool
) -> None:
    for read_up_to in range(10, 10_000, 10):  # ten records a second, some of them always still to be read
        clock.advance(1)
        batches = [read(clock, 3600, read_up_to - 1)]
        catching_up.note(batches, Progress({P: behind}, {P: read_up_to}, 5, 5))
    assert (catching_up.present.current, catching_up.lagging) == (current, lagging)


def test_an_end_that_was_heard_of_before_an_outage_says_nothing(
    clock: ManualClock, catching_up: CatchingUp
) -> None:
    catching_up.note([], progress(0, offset=10))
    for _ in range(600):  # no broker answers, and what is known of the end stays
        clock.advance(1)
        catching_up.note([], progress(0, offset=10))
    catching_up.note([read(clock, 500, 10)], progress(100, offset=11))
    assert (catching_up.present.current, catching_up.lagging) == (False, True)
    catching_up.note([read(clock, 400, 60)], progress(50, offset=61))
    assert not catching_up.present.current


@pytest.mark.parametrize(
    ("changes", "lagging"),
    [
        ({}, False),
        ({"reachable": False}, True),
        ({"lag": {}}, True),
        ({"frontier": 6 * MINUTE, "decided": 2 * MINUTE}, False),
        ({"frontier": 6 * MINUTE, "decided": MINUTE - 1}, True),
    ],
)
def test_nothing_is_done_on_what_may_be_long_past(
    catching_up: CatchingUp, changes: dict[str, object], lagging: bool
) -> None:
    catching_up.note([], progress(0))
    found = {"lag": {P: 0}, "next_offsets": {P: 9}, "frontier": 5, "decided": 5, **changes}
    catching_up.note([], Progress(**found))  # type: ignore[arg-type]
    assert catching_up.lagging is lagging
