"""What a metric would be at another prevalence, against windows that have it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.alerts.prevalence import MOVING, cells, value_at, wilson
from monitor.alerts.rule import Rule
from monitor.metrics.catalog import CATALOG
from monitor.report import WindowReport
from tests.support.reports import multilabel_window, number, window_report

counts = st.integers(1, 50)
rows = st.tuples(counts, counts, st.integers(0, 5))


def rule(family: str, **labels: str) -> Rule:
    return Rule("R", "fraud", f"classifier_{family}", labels=labels, class_="fraud")


def expected(family: str, window: WindowReport) -> float:
    tp, fn, fp, tn = cells(window, "fraud")
    return {
        "npv": tn / (tn + fn),
        "fbeta": 5 * tp / (5 * tp + 4 * fn + fp),
        "expected_cost": (20 * fn + 3 * fp) / window.labeled,
    }.get(family) or next(
        value.value or 0.0
        for value in window.values
        if value.name == f"classifier_{family}" and value.labels.get("class", "fraud") == "fraud"
    )


@pytest.mark.parametrize(
    "family", ["precision", "npv", "predicted_rate", "lift", "f1", "fbeta", "accuracy", "expected_cost"]
)
@given(rows, rows, st.integers(2, 9))
def test_it_is_what_a_window_with_more_of_the_class_has(
    family: str, legit: tuple[int, int, int], fraud: tuple[int, int, int], times: int
) -> None:
    before, after = (
        replace(
            window_report(confusion=(legit, (fraud[0] * n, fraud[1] * n, fraud[2] * n))), costs=(20.0, 3.0)
        )
        for n in (1, times)
    )
    reference = cells(after, "fraud").positives / after.labeled
    of_beta = rule(family, beta="2.0") if family == "fbeta" else rule(family)
    assert value_at(of_beta, before, "fraud", reference) == pytest.approx(expected(family, after))


def test_scores_are_weighed_by_subset_and_average_precision_is_looked_up() -> None:
    window = window_report()
    positive = number("classifier_brier_score", 0.5, 202, class_="fraud", subset="positive")
    negative = number("classifier_brier_score", 0.01, 9798, class_="fraud", subset="negative")
    name = "classifier_average_precision_at_reference_prevalence"
    window = replace(
        window, values=(*window.values, positive, negative, number(name, 0.33, 10_000, class_="fraud"))
    )
    assert value_at(rule("brier_score", subset="all"), window, "fraud", 0.1) == pytest.approx(0.059)
    assert value_at(rule("brier_score", subset="positive"), window, "fraud", 0.1) is None
    assert value_at(rule("average_precision"), window, "fraud", 0.1) == 0.33


def test_what_does_not_follow_or_is_undefined_is_none() -> None:
    window = window_report()
    for family in ("log_loss", "average_precision", "brier_score", "expected_cost"):
        assert value_at(rule(family, subset="all"), window, "fraud", 0.1) is None
    without = window_report(confusion=((90, 10, 0), (0, 0, 0)))
    assert value_at(rule("precision"), without, "fraud", 0.1) is None
    assert value_at(rule("accuracy"), multilabel_window(), "a", 0.1) is None


def test_cells_of_multilabel_windows() -> None:
    window = multilabel_window()
    for name, ((tn, fp), (fn, tp)) in zip(window.classes, window.confusions, strict=True):
        assert cells(window, name) == (tp, fn, fp, tn)


def test_wilson_is_the_interval_that_everyone_knows() -> None:
    assert wilson(8, 10) == pytest.approx((0.490162, 0.943318), abs=1e-6)
    assert wilson(0, 10) == pytest.approx((0.0, 0.277533), abs=1e-6)


def test_the_table_holds_what_the_catalog_says_moves_with_prevalence() -> None:
    assert set(MOVING) <= {metric.name for metric in CATALOG}
    for metric in CATALOG:
        of_class = "class" in metric.labels and "at_reference" not in metric.name
        if of_class and "revalence" in metric.compare and metric.name != "classifier_prevalence":
            assert metric.name in MOVING
