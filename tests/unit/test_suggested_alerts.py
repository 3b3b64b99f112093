from dataclasses import replace

import pytest
import yaml

from monitor.alert_rules import rules
from monitor.config import load_config
from monitor.presets import Presets
from monitor.suggested_alerts import suggest, suggestions
from tests.support.reports import empty_window, number, report, window_report
from tests.support.web import HOSTILE

CONFIG = """
kafka: {bootstrap_servers: [b], topics: [t]}
models:
  fraud: {task: binary, classes: [legit, fraud], at_k: [100], costs: {false_negative: 4, false_positive: 1}}
  iris: {task: multiclass, classes: [setosa, versicolor, virginica]}
alerts:
  rules:
"""


def resolved(text, tmp_path):
    """Return the rules that a configuration with these suggestions has."""
    path = tmp_path / "monitor.yaml"
    path.write_text(CONFIG + "".join(f"    {line}\n" for line in text.splitlines()))
    return rules(load_config(path, {}))


def window(**values):
    """Return the example with the values that presets show and the example lacks."""
    more = (
        number("classifier_brier_score", 0.2, 200, half=0.01, class_="fraud", subset="positive"),
        number("classifier_fbeta", 0.7, 10_000, half=0.02, class_="fraud", beta="2.0"),
        number("classifier_precision_at_k", 0.61, 100, half=0.1, class_="fraud", k="100"),
        number("classifier_recall_at_k", 0.3, 200, half=0.02, class_="fraud", k="100"),
    )
    found = window_report(**values)
    # The example has an interval where the catalog has none.
    those = [v._replace(intervals=()) if v.name == "classifier_recall_at_fpr" else v for v in found.values]
    return replace(found, values=(*those, *more))


@pytest.mark.parametrize("preset", [None, "high_cost", "low_cost"])
def test_suggestions_are_rules_that_can_be_configured_as_they_stand(tmp_path, preset):
    presets = Presets({"fraud": preset} if preset else {}, ("fraud",))
    text = suggest(window(), presets)
    found = resolved(text, tmp_path)
    assert len(found) == len(text.splitlines()) > 1
    # docs/alerting.md: what has no bound on false alarms wakes nobody.
    paging = {rule.condition for rule in found if rule.severity == "page"}
    assert paging == (set() if preset == "high_cost" else {"sequential"})
    assert "ticket" in {rule.severity for rule in found}


def test_limits_are_the_worse_ends_of_intervals_to_the_better_for_the_model():
    found = yaml.safe_load(suggest(window(), Presets({"fraud": "high_cost"}, ("fraud",))))
    assert found["FraudPartialRocAucLow"] == {
        "model": "fraud", "metric": "partial_roc_auc", "class": "fraud", "max_fpr": 0.1, "floor": 0.56,
        "condition": "interval", "window": "last_10k", "for": 3, "severity": "ticket",
    }  # fmt: skip
    assert found["FraudBrierScorePositiveHigh"]["ceiling"] == 0.21
    assert found["FraudFbetaLow"]["floor"] == 0.68


def test_a_recall_is_watched_event_by_event():
    found = yaml.safe_load(suggest(window(), Presets()))
    assert found["FraudRecallLow"] == {
        "model": "fraud", "metric": "recall", "class": "fraud", "floor": 0.77, "condition": "sequential",
        "severity": "page",
    }  # fmt: skip


def test_classes_without_a_positive_one_are_held_by_their_average(tmp_path):
    iris = window_report(
        model="iris",
        classes=("setosa", "versicolor", "virginica"),
        confusion=((50, 0, 0, 0), (0, 47, 3, 0), (0, 2, 47, 1)),
    )
    found = resolved(suggest(iris, Presets()), tmp_path)
    assert "classifier_recall_average" in {rule.metric for rule in found}


def test_rules_are_those_of_the_version_with_the_newest_event_which_is_named():
    worse = window_report(version="2", confusion=((9660, 138, 0), (102, 98, 2)))
    both = report(worse, replace(worse, window="all"), window(version="1"), empty_window(version="3"))
    *versions, unlabeled = both.versions
    for older, newer, floor in ((0, 1, 0.77), (1, 0, 0.41)):
        moved = list(versions)
        moved[newer] = replace(moved[newer], last_event=moved[older].last_event + 1)
        last = replace(unlabeled, labeled_events=0, last_event=moved[newer].last_event + 1)
        head, *lines = suggestions(replace(both, versions=(*moved, last)), Presets())
        assert f"by what fraud {versions[newer].version} did here" in head
        assert yaml.safe_load("\n".join(lines))["alerts"]["rules"]["FraudRecallLow"]["floor"] == floor


def test_nothing_is_suggested_by_one_class_and_it_is_said_why():
    alone = window(confusion=((9660, 138, 0), (0, 0, 0)))
    assert suggest(alone, Presets()) == ""
    assert list(suggestions(report(alone), Presets())) == [
        "No alert rules are proposed for fraud 2026-11-01: all labeled events are of class legit, and "
        "nothing is known of the others."
    ]


def test_nothing_is_suggested_by_too_little():
    assert suggest(empty_window(), Presets()) == ""
    few = window_report(confusion=((9, 1, 0), (1, 2, 0)), ranks=None)
    assert "Recall" not in suggest(few, Presets())


@pytest.mark.parametrize("name", [HOSTILE, "yes", "2026-11-01", "0123", "a: b", "*", "\x7f"])
def test_any_name_is_read_as_it_is(name):
    for rule in yaml.safe_load(suggest(window(model=name, classes=("x", name)), Presets())).values():
        assert rule["model"] == name
        assert rule["class"] in (name, "fraud")


def test_costs_have_a_slack_in_their_own_unit():
    cost = number("classifier_expected_cost", 40.0, 10_000, class_="fraud")
    found = yaml.safe_load(suggest(replace(window(), values=(*window().values, cost)), Presets()))
    assert found["FraudExpectedCostHigh"]["ceiling"] == 50.0


def test_a_floor_that_nothing_is_below_is_no_rule():
    low = number("classifier_partial_roc_auc", 0.001, 10_000, half=0.01, class_="fraud", max_fpr="0.1")
    assert suggest(replace(window_report(), values=(low,)), Presets()) == ""
