"""Factors of calibration: e-values at every curve within the band, whatever its shape."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from monitor.detection import Statistic, calibration, run

Z = np.linspace(-8, 8, 161)


def means(evalues, log_odds):
    """Return the mean factor of each component at each z, (z, J), where y = 1 has these log-odds."""
    hit, miss = (evalues.of(np.stack([Z, np.full_like(Z, y)], axis=1)) for y in (1, 0))
    p = expit(log_odds)[:, None]
    return p * hit + (1 - p) * miss


def band(shift, slope):
    steep, flat = np.abs(Z) * slope, np.abs(Z) / slope
    return (
        np.maximum(Z - shift, np.where(Z > 0, flat, -steep)),
        np.minimum(Z + shift, np.where(Z > 0, steep, -flat)),
    )


@pytest.mark.parametrize(("shift", "slope"), [(0.0, 1.0), (0.1, 1.1), (0.5, 1.0), (0.0, 2.0)])
def test_factors_are_e_values_within_the_band(shift, slope):
    evalues = calibration(shift, slope, 1e5).raising
    low, high = band(shift, slope)
    rng = np.random.default_rng(2)
    curves = [low, high, Z, *(low + rng.random(len(Z)) * (high - low) for _ in range(50))]
    for curve in curves:
        assert means(evalues, curve).max() <= 1 + 1e-12


def test_each_direction_wins_where_it_is_meant():
    detector = calibration(0.1, 1.1, 1e5)
    truths = {"up": Z + 0.5, "down": Z - 0.5, "overconfident": Z / 1.5, "underconfident": Z * 1.5}
    weight = np.exp(-(Z**2) / 2)[:, None]
    for direction, curve in truths.items():
        hit, miss = (np.log(detector.raising.of(np.stack([Z, np.full_like(Z, y)], 1))) for y in (1, 0))
        p = expit(curve)[:, None]
        growth = ((p * hit + (1 - p) * miss) * weight).sum(0)
        assert detector.raising.names[growth.argmax()] == direction


def test_factors_are_the_likelihood_ratios_of_the_design():
    z, d, s = 0.7, 0.1, 1.1
    hit, miss = calibration(d, s, 1e5).raising.of(np.array([[z, 1], [z, 0]]))
    lines = [(d + z, d + k + z) for k in (0.2, 0.4, 0.8)]
    lines += [(z - d, z - d - k) for k in (0.2, 0.4, 0.8)]
    lines += [(z / s, z / (s * f)) for f in (1.2, 1.5, 2)]
    lines += [(s * z, s * f * z) for f in (1.2, 1.5, 2)]
    null, alternative = expit(np.array(lines)).T
    np.testing.assert_allclose(hit, alternative / null, rtol=1e-13)
    np.testing.assert_allclose(miss, (1 - alternative) / (1 - null), rtol=1e-13)


def test_clearing_inverts_the_direction_that_raised():
    detector = calibration(0.1, 1.1, 1e5)
    x = np.array([[0.7, 1], [-2.0, 0], [3.0, 1]])
    for i, direction in enumerate(("up", "down", "overconfident", "underconfident")):
        cleared = detector.clearing[direction]
        assert cleared.names == (direction,) * 3
        np.testing.assert_allclose(cleared.of(x) * detector.raising.of(x)[:, 3 * i : 3 * i + 3], 1)


def test_raises_names_and_clears():
    rng = np.random.default_rng(4)
    z = rng.normal(-1, 1.5, 12_000)
    bad = slice(2_000, 6_000)
    truth = z.copy()
    truth[bad] += 0.8
    x = np.stack([z, rng.random(len(z)) < expit(truth)], axis=1)
    detector = calibration(0.1, 1.1, 1e5)
    (statistic,), (crossings,) = run([detector], [Statistic.fresh(detector)], [x])
    assert [(c.firing, c.direction) for c in crossings] == [(True, "up"), (False, "up")]
    assert 2_000 < crossings[0].index < 3_000
    assert 6_000 < crossings[1].index < 8_000
    assert not statistic.firing


@pytest.mark.parametrize(
    ("shift", "slope"), [(-0.1, 1.1), (0.1, 0.9), (float("nan"), 1.0), (0.1, float("inf"))]
)
def test_a_tolerance_outside_is_refused(shift, slope):
    with pytest.raises(ValueError, match=r"the tolerated (shift|slope)"):
        calibration(shift, slope, 1e5)
