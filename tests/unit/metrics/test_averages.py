from __future__ import annotations

import numpy as np
import pytest
from sklearn import metrics as sk

from monitor.metrics import averages, confusion
from monitor.metrics.context import Context
from monitor.metrics.outcome import REASONS
from tests.support.counts import (
    batch,
    binary_counts,
    matrix_counts,
    multiclass_counts,
    multilabel_counts,
    parameters,
    values,
)
from tests.support.recipes import IMBALANCED, expand

OF_DECISIONS = [
    (averages.precision_average, sk.precision_score),
    (averages.recall_average, sk.recall_score),
    (averages.f1_average, sk.f1_score),
]


def context_of(matrix) -> Context:
    return Context(matrix_counts(matrix), [parameters(len(matrix))])


def labels_and_decisions(y_true, y_pred, n_classes=3) -> Context:
    counts = multiclass_counts(y_true, np.eye(n_classes)[y_pred], n_classes=n_classes)
    return Context(counts, [parameters(n_classes)])


def multilabel(y_true, y_score) -> Context:
    return Context(multilabel_counts(y_true, y_score), [parameters(len(y_true[0]), task="multilabel")])


def read(metric, context) -> dict[tuple[str, ...], float]:
    return values(metric(context), context.parameters[0])


def reasons(outcome) -> list[str]:
    return [REASONS[code] for code in outcome.reason[0].tolist()]


def test_imbalanced_classes():
    context = context_of(IMBALANCED)
    f1 = read(averages.f1_average, context)
    assert [round(f1[a,], 4) for a in ("macro", "weighted", "micro")] == [0.5271, 0.9053, 0.91]
    assert round(read(averages.recall_average, context)["macro",], 4) == 0.5648


def test_class_in_neither_labels_nor_decisions_is_left_out():
    context = labels_and_decisions([0, 0, 1, 1], [0, 1, 1, 1])
    assert read(averages.recall_average, context)["macro",] == 0.75


def test_recall_is_over_classes_with_events():
    context = labels_and_decisions([0, 0, 1, 1], [0, 2, 1, 2])
    assert read(averages.recall_average, context)["macro",] == 0.5
    assert read(confusion.balanced_accuracy, context) == {(): 0.5}


def test_f1_counts_false_alarms_of_a_class_without_events():
    context = labels_and_decisions([0, 0, 0, 1], [2, 0, 0, 1])
    assert read(averages.f1_average, context)["macro",] == pytest.approx(0.6)


def test_precision_without_decisions_for_a_class_with_events_is_undefined():
    context = context_of(IMBALANCED)
    assert reasons(averages.precision_average(context)) == ["class_never_predicted", "", ""]
    true, predicted = expand(IMBALANCED)
    weighted = sk.precision_score(true, predicted, average="weighted", zero_division=np.nan)
    assert read(averages.precision_average, context)["weighted",] == pytest.approx(weighted)
    assert read(averages.precision_average, context)["micro",] == 0.91


def test_precision_of_a_class_without_events_is_zero():
    context = labels_and_decisions([0, 0, 1, 1], [0, 2, 1, 1])
    precision = read(averages.precision_average, context)
    assert precision["macro",] == pytest.approx(2 / 3)
    assert precision["weighted",] == 1


def test_only_decisions_for_other_leave_no_precision():
    outcome = averages.precision_average(context_of([[0, 0, 5], [0, 0, 5]]))
    assert reasons(outcome) == ["class_never_predicted", "class_never_predicted", "never_predicted"]


@pytest.mark.parametrize(("metric", "oracle"), OF_DECISIONS)
@pytest.mark.parametrize("task", ["multiclass", "multilabel"])
def test_scikit_learn_agrees_in_a_batch(metric, oracle, task):
    names = ["macro", "weighted", "micro"] + ["samples"] * (task == "multilabel")
    random = np.random.default_rng(7)
    cases, expected = [], []
    for _ in range(5):
        if task == "multiclass":
            true = random.choice(4, 150, p=(0.6, 0.2, 0.15, 0.05))
            decided = np.where(random.random(150) < 0.6, true, random.integers(0, 4, 150))
            cases.append(multiclass_counts(true, np.eye(4)[decided], n_classes=4))
        else:
            true = (random.random((150, 4)) < (0.5, 0.3, 0.1, 0.05)).astype(int)
            decided = (random.random((150, 4)) < 0.2 + 0.6 * true).astype(int)
            cases.append(multilabel_counts(true, decided))
        expected.append([oracle(true, decided, average=name, zero_division=np.nan) for name in names])
    models = [parameters(4, task=task, classes=tuple(f"{i}{c}" for c in "abcd")) for i in range(5)]
    outcome = metric(Context(batch(cases), models))
    assert list(values(outcome, models[0])) == [(name,) for name in names]
    assert outcome.value.numpy() == pytest.approx(np.array(expected), abs=1e-9)


def test_macro_averages_rest_on_the_rarest_class():
    outcome = averages.recall_average(context_of([[90, 0, 0], [0, 30, 0], [0, 0, 19]]))
    assert outcome.low_support.tolist() == [[True, False, False]]
    assert outcome.support.tolist() == [[139, 139, 139]]


def test_events_without_labels_and_decisions_are_in_no_average():
    context = multilabel([[0, 0], [0, 0]], [[0, 0], [0, 0]])
    assert reasons(averages.precision_average(context)) == [
        "never_predicted",
        "no_positives",
        "never_predicted",
        "never_predicted",
    ]
    assert reasons(averages.recall_average(context)) == ["no_positives"] * 4
    assert reasons(averages.f1_average(context)) == [
        "no_decisions_or_positives",
        "no_positives",
        "no_decisions_or_positives",
        "no_decisions_or_positives",
    ]


def test_false_alarms_on_events_without_labels():
    context = multilabel([[0, 0], [0, 0]], [[1, 0], [0, 0]])
    assert read(averages.precision_average, context) == pytest.approx(
        {("macro",): 0, ("weighted",): np.nan, ("micro",): 0, ("samples",): 0}, nan_ok=True
    )
    assert read(averages.f1_average, context)["samples",] == 0


def test_micro_average_of_counts_beyond_float32():
    n = 2**24 + 1
    context = context_of([[n, 0, 0], [0, n - 2, 1]])
    assert read(averages.f1_average, context)["micro",] == (2 * (2 * n - 2)) / (4 * n - 3)


def test_binary_tasks_have_averages_of_decisions():
    context = Context(binary_counts([0, 0, 1, 1], [0.1, 0.6, 0.7, 0.9]), [parameters()])
    assert read(averages.recall_average, context)["macro",] == 0.75
