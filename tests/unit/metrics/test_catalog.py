from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from monitor.metrics import catalog
from monitor.metrics.catalog import CATALOG, compute_all
from monitor.metrics.context import Context
from monitor.metrics.labels import label_sets
from monitor.metrics.outcome import REASONS, Outcome
from tests.support.counts import binary_counts, multiclass_counts, multilabel_counts, parameters
from tests.support.recipes import recipe

FAMILIES = """
events class_support prevalence imbalance_ratio predicted_rate score_mean label_coverage threshold
low_support classes_defined window_confusions accuracy balanced_accuracy matthews_corrcoef precision recall
specificity npv f1 fbeta lift top_k_accuracy precision_average recall_average f1_average roc_auc
average_precision partial_roc_auc partial_roc_auc_mcclish recall_at_fpr precision_at_k recall_at_k
roc_auc_average average_precision_average precision_at_reference_prevalence
average_precision_at_reference_prevalence brier_score brier_skill_score brier_reliability brier_resolution
brier_uncertainty log_loss calibration_error calibration_error_debiased calibration_error_expected
calibration_slope calibration_intercept calibration_p_value expected_cost best_threshold
"""


def test_every_family_stands_in_the_table_once():
    assert [metric.name for metric in CATALOG] == [f"classifier_{name}" for name in FAMILIES.split()]


@pytest.mark.parametrize("metric", CATALOG, ids=lambda metric: metric.name)
def test_rows_are_fit_for_an_exposition(metric):
    for sentence in (metric.help, metric.use, metric.compare or "."):
        assert sentence.endswith(".")
        assert "|" not in sentence
    assert "\n" not in metric.help
    assert set(metric.undefined) <= set(REASONS[1:])
    assert metric.range[0] < metric.range[1]


def test_headline_families():
    assert {metric.name for metric in CATALOG if metric.headline} == {
        "classifier_recall",
        "classifier_precision",
        "classifier_class_support",
    }


def test_tasks_get_their_own_families():
    names = {
        task: {metric.name.removeprefix("classifier_") for metric, _ in compute_all(Context(counts, [p]))}
        for task, counts, p in (
            ("binary", binary_counts([], []), parameters()),
            ("multiclass", multiclass_counts([], [], n_classes=3), parameters(3)),
            (
                "multilabel",
                multilabel_counts(np.zeros((0, 3)), np.zeros((0, 3))),
                parameters(3, task="multilabel"),
            ),
        )
    }
    assert names["binary"] - names["multiclass"] == {"threshold", "fbeta"}
    assert names["multiclass"] - names["binary"] == {
        "roc_auc_average",
        "average_precision_average",
        "top_k_accuracy",
    }
    assert names["multilabel"] - names["binary"] == {"roc_auc_average", "average_precision_average"}
    assert names["binary"] - names["multilabel"] == set()


def test_one_metric_that_fails_does_not_take_the_others_with_it(monkeypatch):
    def broken(context):
        raise ZeroDivisionError("broken")

    rows = tuple(replace(m, compute=broken) if m.name == "classifier_recall" else m for m in CATALOG)
    monkeypatch.setattr(catalog, "CATALOG", rows)
    context = Context(binary_counts(*recipe()), [parameters()])
    outcomes = {metric.name: outcome for metric, outcome in compute_all(context)}
    assert isinstance(outcomes.pop("classifier_recall"), ZeroDivisionError)
    assert all(isinstance(outcome, Outcome) for outcome in outcomes.values())


def test_a_full_device_is_told_to_the_caller(monkeypatch):
    def full(context):
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(catalog, "CATALOG", (replace(CATALOG[0], compute=full),))
    with pytest.raises(torch.OutOfMemoryError):
        list(compute_all(Context(binary_counts(*recipe()), [parameters()])))


def test_label_values_that_are_numbers_are_written_by_repr():
    p = parameters(max_fpr=(0.1, 1.0), at_k=(5, 0.01), costs=(4.0, 1.0))
    outcomes = {
        metric.name: outcome for metric, outcome in compute_all(Context(binary_counts(*recipe()), [p]))
    }

    def labels(name):
        return label_sets(outcomes[name].labels, p)

    assert labels("classifier_recall_at_fpr") == (
        {"class": "1", "max_fpr": "0.1"},
        {"class": "1", "max_fpr": "1.0"},
    )
    assert labels("classifier_recall_at_k") == ({"class": "1", "k": "5"}, {"class": "1", "k": "0.01"})
    assert labels("classifier_fbeta")[1] == {"class": "1", "beta": "2.0"}
