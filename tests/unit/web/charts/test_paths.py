import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from monitor.web.charts.paths import FEW, between, envelope, line, px, thin

NAN = float("nan")


def test_a_line_has_gaps_and_dots():
    x, y = np.arange(6.0), np.array([1, 2, NAN, 4, NAN, 6])
    assert line(x, y) == "M0 1L1 2M3 4h0M5 6h0"
    assert line(x, np.full(6, NAN)) == ""


def test_an_area_goes_there_and_back():
    x, lower, upper = np.arange(4.0), np.array([9, 9, NAN, 8.0]), np.array([1, 2, 3, 4.0])
    assert between(x, lower, upper) == "M0 1L1 2L1 9L0 9ZM3 4L3 8Z"


def test_pixels_are_short():
    assert [px(v) for v in (1.0, 1.26, -0.5)] == ["1", "1.3", "-0.5"]


def test_few_points_stay():
    x = np.zeros(FEW)
    assert thin(x, x).tolist() == list(range(FEW))


HEIGHTS = arrays(
    np.float64, st.integers(FEW + 1, 900), elements=st.floats(0, 250) | st.just(NAN), fill=st.just(3.0)
)
FEWER = settings(max_examples=30)


@FEWER
@given(HEIGHTS, st.booleans())
def test_a_thin_line_has_the_extremes_of_each_column(y, backwards):
    x = np.linspace(0, 300, len(y))
    if backwards:
        x = x[::-1]
    shown = thin(x, y)
    assert (np.diff(shown) > 0).all()
    assert {0, len(y) - 1} <= set(shown.tolist())
    assert np.isnan(y[shown]).any() == np.isnan(y).any()
    column = np.floor(x / 2)
    for place in np.unique(column[~np.isnan(y)]).tolist():
        here, kept = y[column == place], y[shown][column[shown] == place]
        assert np.nanmin(here) == np.nanmin(kept)
        assert np.nanmax(here) == np.nanmax(kept)


def test_ten_thousand_points_become_few():
    x = np.linspace(0, 330, 10_000)
    assert len(thin(x, 250 * np.exp(-x / 50))) < 400
    assert len(thin(x, np.random.default_rng(0).random(10_000))) < 700


@FEWER
@given(HEIGHTS)
def test_a_thin_area_holds_the_whole(y):
    x = np.linspace(0, 300, len(y))
    at, lower, upper = envelope(x, y + 5, y)
    assert len(at) < len(x) or np.isnan(y).any()
    assert (at[0], at[-1]) == (x[0], x[-1])
    if not np.isnan(y).all():
        assert np.nanmax(lower) == np.nanmax(y + 5)
        assert np.nanmin(upper) == np.nanmin(y)
