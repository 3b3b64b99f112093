"""The 95% intervals contain the truth about as often as they say; docs/intervals.md has the figures."""

from __future__ import annotations

from dataclasses import fields
from math import inf

import numpy as np
import pytest
import torch

from tests.statistical.cases import binary_counts, multiclass_counts
from tests.statistical.coverage import (
    LONG,
    MIN_GIVEN,
    POSITIVES,
    SHORT,
    measure,
    quantities,
    wilson_least,
)
from tests.statistical.populations import POPULATIONS
from tests.support import counts as support

CASES = [(name, positives) for name in POPULATIONS for positives in POSITIVES]

SHORTFALLS = {
    ("typical", "precision at k"): {8: 0.890, 20: 0.870, 100: 0.862, 1000: 0.856},
    ("strong", "recall"): {20: 0.922},
    ("strong", "specificity"): {20: 0.850},
    ("strong", "precision"): {20: 0.910},
    ("strong", "NPV"): {20: 0.919},
    ("strong", "accuracy"): {8: 0.923},
    ("strong", "precision at k"): {8: 0.686, 20: 0.596, 100: 0.642, 1000: 0.434},
    ("strong", "recall at k"): {8: 0.710, 20: 0.703, 100: 0.704, 1000: 0.641},
    ("weak", "average precision"): {8: 0.888},
}
"""Measured coverage where it is below the bound, by population, quantity and positives.

docs/intervals.md says why.
"""


def judged(name, found):
    """Yield the quantities that have intervals at this size."""
    for title, quantity in quantities(POPULATIONS[name]).items():
        if found[title].given >= MIN_GIVEN:
            yield title, quantity


@pytest.mark.parametrize(("name", "positives"), CASES)
def test_coverage_is_not_broken(name, positives):
    """Few samples: a bound is missed where chance alone would do so in one of 4000 cases."""
    found = measure(name, positives, SHORT[positives])
    for title, quantity in judged(name, found):
        bound = SHORTFALLS.get((name, title), {}).get(positives, quantity.bound)
        error = (bound * (1 - bound) / found[title].samples) ** 0.5
        assert found[title].covered >= bound - 3.5 * error, title


@pytest.mark.slow
@pytest.mark.parametrize(("name", "positives"), CASES)
def test_coverage_reaches_its_bound(name, positives):
    found = measure(name, positives, LONG[positives])
    for title, quantity in judged(name, found):
        shortfall = SHORTFALLS.get((name, title), {}).get(positives)
        if shortfall is None:
            assert found[title].covered >= quantity.bound, title
        else:
            error = (shortfall * (1 - shortfall) / found[title].samples) ** 0.5
            assert abs(found[title].covered - shortfall) <= 3.5 * error + 0.0005, title


@pytest.mark.parametrize("events", POSITIVES)
def test_wilson_dips_only_where_hardly_any_of_the_rarer_outcome_is_expected(events):
    assert wilson_least(events, 0, 1) > 0.83
    assert wilson_least(events, 1, 3) > 0.915
    assert wilson_least(events, 3, inf) > 0.925


def test_counts_are_those_of_single_cases():
    random = np.random.default_rng(0)
    logits, y = random.normal(size=(3, 40)), random.random((3, 40)) < 0.3
    p = 1 / (1 + np.exp(-logits))
    expected = support.batch([support.binary_counts(y[i], p[i], logits[i] >= -0.3) for i in range(3)])
    _assert_same(binary_counts(logits, y, cut=-0.3), expected)


def test_multiclass_counts_are_those_of_single_cases():
    random = np.random.default_rng(0)
    logits, y = random.normal(size=(3, 40, 4)), random.integers(4, size=(3, 40))
    p = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
    expected = [support.multiclass_counts(y[i], p[i], n_classes=4, top_k=(1, 2)) for i in range(3)]
    _assert_same(multiclass_counts(logits, y, (1, 2)), support.batch(expected))


def _assert_same(counts, expected):
    left_out = {"cells", "older_positives", "older_negatives"}
    left_out |= {"micro_positives", "micro_negatives"}
    for name in {field.name for field in fields(counts)} - left_out:
        # Sums of rounded units: the last bit of a score carries its label.
        torch.testing.assert_close(getattr(counts, name), getattr(expected, name), rtol=1e-12, atol=50)
