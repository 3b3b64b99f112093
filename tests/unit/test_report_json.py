import json

import pytest

from monitor.report_json import metric_objects, model_objects, report_object
from tests.support.reports import empty_window, example, multilabel_window, report, window_report


def test_a_value_has_its_interval_and_its_counts():
    found = next(
        m
        for m in metric_objects(window_report())
        if m["labels"].get("class") == "fraud" and m["name"] == "classifier_recall"
    )
    (interval,) = found.pop("intervals")
    assert interval["method"] == "wilson"
    assert interval["lower"] < found["value"] < interval["upper"]
    assert interval["standard_error"] == pytest.approx((169 / 202 * 33 / 202 / 202) ** 0.5)
    assert found == {
        "name": "classifier_recall",
        "labels": {
            "model": "fraud",
            "version": "2026-11-01",
            "window": "last_10k",
            "segment": "",
            "class": "fraud",
        },
        "value": 169 / 202,
        "numerator": 169,
        "denominator": 202,
        "support": 202,
        "low_support": False,
        "threshold": 0.5,
        "averaging": None,
        "start": "2025-11-29T11:00:00.000000Z",
        "end": "2025-11-29T12:00:00.000000Z",
    }


def test_a_value_without_an_interval_says_why():
    (found,) = (m for m in metric_objects(window_report()) if m["name"] == "classifier_log_loss")
    assert (found["intervals"], found["no_interval"]) == ([], "no_interval_method")


def test_an_average_says_of_what_kind():
    found = [m for m in metric_objects(window_report()) if m["name"] == "classifier_f1_average"]
    assert [m["averaging"] for m in found] == ["macro", "weighted"]


def test_a_multilabel_window_has_a_threshold_and_a_matrix_a_class():
    window = multilabel_window()
    (shown,) = report_object(report(window), [window])["reports"]
    assert shown["confusion"] == {
        "class": ("a", "b"),
        "true": ("0", "1"),
        "predicted": ("0", "1"),
        "counts": (((2, 4), (1, 3)), ((3, 4), (0, 3))),
    }
    assert (shown["threshold"], shown["thresholds"]) == (None, {"a": 0.5, "b": 0.6})
    thresholds = {m["labels"].get("class"): m["threshold"] for m in shown["metrics"]}
    assert thresholds == {"a": 0.5, "b": 0.6, "": None, None: None}


def test_curves_are_there_when_asked_for():
    windows = example().windows
    assert not any("curves" in shown for shown in report_object(example(), windows)["reports"])
    shown = report_object(example(), windows, curves=True)["reports"]
    assert [w["segment"] for w in shown if "curves" not in w] == ["region=eu"]
    assert [w["model"] for w in shown if w.get("curves") is not None] == ["fraud", "iris"]
    json.dumps(shown, allow_nan=False)


def test_an_undefined_value_is_null_with_its_reason():
    found = [m for m in metric_objects(empty_window()) if m["name"] == "classifier_recall"]
    assert [(m["value"], m["undefined"]) for m in found] == [(None, "no_positives")] * 2


def test_a_window_says_what_it_covers():
    shown = report_object(example(), example().windows[:1])
    assert shown["evaluated_at"] == "2025-11-29T12:00:05.000000Z"
    (window,) = shown["reports"]
    assert window["start"] == "2025-11-29T11:00:00.000000Z"
    assert window["confusion"]["predicted"] == ("legit", "fraud", "other")
    assert window["classification_report"].startswith("model fraud")


def test_everything_is_json_without_nan():
    json.dumps(report_object(report(empty_window()), [empty_window()]), allow_nan=False)


def test_models_name_their_windows_and_segments():
    fraud, iris = model_objects(example())
    assert [v["version"] for v in fraud["versions"]] == ["2026-11-01", "2026-12-01"]
    assert fraud["versions"][0]["windows"] == ["last_10k", "all"]
    assert fraud["versions"][0]["segments"] == ["", "region=eu"]
    assert iris["model"] == "iris"
