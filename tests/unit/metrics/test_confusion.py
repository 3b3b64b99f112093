from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as sk

from monitor.metrics import confusion
from monitor.metrics.context import Context
from monitor.metrics.outcome import REASONS
from tests.support.counts import (
    binary_counts,
    matrix_counts,
    multiclass_counts,
    multilabel_counts,
    parameters,
    values,
)
from tests.support.recipes import RARE, expand, recipe, tied_recipe

RATIOS = ("recall", "precision", "specificity", "npv")


def context_of(matrix, **changes) -> Context:
    return Context(matrix_counts(matrix), [parameters(len(matrix), **changes)])


def read(metric, context) -> dict[tuple[str, ...], float]:
    return values(metric(context), context.parameters[0])


def reasons(outcome) -> list[str]:
    return [REASONS[code] for code in outcome.reason[0].tolist()]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (recipe, (0.620253164557, 0.830508474576, 0.917355371901, 0.787234042553)),
        (tied_recipe, (0.683544303797, 0.830769230769, 0.909090909091, 0.814814814815)),
    ],
)
def test_reference_numbers(data, expected):
    context = Context(binary_counts(*data()), [parameters()])
    got = [getattr(confusion, name)(context).value[0, 1].item() for name in RATIOS]
    assert got == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("data", "lower", "upper"),
    [
        (recipe, 0.5100187124379018, 0.7193350467845725),
        (tied_recipe, 0.5745191237451233, 0.7755471403312849),
    ],
)
def test_reference_intervals_of_recall(data, lower, upper):
    interval = confusion.recall(Context(binary_counts(*data()), [parameters()])).interval
    assert interval.method == "wilson"
    assert interval.lower[0, 1].item() == pytest.approx(lower, abs=1e-12)
    assert interval.upper[0, 1].item() == pytest.approx(upper, abs=1e-12)


@pytest.mark.parametrize("name", (*RATIOS, "accuracy"))
def test_ratios_have_wilsons_interval_at_the_models_level(name):
    wide, narrow = (
        getattr(confusion, name)(context_of(RARE, confidence_level=level)).interval for level in (0.95, 0.5)
    )
    assert (wide.upper - wide.lower > narrow.upper - narrow.lower).all()


def test_rare_positives():
    context = context_of(RARE)
    assert read(confusion.accuracy, context) == {(): 0.968}
    assert read(confusion.precision, context)["1",] == pytest.approx(8 / 38)
    assert read(confusion.recall, context)["1",] == 0.8
    assert read(confusion.lift, context)["1",] == pytest.approx(0.8 / 0.038)


def test_ratios_carry_their_counts():
    outcome = confusion.recall(context_of(RARE))
    assert outcome.numerator.tolist() == [[960, 8]]
    assert outcome.denominator.tolist() == outcome.support.tolist() == [[990, 10]]


def test_few_events_and_wide_intervals_are_of_low_support():
    assert confusion.recall(context_of(RARE)).low_support.tolist() == [[False, True]]
    assert confusion.precision(context_of(RARE)).low_support.tolist() == [[False, True]]  # 38, but wide
    assert confusion.lift(context_of(RARE)).low_support.tolist() == [[False, True]]
    assert confusion.balanced_accuracy(context_of(RARE)).low_support.tolist() == [[True]]
    assert confusion.matthews_corrcoef(context_of(RARE)).low_support.tolist() == [[True]]
    assert confusion.accuracy(context_of(RARE)).low_support.tolist() == [[False]]


def test_absent_class_has_no_recall_and_no_lift():
    context = context_of([[3, 1], [0, 0]])
    assert math.isnan(read(confusion.recall, context)["1",])
    assert reasons(confusion.recall(context)) == ["", "no_positives"]
    assert reasons(confusion.lift(context)) == ["", "no_positives"]


def test_never_predicted_and_never_rejected():
    context = context_of([[3, 0], [1, 0]])
    assert reasons(confusion.precision(context)) == ["", "never_predicted"]
    assert reasons(confusion.npv(context)) == ["never_rejected", ""]
    assert reasons(confusion.lift(context)) == ["", "never_predicted"]


