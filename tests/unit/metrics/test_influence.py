from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.metrics import influence, ranking
from monitor.metrics.ranking import Curve
from tests.support import influences
from tests.support.counts import binary_counts
from tests.support.recipes import recipe, tied_recipe


def rates(*values: float) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64)


def curve_of(y_true, y_score) -> Curve:
    counts = binary_counts(y_true, y_score)
    return Curve.from_groups(counts.positives[0, 0], counts.negatives[0, 0])


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (recipe, (0.022059239306635513, 0.07805724894344084, 0.03138007757014154)),
        (tied_recipe, (0.02257776335409054, 0.077754760308463, 0.03517412168519992)),
    ],
)
def test_reference_numbers(data, expected):
    curve = curve_of(*data())
    found = (
        influence.roc_auc_se(curve).item(),
        influence.partial_roc_auc_se(curve, rates(0.1)).item(),
        influence.average_precision_se(curve).item(),
    )
    assert found == pytest.approx(expected, abs=1e-14)


@pytest.mark.parametrize("data", [recipe, tied_recipe])
def test_jackknife_agrees(data):
    y_true, score = data()
    n, rate = len(y_true), rates(0.1)
    kept = [np.delete(np.arange(n), i) for i in range(n)]
    curves = [curve_of(y_true[k], score[k]) for k in kept]
    curve = curve_of(y_true, score)
    for metric, error in (
        (ranking.roc_auc, influence.roc_auc_se),
        (lambda c: ranking.partial_roc_auc(c, rate), lambda c: influence.partial_roc_auc_se(c, rate)),
        (ranking.average_precision, influence.average_precision_se),
    ):
        values = np.array([metric(c).item() for c in curves])
        jackknife = np.sqrt((n - 1) / n * ((values - values.mean()) ** 2).sum())
        assert error(curve).item() == pytest.approx(jackknife, rel=0.03)


@given(
    st.integers(0, 2**32 - 1),
    st.integers(6, 60),
    st.sampled_from([0.1, 0.5, 0.9]),
    st.sampled_from([1, 2, 6]),
    st.sampled_from([0.03, 0.1, 0.25, 0.9]),
)
@settings(max_examples=60)
def test_all_pairs_agree(seed, n, prevalence, decimals, rate):
    random = np.random.default_rng(seed)
    y_true = (random.random(n) < prevalence).astype(np.int64)
    y_true[:4] = 0, 0, 1, 1
    score = np.clip(random.normal(0.4 + 0.2 * y_true, 0.3), 0, 1).round(decimals)
    curve = curve_of(y_true, score)
    value, error = influences.roc_auc(y_true, score)
    assert ranking.roc_auc(curve).item() == pytest.approx(value, abs=1e-12)
    assert influence.roc_auc_se(curve).item() == pytest.approx(error, abs=1e-12)
    value, error = influences.average_precision(y_true, score)
    assert ranking.average_precision(curve).item() == pytest.approx(value, abs=1e-12)
    assert influence.average_precision_se(curve).item() == pytest.approx(error, abs=1e-12)
    value, error = influences.partial_roc_auc(y_true, score, rate)
    assert ranking.partial_roc_auc(curve, rates(rate)).item() == pytest.approx(value, abs=1e-6)
    assert influence.partial_roc_auc_se(curve, rates(rate)).item() == pytest.approx(error, abs=1e-6)


def test_whole_area_as_a_partial_one():
    curve = curve_of(*tied_recipe())
    whole = influence.partial_roc_auc_se(curve, rates(1.0))
    assert whole.item() == pytest.approx(influence.roc_auc_se(curve).item(), abs=1e-14)


def test_perfect_ranking_has_no_variance():
    curve = curve_of([0] * 50 + [1] * 7, np.linspace(0, 1, 57))
    assert influence.roc_auc_se(curve).item() == 0
    assert influence.partial_roc_auc_se(curve, rates(0.1)).item() < 1e-15
    assert influence.average_precision_se(curve).item() < 1e-15


def test_one_event_of_a_class_shows_no_variance():
    curve = curve_of([0, 1, 0, 0], [0.1, 0.5, 0.6, 0.9])
    assert influence.roc_auc_se(curve).isnan()
    assert influence.partial_roc_auc_se(curve, rates(0.5)).isnan()


def test_leading_dimensions_are_a_batch():
    random = torch.Generator().manual_seed(0)
    groups = torch.randint(0, 4, (2, 3, 5, 9), generator=random)
    curve, own = Curve.from_groups(*groups), torch.rand((3, 1, 2), generator=random, dtype=torch.float64)
    functions = (
        lambda c, _: influence.roc_auc_se(c),
        influence.partial_roc_auc_se,
        lambda c, _: influence.average_precision_se(c),
    )
    for function in functions:
        batched = function(curve, own)
        for index in np.ndindex(3, 5):
            alone = function(Curve.from_groups(groups[0][index], groups[1][index]), own[index[0], 0])
            assert torch.allclose(batched[index], alone, rtol=0, atol=1e-14, equal_nan=True)
