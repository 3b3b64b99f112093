"""What a rollout controller is told of a version."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from monitor.alerts.alert import Alert, Key, Moment
from monitor.alerts.gate import verdict
from monitor.alerts.rule import Rule
from monitor.report import Report
from tests.support.reports import report, window_report

OLD, NEW = "2026-11-01", "2026-12-01"
REPORT = report(window_report(), window_report(version=NEW))
RULE = Rule("Low", "fraud", "classifier_recall")


def alert(state: Any = "inactive", version: str = NEW, name: str = "Low", **changes: Any) -> Alert:
    started = Moment(1, 1, 1) if state == "firing" else None
    key = Key(name, "fraud", version, "", "region=eu", "fraud")
    return replace(Alert(key, RULE, state, started=started), **changes)


def outcome(*alerts: Alert, of: Report | None = REPORT, version: str = NEW) -> tuple[str, str]:
    found = verdict(alerts, of, "fraud", version)
    return found.outcome, "; ".join(found.reasons)


def test_pass_needs_an_alert_that_could_fire() -> None:
    assert outcome(alert(), alert("firing", OLD)) == ("pass", "none of 1 alerts fires")
    assert outcome(alert(version=OLD)) == ("inconclusive", "no alert watches this version")


def test_what_fires_fails_whatever_else_is_so() -> None:
    assert outcome(alert("firing", historic=True)) == ("fail", "Low (region=eu, fraud) fires")
    assert outcome(alert("firing"), alert("pending"), of=None)[0] == "fail"
    assert outcome(alert("no_data", started=Moment(1, 1, 1)))[0] == "fail"


def test_an_undefined_value_is_no_failure_and_no_pass() -> None:
    companion = alert("firing", name="LowUndefined", reason="no labels of class fraud for 45 min")
    assert outcome(alert(), companion) == (
        "inconclusive",
        "LowUndefined (region=eu, fraud): no labels of class fraud for 45 min",
    )


def test_no_data() -> None:
    assert outcome(of=None) == ("no_data", "nothing has been evaluated yet")
    assert outcome(alert(), version="3") == ("no_data", "no event of fraud 3 is known")
    unlabeled = replace(REPORT, versions=tuple(replace(v, labeled_events=0) for v in REPORT.versions))
    assert outcome(alert(), of=unlabeled) == ("no_data", "the version has no labeled event")
    silent = alert("no_data", reason="no event of this version since 2026-11-30T16:11:43Z")
    assert outcome(silent) == ("no_data", "no event of this version since 2026-11-30T16:11:43Z")
    assert outcome(silent, alert())[0] == "inconclusive"


def test_inconclusive() -> None:
    assert outcome(alert("pending")) == ("inconclusive", "Low (region=eu, fraud) is pending")
    waiting = alert(reason="the champion version is not known")
    assert outcome(waiting)[1] == "Low (region=eu, fraud): the champion version is not known"


def test_a_window_has_to_be_complete_and_not_only_the_cumulative_one() -> None:
    cumulative = window_report(version=NEW, window="all")
    incomplete = window_report(version=NEW, complete=False)
    segment = window_report(version=NEW, segment="region=eu")
    found = outcome(alert(), of=report(cumulative, incomplete, segment))
    assert found == ("inconclusive", "no window of this version is complete yet")
    assert outcome(alert(), of=report(cumulative))[0] == "pass"


def test_without_a_version_it_is_the_only_one() -> None:
    single = report(window_report(version=NEW))
    assert outcome(alert(), of=single, version="")[0] == "pass"
    assert outcome(alert(), version="") == ("no_data", "fraud has 2 versions: say which")
    assert outcome(of=single, version="")[0] == "inconclusive"
    assert verdict([], single, "other").reasons == ("no event of other is known",)
    unnamed = alert(version="")
    assert outcome(unnamed, of=report(window_report(version="")), version="")[0] == "pass"
