from __future__ import annotations

from monitor.demo.readings import (
    MEASURES,
    RECALL,
    Alert,
    Api,
    Measure,
    Reading,
    alert,
    reading,
    total,
    windows,
)

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
    assert str(Reading()) == "-"
    assert str(Reading(0.9, 0.8, 0.95)) == "0.900 [0.800, 0.950]"


def test_windows_are_told_apart_by_version_and_segments_belong_to_them():
    north, south = MEASURES[1], MEASURES[2]
    whole = {"version": "v1", "complete": True, "start": "2026-01-01T00:00:00Z", "metrics": METRICS}
    other = whole | {"version": "v2", "complete": False, "metrics": []}
    found = windows({"": [whole, other], "site=north": [whole], "site=south": []})
    assert (found["v1"].complete, found["v2"].complete) == (True, False)
    assert found["v1"].start == 1767225600
    assert found["v1"].reading(RECALL) == found["v1"].reading(north) == Reading(0.9, 0.8, 0.95)
    assert found["v1"].reading(south) == found["v2"].reading(RECALL) == Reading()


def test_an_alert_says_what_its_version_does_and_since_when():
    found = {"alert": "Low", "labels": {"version": "v2"}, "state": "firing", "sentence": "so low"}
    assert alert(found | {"started": None}) == Alert("Low", "v2", "firing", "so low", None)
    moment = {"timestamp": "2026-01-01T00:00:00.500000Z"}
    assert alert(found | {"started": moment}).started == 1767225600.5


def test_a_daemon_that_does_not_answer_gives_no_look():
    api = Api("http://127.0.0.1:1")
    assert api.ready() is None
    assert api.look() is None
