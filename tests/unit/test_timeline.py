"""The timeline of a replay: lines, delays after a change, false alarms that settings allow."""

from __future__ import annotations

import json

from monitor.alerts.alert import Change, Evidence, Key, Moment, Transition
from monitor.alerts.rule import Limit, Rule
from monitor.timeline import ChangePoint, RuleRate, alert_objects, timeline_text

HOUR = 3_600_000_000
DAY = 24 * HOUR
START = 1_764_547_200_000_000  # 2025-12-01 00:00:00 UTC
FLOOR = Rule(
    "Low", "fraud", "classifier_recall", class_="fraud", limit=Limit("number", 0.8), false_alarm_every=10_000
)
DRIFT = Rule("Drift", "*", "calibration", false_alarm_every=1000, matches=100)
NEAR = Rule("Near", "fraud", "classifier_roc_auc", condition="interval", limit=Limit("number", 0.5))
RATES = [RuleRate(FLOOR, 2400, 10 * DAY), RuleRate(DRIFT, 1_000_000, 10 * DAY), RuleRate(NEAR, 0, 10 * DAY)]
VALUE = Evidence(value=0.71, lower=0.65, upper=0.77, method="wilson", limit=0.8, support=310)


def numbers(moment: Moment) -> int:
    return moment.position


def happened(change: Change, hours: int, alert: str = "Low", evidence: Evidence = VALUE) -> Transition:
    key = Key(alert, "fraud", "v2", "", "", "fraud")
    return Transition(key, change, Moment(START + hours * HOUR, 0, 100 * hours), evidence)


def test_every_transition_is_shown_with_what_the_alert_says() -> None:
    undefined = Evidence(undefined="no_positives")
    moves = [
        happened("firing", 2),
        happened("no_data", 5),
        happened("resolved", 9),
        happened("firing", 9, "LowUndefined", undefined),
    ]
    text = timeline_text(moves, numbers, None, RATES)
    head = "model fraud, version v2, class fraud"
    assert text.startswith(
        "Alerts:\n"
        f"  2025-12-01 02:00:00 UTC  event 200  Low firing  {head}\n"
        "      recall of fraud is 0.7100 (0.6500 to 0.7700), floor 0.8000, over 310 positives"
    )
    assert "no data" in text and "left out: 1 between inactive" in text
    assert f"  2025-12-01 09:00:00 UTC  event 900  Low resolved  {head}\n" in text
    assert f"event 900  LowUndefined firing  {head}\n      recall of fraud has no value" in text
    assert "After the change" not in text


def test_names_from_messages_cannot_move_the_cursor() -> None:
    key = Key("Low", "fraud", "v\x1b[2J\n", "", "", "")
    move = Transition(key, "firing", Moment(START, 0, 7), VALUE)
    assert "\x1b" not in timeline_text([move], numbers, ChangePoint(START, 0), RATES)


def test_nothing_happened() -> None:
    assert timeline_text([], numbers, None, []).startswith("Alerts: none fired.\n")


def test_delays_after_a_change() -> None:
    change = ChangePoint(START + 10 * HOUR, 1000)
    moves = [happened("firing", 2), happened("resolved", 3), happened("firing", 12), happened("firing", 20)]
    text = timeline_text(moves, numbers, change, RATES)
    assert (
        "After the change at 2025-12-01 10:00:00 UTC (event 1000):\n"
        "  Low (model fraud, version v2, class fraud), which had fired 1 time before it, fired 200 events, "
        "about 20 observations and 2 h after it\n"
        "  Drift did not fire\n"
        "  Near did not fire\n"
    ) in text


def test_no_observations_are_told_of_an_alert_without_a_detector() -> None:
    text = timeline_text([happened("firing", 12, "Near")], numbers, ChangePoint(START, 0), RATES)
    assert "fired 1,200 events and 12 h after it" in text


def test_an_alert_that_fires_at_the_change_has_no_delay() -> None:
    change = ChangePoint(START + 10 * HOUR, 1000)
    assert "was firing already" in timeline_text([happened("firing", 2)], numbers, change, RATES)
    gone = [happened("firing", 2), happened("resolved", 3)]
    assert "1 time before it, did not fire" in timeline_text(gone, numbers, change, RATES)
    at_once = timeline_text([happened("firing", 10)], numbers, change, RATES)
    assert "fired 0 events, about 0 observations and 0 s after it" in at_once


def test_what_false_alarms_the_settings_allow() -> None:
    # 2,400 positives in 10 days are 7,200 a month: 0.72 at 10,000. A wildcard counts by all its matches:
    # 3,000,000 events a month at 100 x 1,000 are 30.
    lines = timeline_text([], numbers, None, RATES).splitlines()
    assert lines[-4:] == [
        "  Low: 0.72 (7,200 observations, one false alarm in 10,000)",
        "  Drift: 30 (3,000,000 observations, one false alarm in 100,000)",
        "  Near: no bound, since interval conditions have none",
        "  in total at most 31 on average, of rules with a bound",
    ]


def test_without_time_there_is_no_rate() -> None:
    rate = RuleRate(FLOOR, 5, 0)
    assert rate.false_alarms_a_month is None
    text = timeline_text([happened("firing", 2)], numbers, ChangePoint(START, 0), [rate])
    assert "Low: not known, since no time passed" in text
    assert "fired 200 events and 2 h after it" in text


def test_objects_are_those_of_firing_and_resolving() -> None:
    moves = [happened(change, 2) for change in ("pending", "firing", "no_data", "inactive", "resolved")]
    found = json.loads(json.dumps(alert_objects(moves, numbers), allow_nan=False))
    assert [alert["state"] for alert in found] == ["firing", "resolved"]
    assert found[0] == {
        "alert": "Low",
        "labels": {"model": "fraud", "version": "v2", "window": "", "segment": "", "class": "fraud"},
        "state": "firing",
        "event": 200,
        "timestamp": "2025-12-01T02:00:00.000000Z",
        "value": 0.71,
        "limit": 0.8,
        "lower": 0.65,
        "upper": 0.77,
        "support": 310,
        "statistic": None,
        "threshold": None,
        "component": None,
    }
