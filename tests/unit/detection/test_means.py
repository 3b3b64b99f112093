"""Factors of means: an e-value at every law with two points, hence at every law."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from monitor.detection import difference_ceiling, mean_ceiling, mean_floor

GRID = np.linspace(0, 1, 21)


def expectations(evalues, low, high, mean):
    """Yield the mean factors at each law on two points of [low, high] with that mean."""
    points = low + (high - low) * GRID
    for a, b in product(points[points <= mean], points[points >= mean]):
        share = 1.0 if a == b else (b - mean) / (b - a)
        yield share * evalues.of(np.array([a]))[0] + (1 - share) * evalues.of(np.array([b]))[0]


@pytest.mark.parametrize("mu0", [0.01, 0.25, 0.5, 0.8, 0.97])
def test_factors_are_fair_at_the_limit_whatever_the_law(mu0):
    for detector in (mean_floor(mu0, 1e4), mean_ceiling(mu0, 1e4)):
        for evalues in (detector.raising, detector.clearing[""]):
            for mean in expectations(evalues, 0, 1, mu0):
                np.testing.assert_allclose(mean, 1, rtol=1e-12)


@pytest.mark.parametrize("mu0", [0.01, 0.25, 0.5, 0.8, 0.97])
def test_factors_lose_where_all_is_well(mu0):
    better, worse = np.array([mu0 * 1.01]), np.array([mu0 * 0.99])
    assert (mean_floor(mu0, 1e4).raising.of(better) < 1).all()
    assert (mean_ceiling(mu0, 1e4).raising.of(worse) < 1).all()
    assert (mean_floor(mu0, 1e4).clearing[""].of(worse) < 1).all()
    assert (mean_ceiling(mu0, 1e4).clearing[""].of(better) < 1).all()


@pytest.mark.parametrize("mu0", [1e-6, 0.01, 0.5, 0.97, 1 - 1e-6])
def test_no_observation_takes_all(mu0):
    for detector in (mean_floor(mu0, 1e4), mean_ceiling(mu0, 1e4)):
        for evalues in (detector.raising, detector.clearing[""]):
            assert (evalues.of(np.array([0.0, 1.0])) > 0.09).all()


@pytest.mark.parametrize("margin", [0.0, 0.02, 0.5, 0.99])
def test_differences_are_fair_at_the_margin_whatever_the_law(margin):
    detector = difference_ceiling(margin, 1e4)
    for evalues, better in ((detector.raising, -0.01), (detector.clearing[""], 0.01)):
        assert (evalues.of(np.array([-1.0, 1.0])) > 0).all()
        assert (evalues.of(np.array([margin + better])) < 1).all()
        for mean in expectations(evalues, -1, 1, margin):
            np.testing.assert_allclose(mean, 1, rtol=1e-12)


@pytest.mark.parametrize("margin", [-0.01, 1.0, float("nan")])
def test_a_margin_outside_is_refused(margin):
    with pytest.raises(ValueError, match="the margin must be at least 0 and below 1"):
        difference_ceiling(margin, 1e4)


@pytest.mark.parametrize("make", [mean_floor, mean_ceiling])
@pytest.mark.parametrize("mu0", [0.0, 1.0, float("nan")])
def test_a_limit_outside_is_refused(make, mu0):
    with pytest.raises(ValueError, match="must lie between 0 and 1"):
        make(mu0, 1e4)
