"""What a stored reference tells of metrics, and of how sure they were."""

from __future__ import annotations

import pytest
from scipy.stats import binomtest

from tests.support.baselines import example


def test_proportions_are_counts() -> None:
    baseline = example()
    assert baseline.proportion("classifier_recall", "fraud") == (900, 1200)
    assert baseline.proportion("classifier_recall", "legit") == (1620, 1800)
    assert baseline.proportion("classifier_accuracy", "") == (2520, 3000)


@pytest.mark.parametrize(
    ("family", "class_"),
    [("classifier_roc_auc", "fraud"), ("classifier_precision", "fraud"), ("classifier_recall", "other")],
)
def test_what_is_no_proportion_or_not_there_has_none(family: str, class_: str) -> None:
    assert example().proportion(family, class_) is None


@pytest.mark.parametrize(("side", "end"), [("floor", "low"), ("ceiling", "high")])
def test_the_bound_of_a_proportion_is_exact(side: str, end: str) -> None:
    interval = binomtest(900, 1200).proportion_ci(0.95, "exact")
    found = example().bound("classifier_recall", "fraud", {}, side)
    assert found == pytest.approx(getattr(interval, end), abs=1e-9)


def test_other_metrics_have_the_interval_that_was_stored() -> None:
    baseline = example()
    labels = {"max_fpr": "0.1"}
    assert baseline.value("classifier_partial_roc_auc", "fraud", labels) == 0.5
    assert baseline.bound("classifier_partial_roc_auc", "fraud", labels, "floor") == 0.25
    assert baseline.bound("classifier_partial_roc_auc", "fraud", labels, "ceiling") == 0.75
    assert baseline.value("classifier_partial_roc_auc", "fraud", {"max_fpr": "0.2"}) is None
    assert baseline.bound("classifier_partial_roc_auc", "fraud", {"max_fpr": "0.2"}, "floor") is None


def test_the_class_of_the_whole_may_be_written_or_not() -> None:
    baseline = example()
    assert baseline.value("classifier_balanced_accuracy", "", {}) == 0.825
    assert baseline.value("classifier_log_loss", "", {}) == 0.4
    assert baseline.bound("classifier_log_loss", "", {}, "ceiling") is None
