from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.metrics.at_k import precision_at_k, recall_at_k
from monitor.metrics.context import Context
from monitor.metrics.intervals import wilson
from monitor.metrics.outcome import REASONS
from tests.support.counts import (
    batch,
    binary_counts,
    multiclass_counts,
    multilabel_counts,
    parameters,
    values,
)
from tests.support.recipes import recipe, tied_recipe


def context_of(y_true, y_score, *at_k, bins=None) -> Context:
    return Context(binary_counts(y_true, y_score, bins=bins), [parameters(at_k=at_k)])


def words(outcome) -> list[list[str]]:
    return [[REASONS[code] for code in row] for row in outcome.reason.tolist()]


@pytest.mark.parametrize(
    ("data", "precision", "recall"),
    [(recipe, 1, 0.253164556962), (tied_recipe, 0.981818181818, 0.248561565017)],
)
def test_reference_numbers(data, precision, recall):
    context = context_of(*data(), 20, 0.1)
    assert precision_at_k(context).value.tolist() == [pytest.approx([precision] * 2, abs=1e-12)]
    assert recall_at_k(context).value.tolist() == [pytest.approx([recall] * 2, abs=1e-12)]


def test_without_ties_the_first_k_are_counted():
    random = np.random.default_rng(0)
    score = random.permutation(300) / 300
    y_true = (random.random(300) < score).astype(int)
    first = y_true[np.argsort(-score)]
    ks = (1, 7, 100, 300)
    context = context_of(y_true, score, *ks)
    hits = [first[:k].sum() for k in ks]
    precision, recall = precision_at_k(context), recall_at_k(context)
    assert precision.numerator.tolist() == recall.numerator.tolist() == [hits]
    assert precision.denominator.tolist() == precision.support.tolist() == [list(ks)]
    assert recall.denominator.tolist() == recall.support.tolist() == [[y_true.sum()] * 4]
    assert precision.value.tolist() == [pytest.approx([h / k for h, k in zip(hits, ks, strict=True)])]
    assert recall.value.tolist() == [pytest.approx([h / y_true.sum() for h in hits])]


@given(st.lists(st.tuples(st.booleans(), st.sampled_from([0.1, 0.5, 0.9])), min_size=1, max_size=6))
@settings(max_examples=40)
def test_ties_count_by_expectation(events):
    y_true, score = (np.array(column) for column in zip(*events, strict=True))
    k = (len(events) + 1) // 2
    orders = [
        y_true[list(order)][:k].sum()
        for order in itertools.permutations(range(len(events)))
        if (np.diff(score[list(order)]) <= 0).all()
    ]
    context = context_of(y_true.astype(int), score, k)
    assert precision_at_k(context).value.item() == pytest.approx(np.mean(orders) / k)


def test_shares_are_rounded_up_but_not_by_rounding():
    n = 100
    y_true = np.ones(n, int)
    context = context_of(y_true, np.linspace(1, 0, n), 0.07, 0.29, 0.071, 0.001)
    # In floats .07 * 100 is more than 7, and .29 * 100 less than 29.
    assert precision_at_k(context).denominator.tolist() == [[7, 29, 8, 1]]


def test_more_than_there_are_is_undefined():
    context = context_of([0, 1, 1], [0.1, 0.2, 0.3], 3, 4)
    assert words(precision_at_k(context)) == words(recall_at_k(context)) == [["", "too_few_events"]]


def test_of_more_than_there_are_only_those_there_are_count():
    context = context_of([0, 1, 1], [0.1, 0.2, 0.3], 3, 1000)
    for metric, denominator in ((precision_at_k, 3), (recall_at_k, 2)):
        outcome = metric(context)
        assert outcome.numerator.tolist() == [[2, 2]]
        assert outcome.denominator.tolist() == outcome.support.tolist() == [[denominator] * 2]


def test_no_positives_are_a_precision_of_0():
    context = context_of([0, 0], [0.1, 0.2], 1)
    assert precision_at_k(context).value.tolist() == [[0]]
    assert words(recall_at_k(context)) == [["no_positives"]]


