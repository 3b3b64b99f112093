"""The statistics behind doctor: clear cases are seen, and samples of a healthy or guessing model are not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from monitor.doctor.evidence import (
    cut,
    excess,
    likelihood_gain,
    most_likely_share,
    ranking,
    relabelling,
    reordered,
    round_between,
    sigmoid,
)


def test_ranking_is_the_area_of_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    score = rng.integers(0, 12, 300) / 12  # with ties
    positive = rng.random(300) < score
    found = ranking(score, positive)
    assert found is not None
    assert found.auc == pytest.approx(roc_auc_score(positive, score), abs=1e-12)
    assert ranking(score, np.ones(300, dtype=bool)) is None


def test_standard_error_of_a_ranking_is_that_of_random_scores() -> None:
    rng = np.random.default_rng(1)
    positive = np.arange(60) < 12
    found = [ranking(rng.random(60), positive) for _ in range(3000)]
    areas = [r.auc for r in found if r is not None]
    assert found[0] is not None
    assert np.std(areas) == pytest.approx(found[0].standard_error, rel=0.05)


def test_a_guessing_model_is_hardly_ever_taken_for_reversed() -> None:
    rng = np.random.default_rng(2)
    alarms = 0
    for _ in range(4000):
        positive = rng.random(20) < 0.5
        found = ranking(rng.random(20), positive)
        alarms += found is not None and found.reversed
    assert alarms <= 4


def test_reversed_needs_events_of_both_classes() -> None:
    few = ranking(np.array([0.1, 0.2, 0.8, 0.9]), np.array([True, True, False, False]))
    assert few is not None
    assert (few.reversed, few.undecided) == (False, True)
    many = ranking(np.linspace(0, 1, 40), np.arange(40) < 20)
    assert many is not None
    assert (many.reversed, many.undecided) == (True, False)


def test_excess_is_in_standard_errors_of_calibrated_probabilities() -> None:
    rng = np.random.default_rng(3)
    p = rng.random(400)
    excesses = [excess(p, rng.random(400) < p) for _ in range(2000)]
    assert np.std(excesses) == pytest.approx(1, abs=0.05)
    assert excess(np.full(20, 0.99), np.arange(20) < 1) > 10


def test_likelihood_gain_is_not_decided_by_one_event() -> None:
    p = np.full(30, 0.999)
    positive = np.ones(30, dtype=bool)
    gain = likelihood_gain(p, np.full(30, 0.5), positive)
    assert gain == pytest.approx(30 * np.log(0.99 / 0.5))
    positive[0] = False
    assert likelihood_gain(p, np.full(30, 0.5), positive) > gain - 5


def test_sigmoid_does_not_overflow() -> None:
    assert sigmoid(np.array([-1e4, 0.0, 1e4])).tolist() == [0.0, 0.5, 1.0]


permutations = st.integers(2, 8).flatmap(lambda n: st.permutations(range(n)))


@settings(max_examples=60)
@given(permutations, st.integers(0, 2**31))
def test_classes_in_another_order_are_found(order: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = len(order)
    true = rng.integers(0, n, 200 * n)
    decided = np.where(rng.random(200 * n) < 0.8, np.array(order)[true], rng.integers(0, n, 200 * n))
    moved = {code: other for code, other in enumerate(order) if code != other}
    assert relabelling(true, decided, n) == moved


@pytest.mark.parametrize("n", [20, 100, 1000])
@pytest.mark.parametrize("classes", [2, 3, 10, 200])
def test_no_other_order_is_found_for_models_that_guess_or_know(n: int, classes: int) -> None:
    rng = np.random.default_rng(4)
    for knows in (0.0, 0.5, 0.9):
        for skew in (0.0, 2.0):
            share = np.arange(1, classes + 1) ** -skew
            for _ in range(40):
                true = rng.choice(classes, n, p=share / share.sum())
                decided = np.where(rng.random(n) < knows, true, rng.integers(0, classes, n))
                assert relabelling(true, decided, classes) == {}


def test_one_class_that_the_model_misses_is_no_other_order() -> None:
    true = np.repeat([0, 1, 2], 100)
    decided = np.where(true == 1, 2, true)
    assert relabelling(true, decided, 3) == {}


def test_many_classes_need_little_memory() -> None:
    codes = np.arange(10_000)
    assert relabelling(codes, codes, 32_766) == {}


def test_order_of_scores() -> None:
    assert reordered("abc", {0: 2, 1: 0, 2: 1}) == (["b", "c", "a"], True)
    assert reordered("abcd", {1: 0, 2: 1}) == (["b", "c", "?", "d"], False)


def test_cut() -> None:
    score = np.array([0.1, 0.2, 0.3, 0.9], np.float32)
    assert cut(score, score >= 0.5, 0.5).differ == 0
    differ, between = cut(score, score >= 0.25, 0.5)
    assert differ == 1
    assert between == pytest.approx((0.2, 0.3))
    assert cut(score, np.array([True, False, True, False]), 0.5) == (3, None)


@given(st.floats(0, 1), st.floats(0, 1))
def test_round_between_explains_all(low: float, high: float) -> None:
    if low < high:
        assert low < round_between(low, high) <= high
    assert round_between(0.31, 0.72) == 0.5


def test_most_likely_share_is_wilsons_upper_bound() -> None:
    assert most_likely_share(4, 1000) == pytest.approx(0.0102, abs=1e-4)
    assert most_likely_share(0, 20) == pytest.approx(0.161, abs=1e-3)
    assert most_likely_share(20, 20) == pytest.approx(1.0)
