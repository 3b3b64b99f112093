from __future__ import annotations

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from monitor.metrics import ranking, resolution
from monitor.metrics.ranking import Curve
from tests.support.counts import binary_counts

RATES = torch.tensor([0.01, 0.05, 0.1, 0.5, 1.0], dtype=torch.float64)
TOLERANCE = 1e-12


def values_and_errors(y_true, y_score, bins):
    counts = binary_counts(y_true, y_score, bins=bins)
    curve = Curve.from_groups(counts.positives, counts.negatives)
    partial = ranking.partial_roc_auc(curve, RATES)
    partial_error = resolution.partial_roc_auc_error(curve, RATES)
    return {
        "roc_auc": (ranking.roc_auc(curve), resolution.roc_auc_error(curve)),
        "average_precision": (
            ranking.average_precision(curve),
            resolution.average_precision_error(curve),
        ),
        "partial_roc_auc": (partial, partial_error),
        "mcclish": (ranking.mcclish(partial, RATES), resolution.mcclish_error(partial_error, RATES)),
        "recall_at_fpr": (
            ranking.recall_at_fpr(curve, RATES),
            resolution.recall_at_fpr_error(curve, RATES),
        ),
    }


@given(
    st.integers(0, 2**32 - 1),
    st.integers(2, 80),
    st.integers(1, 12),
    st.sampled_from([0.05, 0.3, 0.9]),
    st.sampled_from([1, 2, 6]),
)
def test_exact_value_is_within_the_bound(seed, n, bins, prevalence, decimals):
    random = np.random.default_rng(seed)
    y_true = (random.random(n) < prevalence).astype(int)
    y_true[:2] = 0, 1
    score = np.clip(random.normal(0.4 + 0.2 * y_true, 0.3), 0, 1).round(decimals)
    exact = values_and_errors(y_true, score, None)
    for name, (value, error) in values_and_errors(y_true, score, bins).items():
        distance = (value - exact[name][0]).abs()
        assert (distance <= error + TOLERANCE).all(), (name, distance, error)


def test_bounds_are_reached():
    # One bin, within which all positives are above all negatives.
    y_true, score = [1] * 10 + [0] * 10, np.linspace(1, 0, 20)
    exact = values_and_errors(y_true, score, None)
    binned = values_and_errors(y_true, score, 1)
    for name in ("roc_auc", "average_precision", "partial_roc_auc", "mcclish"):
        distance = (binned[name][0] - exact[name][0]).abs()
        assert torch.allclose(distance, binned[name][1], rtol=0, atol=TOLERANCE), name


def test_bound_of_average_precision_is_reached_by_the_worst_order_too():
    # One bin, within which the only negative is first: farther off than if it were last.
    y_true, score = [0] + [1] * 10, np.linspace(1, 0, 11)
    exact = values_and_errors(y_true, score, None)["average_precision"]
    binned = values_and_errors(y_true, score, 1)["average_precision"]
    assert torch.allclose(binned[0] - exact[0], binned[1], rtol=0, atol=TOLERANCE)


def test_pure_bins_resolve_everything():
    y_true, score = [1, 1, 0, 0], [0.9, 0.8, 0.2, 0.1]
    for name, (_, error) in values_and_errors(y_true, score, 2).items():
        if name != "recall_at_fpr":
            assert error.abs().max() <= TOLERANCE, name


def test_large_counts_keep_the_bound_accurate():
    # 10^9 negatives before 10 tied positives: the worst order is 1, 2, ... of them one by one.
    curve = Curve.from_groups(torch.tensor([0, 10]), torch.tensor([10**9, 0]))
    assert 0 <= resolution.average_precision_error(curve).item() < 1e-7