def test_only_labeled_events_with_scores_count():
    context = context_of([1, -1, 0, 1], [0.1, 0.9, 0.5, np.nan], 1, 2, 3)
    assert precision_at_k(context).value.tolist() == [pytest.approx([0, 0.5, np.nan], nan_ok=True)]
    assert words(precision_at_k(context_of([], [], 1))) == [["no_events"]]
    assert words(precision_at_k(context_of([0], [np.nan], 0.5))) == [["no_scores"]]


def test_intervals_are_wilson_of_the_expected_numbers():
    context = context_of(*tied_recipe(), 20)
    for metric, n in ((precision_at_k, 20), (recall_at_k, 79)):
        outcome = metric(context)
        expected = wilson(torch.tensor([20 * 54 / 55]), torch.tensor([n]), 0.95)
        assert outcome.interval.method == "wilson"
        assert outcome.interval.lower.item() == pytest.approx(expected.lower.item(), abs=1e-6)
        assert outcome.interval.upper.item() == pytest.approx(expected.upper.item(), abs=1e-6)


@given(st.integers(0, 2**32 - 1), st.integers(2, 60), st.integers(1, 12), st.sampled_from([0.1, 0.5]))
@settings(max_examples=60)
def test_unbinned_value_is_within_the_bound(seed, n, bins, prevalence):
    random = np.random.default_rng(seed)
    y_true = (random.random(n) < prevalence).astype(int)
    y_true[0] = 1
    score = np.clip(random.normal(0.4 + 0.2 * y_true, 0.3), 0, 1)
    ks = range(1, n + 1)
    for metric in (precision_at_k, recall_at_k):
        exact, binned = (metric(context_of(y_true, score, *ks, bins=b)) for b in (None, bins))
        assert not exact.resolution_error.any()
        distance = (exact.value - binned.value).abs()
        assert (distance <= binned.resolution_error + 1e-12).all()


def test_bound_is_reached():
    # One bin, all positives first or last.
    for y_true in ([1] * 3 + [0] * 5, [0] * 5 + [1] * 3, [1] * 6 + [0] * 2):
        exact, binned = (
            precision_at_k(context_of(y_true, np.linspace(1, 0, 8), 4, bins=b)) for b in (None, 1)
        )
        distance = (exact.value - binned.value).abs()
        assert distance.item() == pytest.approx(binned.resolution_error.item())


def test_each_class_of_each_model_has_its_own_k():
    random = np.random.default_rng(1)
    settings = [(5, 0.1), (0.5, 30)]
    models = [parameters(3, at_k=at_k) for at_k in settings]
    scores = [random.dirichlet(np.ones(3), n).round(1) for n in (40, 200)]
    truths = [random.integers(0, 3, len(score)) for score in scores]
    counts = [multiclass_counts(y, s, n_classes=3) for y, s in zip(truths, scores, strict=True)]
    together = precision_at_k(Context(batch(counts), models))
    for row, model in enumerate(models):
        alone = precision_at_k(Context(counts[row], [model]))
        assert torch.equal(together.value[row], alone.value[0])
        for c in range(3):
            own = context_of((truths[row] == c).astype(int), scores[row][:, c], *settings[row])
            found = [values(alone, model)[str(c), repr(k)] for k in settings[row]]
            assert precision_at_k(own).value.tolist() == [pytest.approx(found, abs=1e-12)]


def test_labels_have_their_own_k():
    y_true, score = [[1, 0], [0, 1], [0, 1]], [[0.9, 0.1], [0.5, 0.6], [0.1, 0.7]]
    p = parameters(2, task="multilabel", at_k=(1, 2))
    found = values(precision_at_k(Context(multilabel_counts(y_true, score), [p])), p)
    assert found == {("0", "1"): 1, ("0", "2"): 0.5, ("1", "1"): 1, ("1", "2"): 1}


def test_no_k_no_values():
    assert precision_at_k(context_of([0, 1], [0.1, 0.2])).value.shape == (1, 0)
