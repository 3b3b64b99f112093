from __future__ import annotations

from dataclasses import replace

import pytest

from monitor.metrics import catalog
from monitor.metrics.catalog import CATALOG, compute_all
from monitor.metrics.outcome import REASONS, Outcome
from tests.support.counts import binary_counts, multiclass_counts, parameters
from tests.support.recipes import recipe

FAMILIES = """
events class_support prevalence imbalance_ratio predicted_rate score_mean label_coverage threshold
low_support classes_defined window_confusions accuracy balanced_accuracy matthews_corrcoef precision recall
specificity npv f1 fbeta precision_average recall_average f1_average roc_auc_average average_precision_average
roc_auc average_precision partial_roc_auc partial_roc_auc_mcclish recall_at_fpr brier_score log_loss
"""


def test_every_family_stands_in_the_table_once():
    assert [metric.name for metric in CATALOG] == [f"classifier_{name}" for name in FAMILIES.split()]


@pytest.mark.parametrize("metric", CATALOG, ids=lambda metric: metric.name)
def test_rows_are_fit_for_an_exposition(metric):
    assert metric.help.endswith(".")
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
        task: {metric.name for metric, _ in compute_all(counts, settings)}
        for task, counts, settings in (
            ("binary", binary_counts([], []), parameters()),
            ("multiclass", multiclass_counts([], [], n_classes=3), parameters(3)),
        )
    }
    assert names["binary"] - names["multiclass"] == {"classifier_threshold"}
    assert names["multiclass"] - names["binary"] == {
        "classifier_roc_auc_average",
        "classifier_average_precision_average",
    }


def test_one_metric_that_fails_does_not_take_the_others_with_it(monkeypatch):
    def broken(context):
        raise ZeroDivisionError("broken")

    rows = tuple(replace(m, compute=broken) if m.name == "classifier_recall" else m for m in CATALOG)
    monkeypatch.setattr(catalog, "CATALOG", rows)
    outcomes = {
        metric.name: outcome for metric, outcome in compute_all(binary_counts(*recipe()), parameters())
    }
    assert isinstance(outcomes.pop("classifier_recall"), ZeroDivisionError)
    assert all(isinstance(outcome, Outcome) for outcome in outcomes.values())


def test_label_values_that_are_numbers_are_written_by_repr():
    outcomes = {
        metric.name: outcome
        for metric, outcome in compute_all(binary_counts(*recipe()), parameters(max_fpr=(0.1, 1.0), beta=2))
    }
    assert outcomes["classifier_recall_at_fpr"].labels == (
        (("class", "1"), ("max_fpr", "0.1")),
        (("class", "1"), ("max_fpr", "1.0")),
    )
    assert outcomes["classifier_fbeta"].labels[1] == (("class", "1"), ("beta", "2.0"))
