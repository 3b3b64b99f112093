from __future__ import annotations

from monitor.demo.readings import RECALL, Api, Measure, Reading, reading, total

EXPOSITION = """\
# HELP monitor_events_rejected_total Records that could not be used, by reason.
# TYPE monitor_events_rejected_total counter
monitor_events_rejected_total{model="a b",reason="not_json"} 3.0
monitor_events_rejected_total{model="",reason="unknown_model"} 4.0
monitor_events_rejected_total_other{model=""} 100.0
monitor_ready 1.0
"""

METRICS = [
    {"name": "classifier_recall", "labels": {"class": "benign"}, "value": 0.5, "intervals": []},
    {
        "name": "classifier_recall",
        "labels": {"class": "malignant", "window": "w"},
        "value": 0.9,
        "intervals": [{"method": "wilson", "lower": 0.8, "upper": 0.95}],
    },
    {"name": "classifier_roc_auc", "labels": {"class": "malignant"}, "value": None, "undefined": "one_class"},
]


def test_total_adds_the_series_of_one_family():
    assert total(EXPOSITION, "monitor_events_rejected_total") == 7
    assert total(EXPOSITION, "monitor_ready") == 1
    assert total(EXPOSITION, "monitor_consumer_lag") == 0


def test_a_reading_is_found_by_name_and_labels():
    assert reading(METRICS, RECALL) == Reading(0.9, 0.8, 0.95)


def test_undefined_and_missing_values_have_no_number():
    assert reading(METRICS, Measure("", "classifier_roc_auc", {"class": "malignant"})) == Reading()
    assert reading(METRICS, Measure("", "classifier_f1", {})) == Reading()


def test_a_daemon_that_does_not_answer_gives_no_look():
    api = Api("http://127.0.0.1:1")
    assert api.ready() is None
    assert api.look() is None
