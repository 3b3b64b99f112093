"""When a map is suggested, which one, and what it does."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pytest
from scipy.special import expit
from scipy.special import logit as logit_of
from sklearn.isotonic import IsotonicRegression

from monitor.recalibration.suggestion import Suggestion, apply, suggest

BALANCED, RARE = (1.0, 2.0), (0.3, 10.0)


def sample(n, prior=BALANCED, seed=0, temperature=1.0, shift=0.0):
    """Return distinct scores with positives and events, whose logits are too great by these."""
    random = np.random.default_rng(seed)
    p = np.sort(random.beta(*prior, n))
    positives = (random.random(n) < expit(logit_of(p) / temperature + shift)).astype(np.int64)
    return p, positives, np.ones(n, np.int64)


def test_scores_that_are_too_extreme_are_cooled():
    found = suggest(*sample(20_000, temperature=1.5), 0)
    assert found.map in ("temperature", "platt", "beta")
    assert found.gain > 1.64 * found.standard_error > 0
    p = np.linspace(0.01, 0.99, 99)
    assert apply(found, p) == pytest.approx(expit(logit_of(p) / 1.5), abs=0.015)


def test_scores_that_are_too_low_are_shifted():
    found = suggest(*sample(20_000, shift=0.5), 0)
    p = np.linspace(0.01, 0.99, 99)
    assert apply(found, p) == pytest.approx(expit(logit_of(p) + 0.5), abs=0.015)


@pytest.mark.parametrize(
    ("suggestion", "formula", "at_3_4"),
    [
        (Suggestion("temperature", {"temperature": 2.0}), "logit(p') = logit(p) / 2", 1 / (1 + 3**-0.5)),
        (Suggestion("shift", {"shift": np.log(2)}), "logit(p') = logit(p) + 0.6931", 6 / 7),
        (Suggestion("shift", {"shift": -np.log(2)}), "logit(p') = logit(p) - 0.6931", 3 / 5),
        (
            Suggestion("platt", {"intercept": np.log(2), "slope": 2.0}),
            "logit(p') = 0.6931 + 2 * logit(p)",
            18 / 19,
        ),
        (
            Suggestion("beta", {"c": 0.5, "a": 2.0, "b": 1.5}),
            "logit(p') = 0.5 + 2 * log(p) - 1.5 * log(1 - p)",
            expit(0.5 + 2 * np.log(0.75) - 1.5 * np.log(0.25)),
        ),
        (
            Suggestion("isotonic", {"scores": [0.5, 1.0], "rates": [0.2, 0.6]}),
            "p' = rates at p, linear between scores",
            0.4,
        ),
    ],
)
def test_what_a_map_does_is_what_it_says(suggestion, formula, at_3_4):
    assert suggestion.formula == formula
    assert apply(suggestion, np.array([0.75])) == pytest.approx([at_3_4])
    assert suggestion.plain()["formula"] == formula


def test_scores_of_exactly_0_and_1_can_be_mapped():
    p, positives, events = sample(20_000, temperature=1.5)
    scores, place = np.unique(p.round(1), return_inverse=True)
    counts = (np.bincount(place, weights).astype(np.int64) for weights in (positives, events))
    assert (scores[0], scores[-1]) == (0, 1)
    found = suggest(scores, *counts, 0)
    assert found.map is not None
    assert np.isfinite(apply(found, np.array([0.0, 1.0]))).all()


def test_a_curve_of_steps_is_learned_by_isotonic_regression():
    random = np.random.default_rng(0)
    p = np.sort(random.random(5000))
    rate = np.where(p < 0.35, 0.1, np.where(p < 0.65, 0.5, 0.9))
    groups = p, (random.random(5000) < rate).astype(np.int64), np.ones(5000, np.int64)
    found = suggest(*groups, 0)
    assert found.map == "isotonic"
    expected = IsotonicRegression().fit(p, groups[1]).predict(p)
    wide = np.abs(p - 0.5) < 0.1  # blocks are smoothed by half an event
    assert apply(found, p)[wide] == pytest.approx(expected[wide], abs=0.02)
    assert json.loads(json.dumps(found.plain()))["parameters"]["rates"] == found.parameters["rates"]


def test_groups_may_come_in_any_order_and_be_empty():
    p, positives, events = sample(3000, temperature=1.5)
    turned = np.append(p[::-1], 0.5), np.append(positives[::-1], 0), np.append(events[::-1], 0)
    assert suggest(*turned, 0) == suggest(p, positives, events, 0)


def test_the_same_seed_gives_the_same():
    groups = sample(3000, temperature=1.5)
    assert suggest(*groups, 3) == suggest(*groups, 3)
    assert suggest(*groups, 3).gain != suggest(*groups, 4).gain


@pytest.mark.parametrize("n", [0, 15, 30])
def test_too_few_events_of_a_class_have_a_reason(n):
    groups = sample(n, RARE)
    found = suggest(*groups, 0)
    assert found.plain() == {"map": None, "reason": "fewer than 20 events of either class"}
    assert apply(found, groups[0]) is groups[0]


def test_scores_the_wrong_way_round_are_not_turned():
    p, positives, events = sample(2000)
    found = suggest(p, 1 - positives, events, 0)
    assert found.map in (None, "shift", "isotonic")


def simulated(n, runs, prior=BALANCED, seed=0, **fault):
    """Return how often each map was suggested, and the gains in expected log loss on fresh scores."""
    fresh = np.random.default_rng(99).beta(*prior, 20_000)
    rate = expit(logit_of(fresh) / fault.get("temperature", 1.0) + fault.get("shift", 0.0))

    def loss(p):
        return -(rate * np.log(p) + (1 - rate) * np.log1p(-p)).mean()

    maps, gains = Counter(), []
    for run in range(runs):
        found = suggest(*sample(n, prior, seed + run, **fault), 0)
        maps[found.map] += 1
        if found.map is not None:
            gains.append(loss(fresh) - loss(apply(found, fresh)))
    return maps, np.array(gains), loss(fresh) - loss(rate)


def test_nothing_is_suggested_for_calibrated_scores():
    maps, _, _ = simulated(2000, 20)
    assert maps == {None: 20}


def test_what_is_suggested_is_nearly_the_best_that_there_is():
    maps, gains, best = simulated(2000, 10, temperature=1.5)
    assert maps[None] == 0
    assert gains.mean() > 0.95 * best


@pytest.mark.slow
@pytest.mark.parametrize("prior", [BALANCED, RARE])
@pytest.mark.parametrize("n", [200, 2000, 20_000])
def test_suggestions_rarely_harm_calibrated_scores(n, prior):
    runs = 15 if n == 20_000 else 60
    _, gains, _ = simulated(n, runs, prior)
    assert (gains < 0).sum() <= 0.02 * runs


@pytest.mark.slow
@pytest.mark.parametrize("fault", [{"temperature": 1.5}, {"shift": 0.5}])
@pytest.mark.parametrize("n", [2000, 20_000])
def test_suggestions_gain_what_can_be_gained(n, fault):
    maps, gains, best = simulated(n, 15 if n == 20_000 else 60, **fault)
    assert maps[None] == 0
    assert (gains < 0).mean() <= 0.02
    assert gains.mean() > 0.95 * best
