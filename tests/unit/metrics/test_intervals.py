from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from monitor.metrics.intervals import wilson


@pytest.mark.parametrize(
    ("hits", "expected"),
    [(49, (0.5100187124379018, 0.7193350467845725)), (54, (0.5745191237451233, 0.7755471403312848))],
)
def test_reference_numbers(hits, expected):
    bounds = wilson(torch.tensor([hits]), torch.tensor([79]), 0.95)
    assert [bound.item() for bound in bounds] == pytest.approx(expected, abs=1e-15)


@given(st.integers(1, 10**9), st.floats(0, 1), st.floats(0.5, 0.999))
def test_bounds_enclose_the_proportion_and_solve_the_score_equation(n, share, level):
    k = min(n, round(share * n))
    lower, upper = (bound.item() for bound in wilson(torch.tensor([k]), torch.tensor([n]), level))
    assert 0 <= lower <= k / n <= upper <= 1
    mirrored = wilson(torch.tensor([n - k]), torch.tensor([n]), level)
    assert [1 - upper, 1 - lower] == pytest.approx([bound.item() for bound in mirrored], abs=1e-12)


def test_extremes_reach_the_ends():
    lower, upper = wilson(torch.tensor([0, 20]), torch.tensor([20, 20]), 0.95)
    assert lower[0] == 0
    assert upper[1] == 1


def test_nothing_counted_has_no_interval():
    lower, upper = wilson(torch.tensor([0]), torch.tensor([0]), 0.95)
    assert lower.isnan().all()
    assert upper.isnan().all()


def test_a_higher_level_is_wider():
    (l90, u90), (l99, u99) = (wilson(torch.tensor([30]), torch.tensor([40]), level) for level in (0.9, 0.99))
    assert l99 < l90
    assert u90 < u99
