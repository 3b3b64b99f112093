import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.web.charts.scales import Scale, decades, fit, ticks, up_to
from monitor.web.charts.times import time_ticks

HOUR = 3_600_000_000
NOON = 1_764_417_600_000_000
NUMBERS = st.floats(-1e9, 1e9).filter(lambda v: v == 0 or abs(v) > 1e-9)


def test_a_scale_is_linear_and_ends_at_its_edges():
    scale = Scale(0, 10, 100, 0)
    assert scale([0, 2.5, 10, -7, 70, np.inf]).tolist() == [100, 75, 0, 100, 0, 0]
    assert np.isnan(scale([np.nan])).all()


def test_a_scale_may_be_logarithmic():
    assert Scale(0.01, 100, 0, 80, log=True)([0.01, 0.1, 1, 100]) == pytest.approx([0, 20, 40, 80])


@given(st.lists(NUMBERS, min_size=1))
def test_a_domain_holds_all_numbers_and_never_flips(values):
    low, high = fit(values, [np.nan])
    assert low < high
    assert low <= min(values) and max(values) <= high
    if 0 <= min(values) and max(values) <= 1:
        assert 0 <= low and high <= 1


@given(NUMBERS, st.floats(1e-4, 1e4))
def test_ticks_are_few_and_in_the_domain(low, share):
    size = share * max(abs(low), 1e-3)
    found = ticks(low, low + size)
    assert 2 <= len(found) <= 8
    assert all(low - size * 1e-6 <= value <= low + size * (1 + 1e-6) for value, _ in found)


@pytest.mark.parametrize(
    "low, high, labels",
    [
        (0, 1, ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]),
        (0.9312, 0.9581, ["0.935", "0.940", "0.945", "0.950", "0.955"]),
        (-1, 1, ["-1.0", "-0.5", "0.0", "0.5", "1.0"]),
        (0, 4000, ["0", "1,000", "2,000", "3,000", "4,000"]),
        (0, 4e6, ["0", "1e+06", "2e+06", "3e+06", "4e+06"]),
    ],
)
def test_labels_have_the_digits_that_tell_them_apart(low, high, labels):
    assert [text for _, text in ticks(low, high)] == labels


def test_decades():
    assert [text for _, text in decades(0.01, 100)] == ["0.01", "0.1", "1", "10", "100"]
    assert [text for _, text in decades(0.5, 3e7, most=3)] == ["1", "1,000", "1e6"]


def test_an_axis_of_probabilities_is_shorter_where_all_are_low():
    assert [up_to(v) for v in (1.5, 0.7, 0.41, 0.034, 0.0, np.nan)] == pytest.approx(
        [1, 1, 0.5, 0.04, 1e-6 / 5, 1], abs=1e-6
    )


@pytest.mark.parametrize(
    "hours, labels",
    [
        (0.01, ["12:00:00", "12:00:10", "12:00:20", "12:00:30"]),
        (1, ["12:00", "12:15", "12:30", "12:45", "13:00"]),
        (24, ["12:00", "18:00", "30 Nov", "06:00", "12:00"]),
        (24 * 30, ["4 Dec", "11 Dec", "18 Dec", "25 Dec"]),
        (24 * 365 * 3, ["2026-10", "2027-10", "2028-10"]),
    ],
)
def test_times_are_labeled_in_steps_that_people_count_in(hours, labels):
    assert [text for _, text in time_ticks(NOON, NOON + hours * HOUR, most=5)] == labels


@given(st.integers(0, 4 * 10**15), st.integers(10**6, 10**15))
def test_ticks_of_time_are_few_and_inside(first, length):
    found = time_ticks(first, first + length, most=5)
    assert len(found) <= 6
    assert all(first <= time <= first + length for time, _ in found)
