import json

from monitor.report_json import metric_objects, model_objects, report_object
from tests.support.reports import empty_window, example, report, window_report


def test_a_value_has_its_interval_and_its_counts():
    found = next(
        m
        for m in metric_objects(window_report())
        if m["labels"].get("class") == "fraud" and m["name"] == "classifier_recall"
    )
    (interval,) = found.pop("intervals")
    assert interval["method"] == "wilson"
    assert interval["lower"] < found["value"] < interval["upper"]
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
    }


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
