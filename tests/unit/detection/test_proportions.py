"""Values of the recipe that needs no random numbers, and that no factor favours a false alarm."""

from __future__ import annotations

import numpy as np
import pytest

from monitor.detection import Statistic, proportion_floor, run

V = np.arange(1, 401) * 0.7548776662466927 % 1
HITS = (V < 0.65).astype(float)


@pytest.mark.parametrize(
    ("t", "hits", "expected"),
    [
        (10, 7, 7.330732998479829),
        (100, 65, 439.6689492518424),
        (200, 130, 3182.347978457905),
        (400, 262, 100856.8832619571),
    ],
)
def test_statistic_of_the_recipe(t, hits, expected):
    detector = proportion_floor(0.75, 1e9)
    (statistic,), _ = run([detector], [Statistic.fresh(detector)], [HITS[:t]])
    assert HITS[:t].sum() == hits
    assert statistic.value(detector) == pytest.approx(expected, rel=1e-12)


def test_first_crossing_of_the_recipe():
    detector = proportion_floor(0.75, 20)
    _, ((first, *_),) = run([detector], [Statistic.fresh(detector)], [HITS])
    assert (first.index, first.observations, first.firing) == (33, 34, True)
    assert first.statistic >= 20


@pytest.mark.parametrize("p0", [1e-4, 0.005, 0.02, 0.3, 0.75, 0.98, 0.9999])
def test_factors_are_fair_on_the_floor_and_losing_above_it(p0):
    detector = proportion_floor(p0, 1e4)
    miss, hit = detector.raising.of(np.array([0.0, 1.0]))
    assert ((miss > 1) & (hit > 0) & (hit < 1)).all()
    np.testing.assert_allclose((1 - p0) * miss + p0 * hit, 1, rtol=1e-12)
    for p in np.linspace(p0, 1, 7)[1:]:
        assert ((1 - p) * miss + p * hit < 1).all()


@pytest.mark.parametrize("p0", [1e-4, 0.005, 0.02, 0.3, 0.75, 0.98, 0.9999])
def test_clearing_is_fair_on_the_floor_and_losing_below_it(p0):
    miss, hit = proportion_floor(p0, 1e4).clearing[""].of(np.array([0.0, 1.0]))
    assert ((miss > 0) & (miss < 1) & (hit > 1)).all()
    np.testing.assert_allclose((1 - p0) * miss + p0 * hit, 1, rtol=1e-12)
    for p in np.linspace(0, p0, 7)[:-1]:
        assert ((1 - p) * miss + p * hit < 1).all()


def test_alternatives_are_those_of_the_design():
    miss, hit = proportion_floor(0.75, 1e4).raising.of(np.array([0.0, 1.0]))
    np.testing.assert_allclose(hit * 0.75, [0.72, 0.68, 0.62, 0.55, 0.45, 0.30])
    np.testing.assert_allclose(1 - miss * 0.25, [0.72, 0.68, 0.62, 0.55, 0.45, 0.30])
    _, hit = proportion_floor(0.75, 1e4).clearing[""].of(np.array([0.0, 1.0]))
    np.testing.assert_allclose(hit * 0.75, [0.78, 0.82, 0.88, 0.95, 0.99, 0.99])


@pytest.mark.parametrize("p0", [0.0, 1.0, -0.1, float("nan")])
def test_a_floor_outside_is_refused(p0):
    with pytest.raises(ValueError, match="the floor must lie between 0 and 1"):
        proportion_floor(p0, 1e4)
