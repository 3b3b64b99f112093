from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import matthews_corrcoef

from monitor.metrics import confusion
from monitor.metrics.context import Context
from monitor.metrics.outcome import REASONS
from tests.support.counts import binary_counts, matrix_counts, multiclass_counts, parameters, values
from tests.support.recipes import RARE, expand, recipe, tied_recipe


def context_of(matrix, **changes) -> Context:
    return Context(matrix_counts(matrix), parameters(len(matrix), **changes))


def reasons(outcome) -> list[str]:
    return [REASONS[code] for code in outcome.reason[0].tolist()]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (
            recipe,
            (0.620253164557, 0.830508474576, 0.710144927536, 0.647577092511, 0.917355371901, 0.787234042553),
        ),
        (tied_recipe, (0.683544303797, 0.830769230769, 0.75, 0.704347826087, 0.909090909091, 0.814814814815)),
    ],
)
def test_reference_numbers(data, expected):
    context = Context(binary_counts(*data()), parameters())
    metrics = ("recall", "precision", "f1", "fbeta", "specificity", "npv")
    got = [getattr(confusion, name)(context).value[0, 1].item() for name in metrics]
    assert got == pytest.approx(expected, abs=1e-12)


def test_rare_positives():
    context = context_of(RARE)
    assert values(confusion.accuracy(context)) == {(): 0.968}
    assert values(confusion.precision(context))["1",] == pytest.approx(8 / 38)
    assert values(confusion.recall(context))["1",] == 0.8
    assert values(confusion.f1(context))["1",] == pytest.approx(1 / 3)


def test_ratios_carry_their_counts():
    outcome = confusion.recall(context_of(RARE))
    assert outcome.numerator.tolist() == [[960, 8]]
    assert outcome.denominator.tolist() == outcome.support.tolist() == [[990, 10]]


def test_absent_class_has_no_recall_and_no_f1():
    context = context_of([[3, 0], [0, 0]])
    assert math.isnan(values(confusion.recall(context))["1",])
    assert reasons(confusion.recall(context)) == ["", "no_positives"]
    assert reasons(confusion.f1(context)) == ["", "no_decisions_or_positives"]
    assert reasons(confusion.fbeta(context)) == ["", "no_decisions_or_positives"]


def test_false_alarms_without_positives_make_f1_zero():
    context = context_of([[3, 1], [0, 0]])
    assert values(confusion.f1(context))["1",] == 0
    assert values(confusion.fbeta(context))["1", repr(5**0.5)] == 0


def test_never_predicted_and_never_rejected():
    context = context_of([[3, 0], [1, 0]])
    assert reasons(confusion.precision(context)) == ["", "never_predicted"]
    assert reasons(confusion.npv(context)) == ["never_rejected", ""]


def test_no_negatives_no_specificity():
    assert reasons(confusion.specificity(context_of([[3, 1], [0, 0]]))) == ["no_negatives", ""]


@pytest.mark.parametrize("matrix", [[[3, 0], [0, 0]], [[3, 1], [0, 0]], [[3, 0], [1, 0]]])
def test_labels_or_decisions_of_one_class_have_no_correlation(matrix):
    assert reasons(confusion.matthews_corrcoef(context_of(matrix))) == ["one_class"]


def test_other_is_a_miss_and_nobodys_false_alarm():
    counts = multiclass_counts([0, 0, 1, 1, 2], np.eye(3)[[0, 0, 1, 1, 2]], [0, -1, 1, -1, 2], n_classes=3)
    context = Context(counts, parameters(3))
    assert values(confusion.recall(context)) == {("0",): 0.5, ("1",): 0.5, ("2",): 1}
    assert values(confusion.precision(context)) == {("0",): 1, ("1",): 1, ("2",): 1}
    assert values(confusion.accuracy(context)) == {(): 0.6}
    assert values(confusion.matthews_corrcoef(context))[()] == pytest.approx(
        matthews_corrcoef([0, 0, 1, 1, 2], [0, 9, 1, 9, 2]), abs=1e-12
    )


@given(st.lists(st.lists(st.integers(0, 5), min_size=4, max_size=4), min_size=3, max_size=3))
def test_correlation_is_scikit_learns(rows):
    true, predicted = expand(np.array(rows))
    if len(set(true)) > 1 and len(set(predicted)) > 1:
        got = values(confusion.matthews_corrcoef(context_of(rows)))[()]
        assert got == pytest.approx(matthews_corrcoef(true, predicted), abs=1e-12)


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
    got = values(confusion.matthews_corrcoef(context_of(cells)))[()]
    assert got == pytest.approx(exact, rel=1e-12)


def test_no_costs_no_fbeta():
    outcome = confusion.fbeta(context_of(RARE, beta=None))
    assert outcome.labels == ()
    assert outcome.value.shape == (1, 0)
