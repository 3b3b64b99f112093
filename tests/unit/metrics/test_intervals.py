from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm, t

from monitor.metrics.intervals import effective_n, logit_t, wald_t, wilson
from tests.support import influences
from tests.support.recipes import recipe, tied_recipe


def wilsons(hits: list[int], n: list[int], level: float = 0.95) -> tuple[torch.Tensor, torch.Tensor]:
    interval = wilson(torch.tensor(hits), torch.tensor(n), level)
    return interval.lower, interval.upper


@pytest.mark.parametrize(
    ("hits", "expected"),
    [(49, (0.5100187124379018, 0.7193350467845725)), (54, (0.5745191237451233, 0.7755471403312848))],
)
def test_reference_numbers(hits, expected):
    bounds = wilsons([hits], [79])
    assert [bound.item() for bound in bounds] == pytest.approx(expected, abs=1e-15)


@given(st.integers(1, 10**9), st.floats(0, 1), st.floats(0.5, 0.999))
def test_bounds_enclose_the_proportion_and_solve_the_score_equation(n, share, level):
    k = min(n, round(share * n))
    lower, upper = (bound.item() for bound in wilsons([k], [n], level))
    assert 0 <= lower <= k / n <= upper <= 1
    mirrored = wilsons([n - k], [n], level)
    assert [1 - upper, 1 - lower] == pytest.approx([bound.item() for bound in mirrored], abs=1e-12)


def test_extremes_reach_the_ends():
    lower, upper = wilsons([0, 20], [20, 20])
    assert lower[0] == 0
    assert upper[1] == 1


def test_nothing_counted_has_no_interval():
    lower, upper = wilsons([0], [0])
    assert lower.isnan().all()
    assert upper.isnan().all()


def test_a_higher_level_is_wider():
    (l90, u90), (l99, u99) = (wilsons([30], [40], level) for level in (0.9, 0.99))
    assert l99 < l90
    assert u90 < u99


def numbers(*values: float) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64)


@pytest.mark.parametrize("data", [recipe, tied_recipe])
def test_effective_n_has_the_reference_bounds(data):
    y_true, score = data()
    found = (
        influences.roc_auc(y_true, score),
        influences.partial_roc_auc(y_true, score, 0.1),
        influences.average_precision(y_true, score),
    )
    fewest = min(y_true.sum(), (1 - y_true).sum())
    slowly = [influences.effective_n(*of_one, fewest, norm.ppf(0.975)) for of_one in found]
    value, error = (numbers(*column) for column in zip(*found, strict=True))
    interval = effective_n(value, error, torch.tensor(fewest), 0.95)
    bounds = zip(interval.lower.tolist(), interval.upper.tolist(), strict=True)
    for expected, by_bisection, by_formula in zip(influences.EFFECTIVE_N[data], slowly, bounds, strict=True):
        assert by_bisection == pytest.approx(expected, abs=1e-12)
        assert by_formula == pytest.approx(expected, abs=1e-12)
    assert interval.method == "effective_n"
    assert torch.equal(interval.standard_error, error)


def test_effective_n_is_wilson_for_a_proportion():
    hits, n = torch.tensor([49, 1, 30]), torch.tensor([79, 60, 60])
    proportion = wilson(hits, n, 0.9)
    again = effective_n(hits / n.double(), proportion.standard_error, n, 0.9)
    assert torch.allclose(again.lower, proportion.lower, rtol=0, atol=1e-12)
    assert torch.allclose(again.upper, proportion.upper, rtol=0, atol=1e-12)


def test_effective_n_is_at_least_one_event_and_at_most_the_cap():
    value, error = numbers(0.6, 0.6, 0.6), numbers(0.9, 1e-3, 1e-3)
    interval = effective_n(value, error, torch.tensor([30, 30, 2000]), 0.95)
    size = numbers(1, 60, 20_000)
    expected = wilson(value * size, size, 0.95)
    assert torch.allclose(interval.lower, expected.lower)
    assert torch.allclose(interval.upper, expected.upper)


def test_effective_n_without_variance_rests_on_the_cap():
    value, error = numbers(1, 0, 0.7), numbers(0, 0, 1e-10)
    interval = effective_n(value, error, torch.tensor(8), 0.95)
    expected = wilson(value * 16, torch.tensor(16), 0.95)
    assert torch.allclose(interval.lower, expected.lower)
    assert torch.allclose(interval.upper, expected.upper)


def test_effective_n_of_nothing_is_undefined():
    interval = effective_n(numbers(torch.nan, 0.5), numbers(0.1, 0.1), torch.tensor([9, 0]), 0.95)
    assert interval.lower.isnan().all()
    assert interval.upper.isnan().all()


def test_t_intervals():
    sample = np.array([0.1, 0.2, 0.15, 0.4, 0.3])
    value, error = sample.mean(), sample.std(ddof=1) / np.sqrt(5)
    quantile = t.ppf(0.995, 4)
    plain = wald_t(numbers(value), numbers(error), torch.tensor(5), 0.99)
    assert plain.lower.item() == pytest.approx(value - quantile * error, abs=1e-12)
    assert plain.upper.item() == pytest.approx(value + quantile * error, abs=1e-12)
    logit = np.log(value / (1 - value))
    half = quantile * error / (value * (1 - value))
    inside = logit_t(numbers(value), numbers(error), torch.tensor(5), 0.99)
    assert inside.lower.item() == pytest.approx(1 / (1 + np.exp(half - logit)), abs=1e-12)
    assert inside.upper.item() == pytest.approx(1 / (1 + np.exp(-half - logit)), abs=1e-12)
    assert (plain.method, inside.method) == ("wald_t", "logit_t")
    assert plain.standard_error.item() == inside.standard_error.item() == error


def test_wald_t_stays_above_what_is_possible():
    interval = wald_t(numbers(0.1), numbers(0.2), torch.tensor(9), 0.95, least=0.0)
    assert interval.lower.item() == 0


@pytest.mark.parametrize("method", [logit_t, wald_t])
def test_t_intervals_need_variance_and_two_events(method):
    value, error = numbers(0.5, 0.5, 0.5, torch.nan), numbers(0, 0.1, torch.nan, 0.1)
    interval = method(value, error, torch.tensor([9, 1, 9, 9]), 0.95)
    assert interval.lower.isnan().all()
    assert interval.upper.isnan().all()


def test_logit_t_needs_a_value_inside():
    interval = logit_t(numbers(0, 1), numbers(0.1, 0.1), torch.tensor(9), 0.95)
    assert interval.lower.isnan().all()
    assert interval.upper.isnan().all()
