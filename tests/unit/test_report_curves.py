import json
from dataclasses import replace

import numpy as np
import pytest

from monitor.report_curves import curves_object, follows_threshold
from tests.support.reports import multilabel_window, window_curves, window_report


def of_class(**changes):
    window = replace(window_report(), curves=window_curves(), **changes)
    (found,) = curves_object(window)["classes"]
    assert found["class"] == "fraud"
    return found


def test_points_of_the_curves():
    found = of_class()
    threshold = [float(np.nextafter(0.8, 1)), 0.4, 0.0]
    assert found["roc"] == {"fpr": [0.0, 2 / 6, 1.0], "tpr": [0.0, 0.75, 1.0], "threshold": threshold}
    assert found["precision_recall"] == {
        "precision": [None, 0.6, 0.4],
        "recall": [0.0, 0.75, 1.0],
        "threshold": threshold,
    }


def test_the_sweep_has_costs_where_the_model_has():
    assert set(of_class()["thresholds"]) == {"threshold", "precision", "recall", "f1"}
    sweep = of_class(costs=(8.0, 2.0))["thresholds"]
    assert sweep["f1"] == [0.0, 6 / 9, 8 / 14]
    assert sweep["expected_cost"] == [3.2, 1.2, 1.2]
    assert sweep["fbeta"] == [0.0, 15 / 21, 20 / 26]


def test_the_other_tables():
    found = of_class()
    reliability = found["reliability"]
    assert [reliability[name][3] for name in reliability] == [10, 0.25, 0.4, 0.168, 0.687]
    assert [reliability[name][0] for name in reliability] == [0, None, None, None, None]
    assert found["confidence_decay"]["percent"] == list(range(1, 101))
    assert found["confidence_decay"]["value"][-1] == 0.6
    assert found["confidence_decay"]["falls"] is False
    assert found["cost_sensitivity"]["cost_ratio"] == [0.1, 1.0, 10.0]


def test_best_thresholds_say_what_they_would_have_brought():
    cost, f1 = of_class()["best_thresholds"]  # no third: its threshold is undefined
    assert cost == {
        "criterion": "cost",
        "threshold": 0.4,
        "value": 0.9,
        "cross_validated_value": 1.1,
        "own_threshold_value": 1.5,
        "cross_validated_gain": pytest.approx(0.4),
    }
    assert f1["cross_validated_gain"] == pytest.approx(0.1)


def test_without_halves_there_is_no_gain():
    curves = window_curves()
    curves.best[:, :, 2:] = np.nan
    window = replace(window_report(), curves=curves)
    for best in curves_object(window)["classes"][0]["best_thresholds"]:
        assert best["cross_validated_value"] is best["cross_validated_gain"] is None


def test_a_class_without_events_has_no_curves_but_null():
    curves = window_curves()
    for side in (curves.positives, curves.negatives, curves.true_positives, curves.false_positives):
        side[:] = 0
    curves.threshold[:] = np.nan
    window = replace(window_report(), curves=curves)
    text = json.dumps(curves_object(window), allow_nan=False)
    assert json.loads(text)["classes"][0]["roc"]["tpr"] == [None, None, None]


def test_multiclass_curves_are_one_vs_rest_and_of_the_top_label():
    iris = window_report(classes=("x", "y", "z"), confusion=((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0)))
    curves = window_curves(3, 4)
    curves.reliability[3, 0, 0] = 77
    found = curves_object(replace(iris, curves=curves))
    assert [c["class"] for c in found["classes"]] == ["x", "y", "z"]
    assert not any("confidence_decay" in c for c in found["classes"])
    assert found["top_label"]["reliability"]["events"][0] == 77
    assert len(found["top_label"]["confidence_decay"]["value"]) == 100


def test_multilabel_curves_are_of_each_label():
    found = curves_object(replace(multilabel_window(), curves=window_curves(2, 2, 2)))
    assert [c["class"] for c in found["classes"]] == ["a", "b"]
    assert all(len(c["confidence_decay"]["value"]) == 100 for c in found["classes"])
    assert found["top_label"] is None


def test_a_window_may_have_none():
    assert curves_object(window_report()) is None


@pytest.mark.parametrize(
    ("confusion", "follows"),
    [
        (((5, 1, 0), (2, 2, 0)), True),  # within the points beside the threshold
        (((6, 0, 0), (4, 0, 0)), True),
        (((4, 2, 0), (1, 3, 0)), True),
        (((4, 2, 0), (0, 4, 0)), False),  # more hits than any threshold from there on has
        (((3, 3, 0), (2, 2, 0)), False),
    ],
)
def test_decisions_may_be_those_of_the_threshold(confusion, follows):
    window = replace(window_report(confusion=confusion), curves=window_curves())
    assert follows_threshold(window, 0) is follows
    assert follows_threshold(replace(window, curves=None), 0)
