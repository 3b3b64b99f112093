"""Bounds from the binomial law, against scipy's."""

from __future__ import annotations

import pytest
from scipy.stats import beta

from monitor.detection import clopper_pearson_lower, clopper_pearson_upper

CASES = [(0, 1), (1, 1), (3, 4), (5, 10), (49, 79), (999, 1000), (10, 100_000), (700_000, 1_000_000)]


@pytest.mark.parametrize("level", [0.8, 0.95, 0.999])
@pytest.mark.parametrize(("k", "n"), CASES)
def test_scipy_agrees(k, n, level):
    tail = (1 - level) / 2
    lower = beta.ppf(tail, k, n - k + 1) if k else 0.0
    upper = beta.ppf(1 - tail, k + 1, n - k) if k < n else 1.0
    assert clopper_pearson_lower(k, n, level) == pytest.approx(lower, rel=1e-9)
    assert clopper_pearson_upper(k, n, level) == pytest.approx(upper, rel=1e-9)


@pytest.mark.parametrize(
    ("k", "n", "level"), [(-1, 5, 0.95), (6, 5, 0.95), (0, 0, 0.95), (1, 5, 0.0), (1, 5, 1.0)]
)
def test_what_is_no_proportion_is_refused(k, n, level):
    with pytest.raises(ValueError, match=r"no proportion|confidence level"):
        clopper_pearson_lower(k, n, level)
