"""The map of a baseline: isotonic, with rates that are never 0 or 1."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit, logit
from sklearn.isotonic import IsotonicRegression

from monitor.detection import CalibrationMap, identity_logit


def groups(seed=0, size=40_000, decimals=3):
    rng = np.random.default_rng(seed)
    p = np.round(rng.random(size), decimals)
    y = rng.random(size) < p**2
    scores, at = np.unique(p, return_inverse=True)
    return scores, np.bincount(at, y).astype(np.int64), np.bincount(at)


def test_blocks_are_those_of_scikit_learn():
    scores, positives, events = groups()
    mapped = CalibrationMap.fit(scores, positives, events)
    theirs = IsotonicRegression().fit(scores, positives / events, sample_weight=events).predict(scores)
    values, at = np.unique(theirs.round(12), return_inverse=True)
    n, k = np.bincount(at, events), np.bincount(at, positives)
    np.testing.assert_allclose(values, k / n, atol=1e-9)
    np.testing.assert_allclose(expit(mapped.logit(scores)), ((k + 0.5) / (n + 1))[at], rtol=1e-12)


def test_order_of_groups_and_groups_without_events_do_not_matter():
    scores, positives, events = groups()
    order = np.random.default_rng(1).permutation(len(scores))
    one = CalibrationMap.fit(scores, positives, events)
    zero = np.zeros(1, np.int64)
    other = CalibrationMap.fit(
        np.append(scores[order], 7.0), np.append(positives[order], zero), np.append(events[order], zero)
    )
    assert one.scores.tolist() == other.scores.tolist()
    assert one.rates.tolist() == other.rates.tolist()


def test_constant_beyond_the_ends_and_linear_between_blocks():
    mapped = CalibrationMap.fit(
        np.array([0.2, 0.4, 0.6]), np.array([100, 400, 900]), np.array([1000, 1000, 1000])
    )
    low, middle, high = 100.5 / 1001, 400.5 / 1001, 900.5 / 1001
    found = mapped.logit(np.array([-5.0, 0.2, 0.3, 0.4, 0.6, 1.0]))
    np.testing.assert_allclose(found, logit([low, low, (low + middle) / 2, middle, high, high]), rtol=1e-12)


def test_certain_scores_get_finite_log_odds():
    mapped = CalibrationMap.fit(np.array([0.0, 1.0]), np.array([0, 5000]), np.array([100_000, 5000]))
    np.testing.assert_allclose(mapped.logit(np.array([0.0, 1.0])), logit([0.5 / 100_001, 5000.5 / 5001]))


@pytest.mark.parametrize(("positive", "other"), [(999, 100_000), (100_000, 999), (0, 0)])
def test_too_small_a_baseline_is_refused(positive, other):
    with pytest.raises(ValueError, match=f"{positive} positive, {other} others"):
        CalibrationMap.fit(np.array([0.5]), np.array([positive]), np.array([positive + other]))


def test_identity_is_clipped():
    np.testing.assert_allclose(
        identity_logit(np.array([0.0, 0.0005, 0.25, 1.0])), logit([0.001, 0.001, 0.25, 0.999]), rtol=1e-12
    )


def test_log_odds_have_the_same_bits_one_by_one():
    scores, positives, events = groups()
    p = np.random.default_rng(6).random(1001)
    for logit_of in (CalibrationMap.fit(scores, positives, events).logit, identity_logit):
        assert logit_of(p).tolist() == [logit_of(p[i : i + 1])[0] for i in range(len(p))]
