from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.special import expit, logit
from sklearn.linear_model import LogisticRegression

from monitor.metrics.cox import EPSILON, CoxFit, cox
from tests.support.recipes import recipe, tied_recipe


def fit(*samples) -> CoxFit:
    """Fit samples (y, p), one a row, of which equal p are not grouped; rows are padded."""
    width = max(len(y) for y, _ in samples)
    rows = []
    for y, p in samples:
        order = np.argsort(-np.asarray(p, np.float64), kind="stable")
        y, p = np.asarray(y, np.int64)[order], np.asarray(p, np.float64)[order]
        rows.append(np.pad(np.stack([y, 1 - y, p]), ((0, 0), (0, width - len(y)))))
    positives, negatives, p = torch.tensor(np.stack(rows, axis=1))
    return cox(positives.long(), negatives.long(), p)


def reference(y, p) -> tuple[float, float]:
    """Return the slope by scikit-learn, and the intercept for slope 1 by bisection."""
    z = logit(np.clip(p, EPSILON, 1 - EPSILON))
    model = LogisticRegression(C=np.inf, tol=1e-9, solver="newton-cholesky")
    slope = model.fit(z[:, None], y).coef_[0, 0]
    low, high = -50.0, 50.0
    for _ in range(100):
        a = (low + high) / 2
        low, high = (a, high) if expit(a + z).sum() < np.sum(y) else (low, a)
    return slope, low


def simulate(seed, n, *, mean=-1.0, spread=2.0, slope=0.7, intercept=0.4):
    random = np.random.default_rng(seed)
    z = random.normal(mean, spread, n)
    return (random.random(n) < expit(intercept + slope * z)).astype(int), expit(z)


@pytest.mark.parametrize(
    ("data", "slope", "intercept", "statistic"),
    [
        (recipe, 1.1727896170394803, 0.433984719601, 5.93750003719),
        (tied_recipe, 0.7288967712985512, 0.455872364238, 9.80936642538),
    ],
)
def test_reference_numbers(data, slope, intercept, statistic):
    found = fit(data())
    assert found.slope.item() == pytest.approx(slope, abs=1e-11)
    assert found.intercept.item() == pytest.approx(intercept, abs=1e-11)
    assert found.statistic.item() == pytest.approx(statistic, abs=1e-10)
    assert not found.equal.item()
    assert not found.separated.item()


@pytest.mark.parametrize(
    "options",
    [
        {"n": 50},
        {"n": 5000},
        {"n": 3000, "mean": -5.0, "spread": 1.0, "slope": 0.3, "intercept": -1.0},
        {"n": 20_000, "mean": -8.0, "spread": 3.0},
        {"n": 2000, "spread": 6.0, "slope": 0.1},
        {"n": 2000, "spread": 0.01, "slope": 30.0, "intercept": 29.0},
        {"n": 2000, "slope": -1.0},
        {"n": 500, "spread": 0.3, "slope": 12.0, "intercept": 11.0},
    ],
    ids=str,
)
def test_agrees_with_scikit_learn(options):
    samples = [simulate(seed, **options) for seed in range(3)]
    found = fit(*samples)
    for i, sample in enumerate(samples):
        slope, intercept = reference(*sample)
        assert found.slope[i].item() == pytest.approx(slope, rel=1e-7)
        assert found.intercept[i].item() == pytest.approx(intercept, abs=1e-9)
    assert not found.separated.any()


