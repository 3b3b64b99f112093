"""What a history keeps of reports: the right values, at the right times, within its budget."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from math import log, nan

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from monitor.history import History, Metric, Track
from monitor.history.budget import MOST_POINTS, nbytes
from monitor.history.growth import MOST_METRICS
from monitor.history.thinning import thinned
from monitor.report import Report, Value, WindowReport
from tests.support.reports import NOON, number, ratio, window_report

RECALL = Metric("classifier_recall", (("class", "fraud"),))
KEY = ("fraud", "1", "w")
MEGABYTE = 1_000_000


def everything(window: WindowReport) -> Iterable[Value]:
    return window.values


def shown(time: int, *values: Value, model: str = "fraud", **changes: object) -> WindowReport:
    """Return a window that ends so many seconds after noon."""
    window = window_report(model, "1", "w")
    return replace(window, end=NOON + time * 1_000_000, values=values, **changes)  # type: ignore[arg-type]


def report(*windows: WindowReport, evaluated: int = 0) -> Report:
    return Report(evaluated, NOON, 0.95, windows=windows)


def recall(right: int) -> Value:
    return ratio("classifier_recall", right, 100, class_="fraud")


def seconds(track: Track) -> list[int]:
    return ((track.times - NOON) // 1_000_000).tolist()  # type: ignore[no-any-return]


def test_a_point_is_the_reports_value_with_its_analytic_interval() -> None:
    history = History(everything, MEGABYTE)
    value = recall(90)
    history.add(report(shown(5, value, labeled=77), evaluated=123))
    (track,) = history.tracks.values()
    assert track.key == KEY
    assert track.metrics == (RECALL,)
    assert (seconds(track), track.evaluated.tolist(), track.labeled.tolist()) == ([5], [123], [77])
    (interval,) = value.intervals
    assert track.values.tolist() == [[[0.9, interval.lower, interval.upper]]]


def test_what_is_undefined_or_has_no_interval_is_nan() -> None:
    history = History(everything, MEGABYTE)
    history.add(report(shown(5, number("a", None, 0), number("b", 0.5, 9))))
    np.testing.assert_array_equal(history.tracks[KEY].values, [[[nan] * 3, [0.5, nan, nan]]])


def test_only_whole_windows_with_events_are_kept() -> None:
    history = History(everything, MEGABYTE)
    value = recall(1)
    history.add(
        report(
            shown(1, value, segment="region=eu"),
            replace(shown(1, value, model="empty"), end=None, events=0),
            shown(1, value, model="waiting", events=0),
        )
    )
    assert history.tracks == {}


def test_an_empty_window_keeps_the_past_that_it_has() -> None:
    history = History(everything, MEGABYTE)
    history.add(report(shown(1, recall(1))))
    history.add(report(shown(2, recall(2), events=0)))
    assert seconds(history.tracks[KEY]) == [1]


def test_without_time_going_on_there_is_no_new_point_but_the_newest_values() -> None:
    history = History(everything, MEGABYTE)
    history.add(report(shown(1, recall(1), labeled=10)))
    before = history.tracks[KEY]
    history.add(report(shown(1, recall(1), labeled=10), evaluated=1))
    assert history.tracks[KEY] is before
    history.add(report(shown(1, recall(2), labeled=11)))  # a late event
    after = history.tracks[KEY]
    assert (seconds(after), after.values[:, 0, 0].tolist()) == ([1], [0.02])


def test_where_time_goes_back_what_lies_ahead_is_of_another_past() -> None:
    history = History(everything, MEGABYTE)
    for time in (1, 2, 3, 2):
        history.add(report(shown(time, recall(time))))
    assert seconds(history.tracks[KEY]) == [1, 2]
    history.add(report(shown(0, recall(5))))
    assert seconds(history.tracks[KEY]) == [0]


def test_windows_that_a_report_lacks_are_forgotten() -> None:
    history = History(everything, MEGABYTE)
    history.add(report(shown(1, recall(1)), shown(1, recall(1), model="other")))
    history.add(report(shown(2, recall(1), model="other")))
    assert list(history.tracks) == [("other", "1", "w")]


def test_a_new_metric_was_undefined_and_one_that_is_not_picked_goes_on() -> None:
    values = [recall(10), number("classifier_brier_score", 0.1, 9)]
    picks: list[Sequence[Value]] = [values[:1], values[1:]]

    def pick(_: WindowReport) -> Iterator[Value]:
        yield from picks.pop(0)

    history = History(pick, MEGABYTE)
    for time in (1, 2):
        history.add(report(shown(time, *values)))
    track = history.tracks[KEY]
    assert track.metrics == (RECALL, Metric("classifier_brier_score"))
    np.testing.assert_array_equal(track.values[:, :, 0], [[0.1, nan], [0.1, 0.1]])


def test_metrics_of_a_track_are_bounded() -> None:
    history = History(everything, MEGABYTE)
    for time in (1, 2):
        history.add(report(shown(time, *(number(f"m{time}{n}", 0.5, 9) for n in range(MOST_METRICS - 5)))))
    assert len(history.tracks[KEY].metrics) == MOST_METRICS


def test_tracks_are_replaced_and_never_changed() -> None:
    history = History(everything, MEGABYTE)
    history.add(report(shown(1, recall(1))))
    before = history.tracks
    track = before[KEY]
    history.add(report(shown(2, recall(2)), shown(2, recall(2), model="other")))
    assert list(before) == [KEY]
    assert before[KEY] is track and seconds(track) == [1]


def test_points_are_bounded_however_much_room_there_is() -> None:
    history = History(everything, 100 * MEGABYTE)
    lengths = []
    for time in range(MOST_POINTS + 20):
        history.add(report(shown(time, recall(1))))
        lengths.append(len(history.tracks[KEY].times))
    assert lengths[:MOST_POINTS] == list(range(1, MOST_POINTS + 1))
    fewest = MOST_POINTS * 3 // 4
    assert lengths[MOST_POINTS:] == list(range(fewest, fewest + 20))


def test_without_a_budget_nothing_is_kept() -> None:
    history = History(everything, 0)
    history.add(report(shown(1, recall(1))))
    assert history.tracks == {}


steps = st.lists(
    st.tuples(
        st.integers(-3, 1000),
        st.lists(st.integers(0, 4), min_size=1, max_size=5, unique=True),
        st.integers(0, 100),
    ),
    min_size=1,
    max_size=60,
)


@given(steps=steps, budget=st.sampled_from([1, 1100, 2300, 4000, 9000, 20_000]))
def test_whatever_comes_it_stays_within_the_budget_and_says_what_was(steps, budget) -> None:
    history, time = History(everything, budget), 0
    known: dict[tuple[str, int], float] = {}
    for step, models, right in steps:
        time = max(0, time + step)
        windows = [shown(time, recall(right), model=str(n), labeled=right) for n in sorted(models)]
        first = {key: track.times[0] for key, track in history.tracks.items()}
        history.add(report(*windows))
        known |= {(str(n), NOON + time * 1_000_000): right / 100 for n in models}
        assert sum(map(nbytes, history.tracks.values())) <= budget
        assert {key[0] for key in history.tracks} <= {str(n) for n in models}
        for key, track in history.tracks.items():
            times = track.times.tolist()
            assert times == sorted(set(times))
            assert times[-1] == NOON + time * 1_000_000
            assert times[0] == min(first.get(key, times[-1]), times[-1])
            for at, value, labeled in zip(times, track.values[:, 0, 0], track.labeled, strict=True):
                assert value == known[track.model, at] == labeled / 100


@given(
    gaps=st.lists(st.integers(1, 10**6), min_size=3, max_size=300),
    most=st.integers(4, 60),
    at_once=st.booleans(),
)
def test_the_older_the_wider_and_never_wider_than_need_be(gaps, most, at_once) -> None:
    """Bound what a gap that thinning made is wide, in relation to the age of its older end."""
    times = np.empty(0, np.int64)
    all_times = np.cumsum([0, *gaps])
    for time in [all_times[-1]] if at_once else all_times:
        times = all_times.copy() if at_once else np.append(times, time)
        count = len(times)
        times = times[thinned(times, most)]
        assert len(times) == min(count, most)
        assert times[0] == 0 and times[-1] == time
    ages, widths = times[-1] - times[:-1], np.diff(times)
    original = np.isin(times[1:], all_times) & (
        np.searchsorted(all_times, times[1:]) - np.searchsorted(all_times, times[:-1]) == 1
    )
    made: list[float] = (widths / ages)[~original].tolist()
    # Half of the candidates go at most, so that half of their costs are at least as high.
    bound = (1 + log(all_times[-1] / min(gaps))) / (most // 4)
    assert max(made, default=0.0) <= bound
