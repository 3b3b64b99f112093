"""What Alertmanager is told of which alert."""

from __future__ import annotations

import json
from dataclasses import replace

from monitor.alerts.alert import Alert, Evidence, Key, Moment
from monitor.alerts.rule import CALIBRATION, Rule
from monitor.notify.payload import TOLD_RESOLVED, Told, notice

NOW = 1_764_400_600_000_000
BEGAN = 1_764_400_000_250_000
RULE = Rule("RecallLow", "*", "classifier_recall", severity="page", extra_labels={"team": "payments"})


def alert(model: str = "fraud", version: str = "2", began: int | None = BEGAN, rule: Rule = RULE) -> Alert:
    moment = None if began is None else Moment(7, began, 9)
    key = Key(rule.name, model, version, "", "region=eu", "fraud")
    evidence = Evidence(value=0.61, limit=0.8, support=412)
    return Alert(key, rule, "firing" if moment else "inactive", moment, moment, evidence)


def test_an_alert_as_it_is_posted() -> None:
    found = notice(alert()).tree(NOW, "http://monitor:9464/")
    description = found["annotations"].pop("description")
    assert description.startswith("recall of fraud where region=eu is 0.61")
    assert found == {
        "labels": {
            "alertname": "RecallLow",
            "model": "fraud",
            "version": "2",
            "segment": "region=eu",
            "class": "fraud",
            "severity": "page",
            "team": "payments",
        },
        "annotations": {"summary": "RecallLow of fraud 2", "runbook_url": "docs/runbooks.md#quality"},
        "startsAt": "2025-11-29T07:06:40.250000Z",
        "endsAt": "2025-11-29T07:21:40.000000Z",
        "generatorURL": "http://monitor:9464/",
    }


def test_what_is_empty_is_left_out() -> None:
    found = notice(alert(version="")).tree(NOW, "")
    assert "version" not in found["labels"] and "generatorURL" not in found
    assert found["annotations"]["summary"] == "RecallLow of fraud"


def test_the_link_is_the_rule_s_own_or_the_section_of_its_kind() -> None:
    def link(found: Alert) -> str:
        return dict(notice(found).annotations)["runbook_url"]

    assert link(alert(rule=replace(RULE, runbook="https://wiki/x"))) == "https://wiki/x"
    assert link(alert(rule=replace(RULE, metric=CALIBRATION))) == "docs/runbooks.md#calibration"
    companion = replace(alert(), key=alert().key._replace(alert="RecallLowUndefined"))
    assert link(companion) == "docs/runbooks.md#undefined"


def test_names_of_any_kind_are_json() -> None:
    found = notice(alert(model='a"b\\{{ü\n')).tree(NOW, "")
    assert json.loads(json.dumps(found))["labels"]["model"] == 'a"b\\{{ü\n'


def test_what_does_not_fire_any_more_is_told_as_resolved_for_a_while() -> None:
    told = Told()
    told.update([alert(), alert("other")], NOW)
    before = told.which
    later = told.update([alert("other"), alert(began=None)], NOW + 10)
    assert {dict(n.labels)["model"]: n.resolved_at for n in later} == {"fraud": NOW + 10, "other": None}
    assert told.which != before
    again = told.update([alert("other")], NOW + 10 + TOLD_RESOLVED - 1)
    assert {dict(n.labels)["model"]: n.resolved_at for n in again} == {"fraud": NOW + 10, "other": None}
    assert len(told.update([alert("other")], NOW + 10 + TOLD_RESOLVED)) == 1


def test_an_episode_that_follows_another_is_news() -> None:
    told = Told()
    told.update([alert()], NOW)
    first = told.which
    told.update([alert(began=BEGAN + 1)], NOW)
    assert told.which != first
    [only] = told.update([alert(began=BEGAN + 1)], NOW)
    assert (only.starts_at, only.resolved_at) == (BEGAN + 1, None)


def test_what_was_never_told_as_firing_does_not_resolve() -> None:
    assert Told().update([alert(began=None), replace(alert(), historic=True)], NOW) == []


def test_one_who_hands_over_says_nothing() -> None:
    told = Told()
    told.update([alert()], NOW)
    assert told.update(None, NOW) == []
    assert told.update([], NOW) == [], "the next owner knows better whether it resolved"


def test_an_end_is_never_before_the_start() -> None:
    told = Told()
    told.update([alert(began=NOW + 1_000_000)], NOW)
    [resolved] = told.update([], NOW)
    tree = resolved.tree(NOW, "")
    assert tree["endsAt"] == tree["startsAt"]