def test_far_from_calibrated_with_rare_positives():
    """Undamped Newton steps diverge here; certain and wrong events are far from all others."""
    y, p = simulate(1, 2000, mean=-6.0, spread=2.0)
    p[:200], y[:200] = 0.0, np.arange(200) % 2
    p[200:400], y[200:400] = 1.0, 0
    found = fit((y, p))
    slope, intercept = reference(y, p)
    assert found.slope.item() == pytest.approx(slope, rel=1e-7)
    assert found.intercept.item() == pytest.approx(intercept, abs=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_few_positives_nearly_separated(seed):
    y, p = simulate(seed, 1000, mean=-7.0, spread=1.0, slope=1.0, intercept=0.0)
    y[:] = 0
    order = np.argsort(-p)
    y[order[[0, 1, 3]]] = 1
    found = fit((y, p))
    assert not found.separated.item()
    assert found.slope.item() == pytest.approx(reference(y, p)[0], rel=1e-5)


def test_statistic_is_that_of_the_information_matrix():
    y, p = simulate(3, 1000)
    z, v = logit(p), p * (1 - p)
    score = np.array([(y - p).sum(), ((y - p) * z).sum()])
    information = np.array([[v.sum(), (v * z).sum()], [(v * z).sum(), (v * z * z).sum()]])
    statistic = score @ np.linalg.solve(information, score)
    assert fit((y, p)).statistic.item() == pytest.approx(statistic, rel=1e-10)


def test_statistic_of_calibrated_models_is_chi_squared():
    found = fit(*(simulate(seed, 300, slope=1.0, intercept=0.0) for seed in range(500)))
    assert stats.kstest(found.statistic.numpy(), stats.chi2(2).cdf).pvalue > 0.01


def test_groups_are_events_together_and_empty_ones_nothing():
    y, p = simulate(4, 3000)
    p = p.round(2).clip(0.01, 0.99)
    values = np.unique(p)[::-1]
    positives, negatives = (np.array([((p == v) & (y == side)).sum() for v in values]) for side in (1, 0))
    gaps = np.full((3, 2 * len(values)), 0.5)
    gaps[:2] = 0
    gaps[:, ::2] = positives, negatives, values
    rows = torch.tensor(gaps)
    one, other = fit((y, p)), cox(rows[0].long()[None], rows[1].long()[None], rows[2][None])
    for name in ("slope", "intercept", "statistic"):
        assert getattr(one, name).item() == pytest.approx(getattr(other, name).item(), abs=1e-9)


def test_equal_probabilities():
    found = fit(([0, 1, 0, 0], [0.3] * 4), ([0, 1], [0.2, 0.2]), ([0, 1, 0], [0, 1e-9, 1e-8]))
    assert found.equal.tolist() == [True, True, True]
    assert found.separated.tolist() == [True, True, True]
    assert found.intercept[0].item() == pytest.approx(logit(0.25) - logit(0.3), abs=1e-12)
    assert found.intercept[1].item() == pytest.approx(-logit(0.2), abs=1e-12)


def test_separated():
    found = fit(
        ([0, 0, 1], [0.1, 0.2, 0.3]),
        ([1, 1, 0], [0.1, 0.2, 0.3]),
        ([0, 0, 1, 1], [0.1, 0.2, 0.2, 0.3]),
        ([0, 1, 0, 1], [0.1, 0.2, 0.2, 0.2]),
        ([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4]),
    )
    assert found.separated.tolist() == [True, True, True, True, False]
    assert found.equal.tolist() == [False] * 5
    for i, (y, p) in enumerate([([0, 0, 1], [0.1, 0.2, 0.3]), ([1, 1, 0], [0.1, 0.2, 0.3])]):
        residual = expit(found.intercept[i].item() + logit(p)).sum() - sum(y)
        assert residual == pytest.approx(0, abs=1e-12)


def test_one_outcome_has_a_statistic():
    found = fit(([0] * 100, np.linspace(0.2, 0.8, 100)))
    assert found.separated.item()
    assert found.statistic.item() > 50


def test_rows_do_not_touch_each_other():
    """A row whose fit takes long, or is impossible, is beside others."""
    samples = [simulate(5, 700), ([0, 0, 1], [0.1, 0.2, 0.3]), ([1], [0.5]), simulate(6, 90, slope=5.0)]
    together = fit(*samples)
    for i in (0, 3):
        alone = fit(samples[i])
        for name in ("slope", "intercept", "statistic"):
            assert getattr(together, name)[i].item() == pytest.approx(getattr(alone, name).item(), abs=1e-9)


@pytest.mark.parametrize("shape", [(0, 5), (2, 3, 0), (0, 0)])
def test_no_rows_or_groups(shape):
    zeros = torch.zeros(shape, dtype=torch.int64)
    found = cox(zeros, zeros, zeros.double())
    assert found.slope.shape == shape[:-1]
    assert found.separated.dtype == torch.bool


@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.integers(0, 3), st.floats(0, 1, width=32)), min_size=1, max_size=12
    )
)
def test_score_is_zero_at_the_fit(groups):
    k, m, p = np.array(sorted(groups, key=lambda g: -g[2])).T
    found = cox(*(torch.tensor(a)[None].long() for a in (k, m)), torch.tensor(p)[None])
    z = logit(np.clip(p, EPSILON, 1 - EPSILON))
    if k.any() and m.any():
        residual = (k - (k + m) * expit(found.intercept.item() + z)).sum()
        assert residual == pytest.approx(0, abs=1e-6)
    present = np.unique(z[k + m > 0])
    assert found.equal.item() == (len(present) == 1)
    if len(present) > 1:
        assert found.statistic.item() >= 0
