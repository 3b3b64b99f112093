"""Watermark, frontier and aligned catch-up."""

from __future__ import annotations

from monitor.events.batch import Span
from monitor.records import Partition
from monitor.state.clocks import Clocks

A, B = Partition("t", 0), Partition("t", 1)


def read(clocks: Clocks, partition: Partition, *times: int) -> None:
    clocks.read({partition: Span(0, len(times), len(times), times[0], max(times))})


def test_the_frontier_follows_the_slowest_partition_that_lags() -> None:
    clocks = Clocks(allowed_lateness=10)
    read(clocks, A, 1000)
    read(clocks, B, 400)
    clocks.advance({A, B})
    assert (clocks.watermark, clocks.frontier) == (1000, 390)
    clocks.advance({A})  # B is read to its end: it holds nothing back
    assert clocks.frontier == 990


def test_the_frontier_never_falls() -> None:
    clocks = Clocks(allowed_lateness=0)
    read(clocks, A, 1000)
    clocks.advance(())
    read(clocks, B, 10)
    clocks.advance({A, B})
    assert clocks.frontier == 1000


def test_the_frontier_waits_for_a_lagging_partition_that_has_not_shown_its_time() -> None:
    clocks = Clocks(allowed_lateness=0)
    read(clocks, A, 1000)
    clocks.advance({A, B})
    assert clocks.frontier is None


def test_a_batch_without_valid_events_moves_no_clock() -> None:
    clocks = Clocks(allowed_lateness=0)
    clocks.read({A: Span(0, 3, 3, None, None)})
    assert (clocks.watermark, clocks.covered_since, clocks.partitions) == (None, None, {})


def test_coverage_begins_with_the_first_event_read_not_with_a_late_one() -> None:
    clocks = Clocks(allowed_lateness=0)
    read(clocks, A, 500, 600)
    read(clocks, A, 20)  # an old event that arrives late says nothing about what lies between
    assert clocks.covered_since == 500
    assert clocks.watermark == 600


def test_a_partition_too_far_ahead_waits_for_the_slowest_that_lags() -> None:
    clocks = Clocks(allowed_lateness=0)
    read(clocks, A, 1000)
    read(clocks, B, 400)
    assert clocks.ahead({A, B}, max_skew=100) == {A}
    assert clocks.ahead({A, B}, max_skew=600) == frozenset()
    assert clocks.ahead({A}, max_skew=100) == frozenset()
    assert clocks.ahead((), max_skew=100) == frozenset()


def test_all_wait_for_a_lagging_partition_that_has_not_shown_its_time() -> None:
    clocks = Clocks(allowed_lateness=0)
    read(clocks, A, 1000)
    assert clocks.ahead({A, B}, max_skew=100) == {A}


def test_nobody_waits_for_a_partition_of_rejected_records() -> None:
    clocks = Clocks(allowed_lateness=0)
    read(clocks, A, 1000)
    clocks.read({B: Span(0, 50, 50, None, None)})
    assert clocks.ahead({A, B}, max_skew=100) == frozenset()
    clocks.advance({A, B})
    assert clocks.frontier == 1000
    read(clocks, B, 10)  # a valid event: its time counts again
    assert clocks.ahead({A, B}, max_skew=100) == {A}


def test_coverage_begins_anew_where_records_were_lost() -> None:
    clocks = Clocks(allowed_lateness=0)
    read(clocks, A, 100, 500)
    clocks.lose()
    assert (clocks.covered_since, clocks.gap) == (100, False)
    read(clocks, A, 900, 950)
    assert (clocks.covered_since, clocks.gap) == (950, True)
    read(clocks, B, 20)
    assert clocks.covered_since == 950
