from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, roc_auc_score, roc_curve

from monitor.metrics import ranking
from monitor.metrics.ranking import Curve
from tests.support.counts import binary_counts
from tests.support.recipes import recipe, tied_recipe

MAX_FPR = (0.01, 0.05, 0.1, 0.5, 1.0)
R1 = {"auc": 0.895177319803, "ap": 0.862802186559, "pauc": [0.420859922586, 0.522648812637]}
R1 |= {"mcclish": [0.703005088506, 0.748762532967], "recall": 0.708860759494}
R2 = {"auc": 0.891934302751, "ap": 0.835424479125, "pauc": [0.400155176622, 0.513007636782]}
R2 |= {"mcclish": [0.692387270063, 0.743688229885], "recall": 0.683544303797}


def curve_of(y_true, y_score) -> Curve:
    counts = binary_counts(y_true, y_score)
    return Curve.from_groups(counts.positives[0, 0], counts.negatives[0, 0])


def everything(curve: Curve, max_fpr=MAX_FPR) -> torch.Tensor:
    rates = torch.tensor(max_fpr, dtype=torch.float64)
    partial = ranking.partial_roc_auc(curve, rates)
    parts = [partial, ranking.mcclish(partial, rates), ranking.recall_at_fpr(curve, rates)]
    whole = [ranking.roc_auc(curve)[..., None], ranking.average_precision(curve)[..., None]]
    return torch.cat(whole + parts, dim=-1)


@pytest.mark.parametrize(("data", "expected"), [(recipe, R1), (tied_recipe, R2)])
def test_reference_numbers(data, expected):
    curve = curve_of(*data())
    rates = torch.tensor([0.05, 0.1], dtype=torch.float64)
    partial = ranking.partial_roc_auc(curve, rates)
    assert ranking.roc_auc(curve).item() == pytest.approx(expected["auc"], abs=1e-12)
    assert ranking.average_precision(curve).item() == pytest.approx(expected["ap"], abs=1e-12)
    assert partial.tolist() == pytest.approx(expected["pauc"], abs=1e-12)
    assert ranking.mcclish(partial, rates).tolist() == pytest.approx(expected["mcclish"], abs=1e-12)
    assert ranking.recall_at_fpr(curve, rates)[1].item() == pytest.approx(expected["recall"], abs=1e-12)


@pytest.mark.parametrize("decimals", [1, 2, 7])
@pytest.mark.parametrize("prevalence", [0.02, 0.5, 0.98])
def test_scikit_learn_agrees(decimals, prevalence):
    random = np.random.default_rng(0)
    y_true = (random.random(3000) < prevalence).astype(int)
    score = random.beta(1 + 2 * y_true, 2).round(decimals).astype(np.float32)
    fpr, tpr, _ = roc_curve(y_true, score, drop_intermediate=False)
    mcclish = [roc_auc_score(y_true, score, max_fpr=a) for a in MAX_FPR]
    expected = [
        roc_auc_score(y_true, score),
        average_precision_score(y_true, score),
        # The area that McClish's scale was made from: 1/2 (1 + (area - a^2/2) / (a - a^2/2)).
        *((2 * m - 1) * (1 - a / 2) + a / 2 for m, a in zip(mcclish, MAX_FPR, strict=True)),
        *mcclish,
        *(tpr[fpr <= a].max() for a in MAX_FPR),
    ]
    assert everything(curve_of(y_true, score)).tolist() == pytest.approx(expected, abs=1e-12)


def test_worst_ranking():
    curve = curve_of([0] * 20 + [1] * 20, np.linspace(1, 0, 40))
    rates = torch.tensor([0.1], dtype=torch.float64)
    partial = ranking.partial_roc_auc(curve, rates)
    assert partial.item() == 0
    assert ranking.mcclish(partial, rates).item() == pytest.approx(0.473684210526, abs=1e-12)


