from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.metrics.catalog import CATALOG
from monitor.metrics.outcome import REASONS as CODES
from monitor.report import Value
from monitor.wording import (
    REASONS,
    explain,
    headline,
    imbalance_zone,
    iso,
    number,
    printable,
    title,
    utc,
    written,
)
from tests.support.reports import multilabel_window, window_report


def test_every_reason_has_words():
    assert set(REASONS) == set(CODES) - {""}
    assert explain("a_new_one") == "a new one"


def test_titles_tell_values_of_a_family_apart():
    def titled(name: str, **labels: str) -> str:
        return title(Value(name, {k.rstrip("_"): v for k, v in labels.items()}, 1.0, None, 1))

    assert titled("classifier_accuracy") == "Accuracy"
    assert titled("classifier_recall_at_fpr", class_="a", max_fpr="0.05") == "Recall at FPR 0.05 (a)"
    assert titled("classifier_partial_roc_auc", max_fpr="0.05") == "Partial ROC AUC up to FPR 0.05"
    assert titled("classifier_brier_score", class_="a", subset="all") == "Brier score (a)"
    assert titled("classifier_brier_score", class_="", subset="positive") == "Brier score (positive)"
    assert titled("classifier_some_thing", k="5") == "Some thing (5)"
    assert titled("classifier_fbeta", class_="a", beta="6.324555320336759") == "F-beta 6.32 (a)"
    assert titled("classifier_top_k_accuracy", k="5") == "Top-5 accuracy"
    assert titled("classifier_recall_at_k", class_="{a}", k="0.01") == "Recall at k = 0.01 ({a})"
    assert titled("classifier_best_threshold", class_="a", criterion="f1") == "Best threshold by f1 (a)"


@pytest.mark.parametrize("metric", CATALOG, ids=lambda metric: metric.name)
def test_every_family_has_a_title(metric):
    labels = {name: {"beta": "2.0", "max_fpr": "0.1", "k": "5"}.get(name, name) for name in metric.labels}
    found = title(Value(metric.name, labels, 1.0, None, 1))
    assert found[0].isupper()
    assert "{" not in found and "_" not in found


def test_a_threshold_that_decides_for_none_is_not_written_as_1():
    def threshold(value: float) -> str:
        labels = {"class": "a", "criterion": "cost"}
        return written(Value("classifier_best_threshold", labels, value, None, 1))

    assert threshold(1.0) == "1.000000"
    assert threshold(float(np.float32(0.76))) == "0.760000"
    assert threshold(0.12345678) == "0.123456"
    assert threshold(1.0000001192092896) == "above 1"
    assert written(Value("classifier_expected_cost", {}, 47.25, None, 1)) == "47.2500"


@pytest.mark.parametrize(
    ("ratio", "color"),
    [(0.0, "red"), (0.0099, "red"), (101.0, "red"), (0.01, "yellow"), (0.099, "yellow"), (11.0, "yellow"),
     (0.1, "green"), (1.0, "green"), (9.9, "green")],
)  # fmt: skip
def test_imbalance_has_zones(ratio, color):
    assert imbalance_zone(ratio).startswith(f"{color}: ")


def test_the_headline_of_a_binary_model_is_its_positive_class():
    def labels(family: str, *values: dict[str, str]) -> list[dict[str, str]]:
        found = tuple(Value(family, label_set, 1.0, None, 1) for label_set in values)
        return [dict(v.labels) for v in headline(replace(window_report(), values=found), [family])]

    whole, positive, negative = ({"class": name} for name in ("", "fraud", "legit"))
    assert labels("classifier_x", whole, negative, positive) == [positive]
    assert labels("classifier_x", whole) == [whole]
    assert labels("classifier_x", {"class": "fraud", "subset": "positive"}) == []


def test_the_headline_of_other_models_is_the_whole_and_the_macro_average():
    values = tuple(
        Value("classifier_x", labels, 1.0, None, 1)
        for labels in ({"class": "a"}, {"class": ""}, {"average": "macro"}, {"average": "samples"})
    )
    window = replace(multilabel_window(), values=values)
    assert [v.labels for v in headline(window, ["classifier_x"])] == [{"class": ""}, {"average": "macro"}]


def test_numbers():
    assert [number(x) for x in (0.0, 1.0, 0.12345, -0.5, 0.00012)] == [
        "0.0000", "1.0000", "0.1235", "-0.5000", "1.2e-04",
    ]  # fmt: skip


def test_times():
    assert utc(1_764_417_600_000_001) == "2025-11-29 12:00:00 UTC"
    assert iso(1_764_417_600_000_001) == "2025-11-29T12:00:00.000001Z"
    assert (utc(None), iso(None)) == ("-", None)


@given(st.text())
def test_printable_text_stays_and_all_else_is_escaped(text):
    assert printable(text).isprintable()
    assert printable(text) == text or not text.isprintable()