def test_no_negatives_no_specificity():
    assert reasons(confusion.specificity(context_of([[3, 1], [0, 0]]))) == ["no_negatives", ""]


@pytest.mark.parametrize("matrix", [[[3, 0], [0, 0]], [[3, 1], [0, 0]], [[3, 0], [1, 0]]])
def test_labels_or_decisions_of_one_class_have_no_correlation(matrix):
    assert reasons(confusion.matthews_corrcoef(context_of(matrix))) == ["one_class"]


def test_lift_is_precision_over_prevalence():
    matrix = np.random.default_rng(4).integers(1, 30, (3, 4))
    context = context_of(matrix)
    of_prevalence = context.support.double() / matrix.sum()
    assert confusion.lift(context).value.numpy() == pytest.approx(
        (confusion.precision(context).value / of_prevalence).numpy()
    )


def test_other_is_a_miss_and_nobodys_false_alarm():
    counts = multiclass_counts([0, 0, 1, 1, 2], np.eye(3)[[0, 0, 1, 1, 2]], [0, -1, 1, -1, 2], n_classes=3)
    context = Context(counts, [parameters(3)])
    assert read(confusion.recall, context) == {("0",): 0.5, ("1",): 0.5, ("2",): 1}
    assert read(confusion.precision, context) == {("0",): 1, ("1",): 1, ("2",): 1}
    assert read(confusion.accuracy, context) == {(): 0.6}
    assert read(confusion.matthews_corrcoef, context)[()] == pytest.approx(
        sk.matthews_corrcoef([0, 0, 1, 1, 2], [0, 9, 1, 9, 2]), abs=1e-12
    )


@given(st.lists(st.lists(st.integers(0, 5), min_size=4, max_size=4), min_size=3, max_size=3))
def test_correlation_is_scikit_learns(rows):
    true, predicted = expand(np.array(rows))
    if len(set(true)) > 1 and len(set(predicted)) > 1:
        got = read(confusion.matthews_corrcoef, context_of(rows))[()]
        assert got == pytest.approx(sk.matthews_corrcoef(true, predicted), abs=1e-12)


@pytest.mark.parametrize(
    "cells",
    [
        [[10**9, 10**9], [10**9, 10**9 - 1]],
        [[4 * 10**9, 3], [2, 1]],
        [[10**9, 1234], [987, 0]],
        [[3 * 10**9, 10**9 - 7], [10**9 + 9, 4 * 10**9]],
    ],
)
def test_correlation_of_billions_is_exact(cells):
    (tn, fp), (fn, tp) = cells
    exact = (tp * tn - fp * fn) / math.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
    got = read(confusion.matthews_corrcoef, context_of(cells))[()]
    assert got == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_multilabel_is_scikit_learns_label_by_label(seed):
    random = np.random.default_rng(seed)
    true = (random.random((60, 4)) < (0.6, 0.3, 0.1, 0)).astype(int)
    predicted = (random.random((60, 4)) < 0.3 + 0.4 * true).astype(int)
    context = Context(multilabel_counts(true, predicted), [parameters(4, task="multilabel")])
    kept = {"average": None, "zero_division": np.nan}
    assert read(confusion.accuracy, context) == {(): sk.accuracy_score(true, predicted)}
    for metric, expected in [
        (confusion.recall, sk.recall_score(true, predicted, **kept)),
        (confusion.precision, sk.precision_score(true, predicted, **kept)),
        (confusion.specificity, sk.recall_score(1 - true, 1 - predicted, **kept)),
        (confusion.npv, sk.precision_score(1 - true, 1 - predicted, **kept)),
    ]:
        assert metric(context).value[0].numpy() == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize("metric", [confusion.balanced_accuracy, confusion.matthews_corrcoef])
def test_multilabel_has_no_number_for_one_label_an_event(metric):
    outcome = metric(Context(multilabel_counts([[1, 0]], [[0.9, 0.1]]), [parameters(2, task="multilabel")]))
    assert reasons(outcome) == ["not_for_multilabel"]
    nothing = Context(multilabel_counts([[-1, -1]], [[0.9, 0.1]]), [parameters(2, task="multilabel")])
    assert reasons(metric(nothing)) == ["no_labels"]
