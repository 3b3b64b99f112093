from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import precision_score

from monitor.metrics import averages, confusion
from monitor.metrics.context import Context
from monitor.metrics.outcome import REASONS
from tests.support.counts import binary_counts, matrix_counts, multiclass_counts, parameters, values
from tests.support.recipes import IMBALANCED, expand


def context_of(matrix) -> Context:
    return Context(matrix_counts(matrix), parameters(len(matrix), positive=None))


def labels_and_decisions(y_true, y_pred, n_classes=3) -> Context:
    counts = multiclass_counts(y_true, np.eye(n_classes)[y_pred], n_classes=n_classes)
    return Context(counts, parameters(n_classes))


def test_imbalanced_classes():
    context = context_of(IMBALANCED)
    f1 = values(averages.f1_average(context))
    assert [round(f1[a,], 4) for a in ("macro", "weighted", "micro")] == [0.5271, 0.9053, 0.91]
    assert round(values(averages.recall_average(context))["macro",], 4) == 0.5648


def test_class_in_neither_labels_nor_decisions_is_left_out():
    context = labels_and_decisions([0, 0, 1, 1], [0, 1, 1, 1])
    assert values(averages.recall_average(context))["macro",] == 0.75


def test_recall_is_over_classes_with_events():
    context = labels_and_decisions([0, 0, 1, 1], [0, 2, 1, 2])
    assert values(averages.recall_average(context))["macro",] == 0.5
    assert values(confusion.balanced_accuracy(context)) == {(): 0.5}


def test_f1_counts_false_alarms_of_a_class_without_events():
    context = labels_and_decisions([0, 0, 0, 1], [2, 0, 0, 1])
    assert values(averages.f1_average(context))["macro",] == pytest.approx(0.6)


def test_precision_without_decisions_for_a_class_with_events_is_undefined():
    outcome = averages.precision_average(context_of(IMBALANCED))
    assert [REASONS[code] for code in outcome.reason[0].tolist()] == ["class_never_predicted", "", ""]
    true, predicted = expand(IMBALANCED)
    weighted = precision_score(true, predicted, average="weighted", zero_division=np.nan)
    assert values(outcome)["weighted",] == pytest.approx(weighted)
    assert values(outcome)["micro",] == 0.91


def test_precision_of_a_class_without_events_is_zero():
    context = labels_and_decisions([0, 0, 1, 1], [0, 2, 1, 1])
    precision = values(averages.precision_average(context))
    assert precision["macro",] == pytest.approx(2 / 3)
    assert precision["weighted",] == 1


def test_only_decisions_for_other_leave_no_precision():
    outcome = averages.precision_average(context_of([[0, 0, 5], [0, 0, 5]]))
    reasons = [REASONS[code] for code in outcome.reason[0].tolist()]
    assert reasons == ["class_never_predicted", "class_never_predicted", "never_predicted"]


def test_scores_with_a_class_without_events():
    score = np.array([[0.7, 0.2, 0.1], [0.2, 0.7, 0.1], [0.6, 0.3, 0.1], [0.1, 0.8, 0.1]])
    context = Context(multiclass_counts([0, 1, 0, 1], score, n_classes=3), parameters(3))
    assert values(averages.roc_auc_average(context)) == {("macro",): 1, ("weighted",): 1}
    assert values(averages.average_precision_average(context)) == {("macro",): 1, ("weighted",): 1}


def test_scores_with_events_of_one_class():
    context = Context(multiclass_counts([0, 0], np.eye(3)[[0, 1]], n_classes=3), parameters(3))
    outcome = averages.roc_auc_average(context)
    assert {REASONS[code] for code in outcome.reason[0].tolist()} == {"no_class_defined"}
    assert values(averages.average_precision_average(context))["macro",] == 1


def test_bounds_are_averaged_like_values():
    random = np.random.default_rng(3)
    y_true = np.repeat([0, 1, 2], [60, 30, 10])
    score = 0.8 * random.dirichlet((1, 1, 1), 100) + 0.2 * np.eye(3)[y_true]
    exact, binned = (
        averages.roc_auc_average(
            Context(multiclass_counts(y_true, score, n_classes=3, bins=bins), parameters(3))
        )
        for bins in (None, 4)
    )
    distance = (binned.value - exact.value).abs()
    assert (distance > 0).all()
    assert (distance <= binned.resolution_error).all()


def test_micro_average_of_counts_beyond_float32():
    n = 2**24 + 1
    context = Context(matrix_counts([[n, 0, 0], [0, n - 2, 1]]), parameters())
    assert values(averages.f1_average(context))["micro",] == (2 * (2 * n - 2)) / (4 * n - 3)


def test_binary_tasks_have_averages_of_decisions():
    context = Context(binary_counts([0, 0, 1, 1], [0.1, 0.6, 0.7, 0.9]), parameters())
    assert values(averages.recall_average(context))["macro",] == 0.75