def test_margins_that_a_float32_sigmoid_would_tie():
    curve = curve_of([0, 1, 0, 1], [20, 25, 30, 40])
    assert ranking.roc_auc(curve).item() == 0.75


def test_one_large_score_among_tiny_ones():
    curve = curve_of([0, 0, 1, 1], [1e-30, 2e-30, 3e-30, 1.0])
    assert ranking.roc_auc(curve).item() == 1


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=12),
    st.lists(st.integers(0, 12), max_size=6),
)
def test_groups_without_events_may_stand_anywhere(groups, places):
    padded = list(groups)
    for place in places:
        padded.insert(min(place, len(padded)), (0, 0))
    one, other = (
        everything(Curve.from_groups(*torch.tensor(g, dtype=torch.int64).T)) for g in (groups, padded)
    )
    assert torch.allclose(one, other, rtol=0, atol=1e-12, equal_nan=True)


def test_counts_of_a_billion():
    groups = torch.tensor([[10**9, 1, 10**9], [1, 10**9, 10**9]])
    curve = Curve.from_groups(*groups)
    p, q = groups.tolist()
    above = [0, p[0], p[0] + p[1]]
    wins = sum(q_k * (2 * t + p_k) for p_k, q_k, t in zip(p, q, above, strict=True))
    assert ranking.roc_auc(curve).item() == pytest.approx(wins / (2 * sum(p) * sum(q)), abs=1e-15)


def test_leading_dimensions_are_a_batch():
    random = torch.Generator().manual_seed(0)
    groups = torch.randint(0, 4, (2, 3, 5, 9), generator=random)
    batched = everything(Curve.from_groups(*groups))
    for index in np.ndindex(3, 5):
        alone = everything(Curve.from_groups(groups[0][index], groups[1][index]))
        assert torch.allclose(batched[index], alone, rtol=0, atol=1e-14, equal_nan=True)


def test_rates_of_rows_may_differ():
    curve = curve_of(*recipe())
    rates = torch.tensor([[0.05, 0.1], [0.2, 0.4]], dtype=torch.float64)
    rows = Curve.from_groups(*(side.expand(2, 3, -1) for side in (curve.positives, curve.negatives)))
    for metric in (ranking.partial_roc_auc, ranking.recall_at_fpr):
        of_rows = metric(rows, rates[:, None])
        assert of_rows.shape == (2, 3, 2)
        for row, own in enumerate(rates):
            assert torch.equal(of_rows[row], metric(curve, own).expand(3, -1))


def test_no_rates_no_values():
    curve = Curve.from_groups(torch.ones(2, 1, 4), torch.ones(2, 1, 4))
    none = torch.zeros((2, 1, 0), dtype=torch.float64)
    assert ranking.partial_roc_auc(curve, none).shape == (2, 1, 0)
    assert ranking.recall_at_fpr(curve, none).shape == (2, 1, 0)


@pytest.mark.parametrize(("rate", "negatives"), [(0.29, 100), (0.07, 100), (0.1, 30), (0.57, 100)])
def test_rounding_of_a_rate_loses_no_threshold(rate, negatives):
    # 100 * .29 is less than 29, 100 * .07 more than 7.
    count = round(rate * negatives)
    y_true = [0] * count + [1] + [0] * (negatives - count) + [1]
    curve = curve_of(y_true, np.linspace(1, 0, len(y_true)))
    assert ranking.recall_at_fpr(curve, torch.tensor([rate], dtype=torch.float64)).item() == 0.5


def test_groups_beyond_the_rate_are_left_out():
    curve = Curve.from_groups(torch.tensor([1, 0, 1, 1, 0]), torch.tensor([0, 2, 0, 3, 5]))
    for limit, groups in ((0.0, 2), (1.0, 2), (2.0, 4), (9.9, 5), (10.0, 5)):
        part = curve.until(torch.tensor([limit], dtype=torch.float64))
        assert part.fp.shape[-1] == groups, limit
        assert part.n_positives == 3
