from __future__ import annotations

import numpy as np
import pytest
import torch
from sklearn.calibration import calibration_curve

from monitor.metrics import cells
from tests.support.counts import binary_counts
from tests.support.recipes import recipe, tied_recipe


def bins_of(y_true, y_score, bins=cells.BINS) -> torch.Tensor:
    return cells.merge(binary_counts(y_true, y_score).cells, bins)


def float32(data):
    y_true, y_score = data()
    return y_true, y_score.astype(np.float32).astype(np.float64)


def simulate(seed, n, shape=(1.0, 2.0)):
    random = np.random.default_rng(seed)
    p = random.beta(*shape, n).astype(np.float32).astype(np.float64)
    return (random.random(n) < p).astype(int), p


def by_bin(y_true, y_score, bins=cells.BINS):
    """Return the labels and scores of each bin that has events."""
    edges = (np.arange(1, bins) / bins).astype(np.float32)
    place = np.searchsorted(edges, y_score, side="right")
    return [(y_true[place == b], y_score[place == b]) for b in range(bins) if (place == b).any()]


@pytest.mark.parametrize(
    ("data", "error", "reliability", "tolerance"),
    [
        (recipe, 0.0657749106825, 0.006493025389042519, 1e-8),
        # The reference is of float64 scores: k / 10 then stands in the bin below its float32 edge.
        (tied_recipe, 0.061, 0.006541015928515931, 1e-7),
    ],
)
def test_reference_numbers(data, error, reliability, tolerance):
    bins, coarse = bins_of(*float32(data)), bins_of(*float32(data), cells.DECOMPOSITION_BINS)
    assert cells.calibration_error(bins).item() == pytest.approx(error, abs=tolerance)
    assert cells.reliability(coarse).item() == pytest.approx(reliability, abs=tolerance)
    assert cells.uncertainty(coarse).item() == pytest.approx(0.238975, abs=1e-15)


@pytest.mark.parametrize("seed", range(3))
def test_calibration_error_agrees_with_scikit_learn(seed):
    y_true, p = simulate(seed, 500)
    rate, mean = calibration_curve(y_true, p, n_bins=cells.BINS)
    events = np.array([len(y) for y, _ in by_bin(y_true, p)])
    expected = (events * np.abs(rate - mean)).sum() / len(p)
    assert cells.calibration_error(bins_of(y_true, p)).item() == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("n", [12, 30, 3000])
def test_debiased_error_agrees_with_numpy(n):
    y_true, p = simulate(n, n)
    y_true[: n // 2] = 1
    total = 0.0
    for y, q in by_bin(y_true, p):
        if len(y) > 1:
            total += len(y) * ((q.mean() - y.mean()) ** 2 - y.var() / (len(y) - 1))
    expected = max(0, total / n) ** 0.5
    assert expected > 0
    assert cells.calibration_error_debiased(bins_of(y_true, p)).item() == pytest.approx(expected, abs=1e-8)


def test_debiased_error_takes_the_noise_off():
    """Of a calibrated model the plain error is far above 0, the debiased one is near it."""
    samples = [bins_of(*simulate(seed, 200)) for seed in range(100)]
    plain = np.mean([cells.calibration_error(bins).item() for bins in samples])
    squares = [cells.calibration_error_debiased(bins).item() ** 2 for bins in samples]
    assert plain > 0.05
    assert np.mean(squares) < plain**2 / 3
    assert np.mean(np.array(squares) == 0) > 0.3


@pytest.mark.parametrize(
    ("n", "shape"), [(20, (2.0, 2.0)), (200, (1.0, 2.0)), (2000, (1.0, 2.0)), (2000, (0.1, 5.0))], ids=str
)
def test_expected_error_is_near_the_mean_of_calibrated_models(n, shape):
    random = np.random.default_rng(0)
    p = random.beta(*shape, n)
    errors = []
    for _ in range(400):
        y = (random.random(n) < p).astype(int)
        errors.append(sum(abs(q.sum() - t.sum()) for t, q in by_bin(y, p)) / n)
    expected = cells.calibration_error_expected(bins_of(y, p)).item()
    assert expected == pytest.approx(np.mean(errors), rel=0.12)


def test_expected_error_of_certain_probabilities_is_0():
    assert cells.calibration_error_expected(bins_of([0, 1, 1], [0.0, 1.0, 1.0])).item() == 0


def test_expected_error_of_single_events_is_exact():
    """Each is alone in its bin, where the mean of |p - y| is 2 p (1 - p)."""
    p = np.array([0.01, 0.1, 0.87, 0.97])
    found = cells.calibration_error_expected(bins_of([0, 0, 1, 1], p)).item()
    assert found == pytest.approx((2 * p * (1 - p)).mean(), abs=1e-9)


def test_first_cell_holds_0_and_last_cell_1():
    bins = bins_of([0, 1], [0.0, 1.0])
    assert bins[0, 0, 0].tolist() == [1, 0, 0, 0, 0]
    assert bins[0, 0, -1].tolist() == [1, 1, 1, 1, 1]
    assert cells.calibration_error(bins).item() == 0
