"""What alerts remember and forget: silence, undefined values, restarts, versions that go, who is told."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from prometheus_client.parser import text_string_to_metric_families

from monitor.alerting import Present
from monitor.alerts.alert import STATE_CODES
from monitor.config import Config
from monitor.events.position import OFFSET_BITS
from monitor.exporter import Exporter
from monitor.records import Partition
from monitor.series import ExportOptions
from tests.support.alerting import (
    MODELS,
    PARTITION,
    RULES,
    START,
    Later,
    Reading,
    configured,
    event,
    happened,
    log_of,
    stream,
)
from tests.support.reports import HELPS, status

RECALL = {"Recall": RULES["Recall"]}
ACCURACY = {"Accuracy": RULES["Accuracy"]}
BOTH = RECALL | ACCURACY
BAD = stream((60, 0.97), (60, 0.3))
"""Whereafter both fire."""


def reading(rules: Any = BOTH, values: Any = BAD, **options: Any) -> Reading:
    found = Reading(configured(rules, **options))
    found.read_on(*values)
    return found


def states(found: Reading, version: str = "1") -> dict[str, str]:
    return {k.alert: alert.state for k, alert in found.alerts().items() if k.version == version}


def test_both_kinds_fire_and_resolve() -> None:
    found = reading()
    assert states(found) == {"Recall": "firing", "Accuracy": "firing"}
    found.read_on(*stream((100, 0.99), start=120, seed=1))
    assert [(name, change) for name, change, _ in happened(found.transitions)] == [
        ("Recall", "firing"),
        ("Accuracy", "firing"),
        ("Recall", "resolved"),
        ("Accuracy", "resolved"),
    ]


# Silence


def other(seconds: float, n: int = 1) -> list[dict[str, Any]]:
    """Return events of another version, which bring time."""
    return stream((n, 1.0), start=seconds - 1, version="2")


def test_a_silent_version_has_no_data_and_goes_on_firing() -> None:
    found = reading()
    started = {name: found.alert(name).started for name in BOTH}
    found.read_on(*other(400))
    for name in BOTH:
        alert = found.alert(name)
        assert alert.state == "no_data"
        assert alert.firing, "people are not told that it is over"
        assert alert.started == started[name]
        assert alert.reason == "no event of this version since 2025-11-28T22:48:40Z"
        assert not alert.actionable
    last = sorted(happened(found.transitions)[-2:])
    assert last == [("Accuracy", "no_data", 240.0), ("Recall", "no_data", 240.0)], "where silence begins"
    assert exported(found) == {"Recall": 2, "Accuracy": 2}
    n = len(found.transitions)
    found.read_on(*stream((20, 0.2), start=405))
    assert found.transitions[n:] == [], "an episode that goes on is no news"
    assert states(found) == {"Recall": "firing", "Accuracy": "firing"}
    assert {name: found.alert(name).started for name in BOTH} == started


def exported(found: Reading, version: str = "1") -> dict[str, float]:
    exporter = Exporter(
        lambda: status(),
        HELPS,
        ExportOptions(families=(), segments="none", confusions="none", max_series=1000),
        headline=(),
        alerts=found.alerting.view,
    )
    text = exporter.scrape("text/plain").body.decode()
    return {
        sample.labels["alert"]: sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name == "monitor_alert_state" and sample.labels["version"] == version
    }


def test_what_did_not_fire_has_no_data_and_is_inactive_again() -> None:
    found = reading(values=stream((60, 0.97)))
    found.read_on(*other(400))
    assert exported(found) == dict.fromkeys(BOTH, STATE_CODES["no_data"])
    found.read_on(*stream((30, 0.97), start=420))
    assert sorted(happened(found.transitions)) == [
        ("Accuracy", "inactive", 421.0),
        ("Accuracy", "no_data", 180.0),
        ("Recall", "inactive", 421.0),
        ("Recall", "no_data", 180.0),
    ]


def test_a_detector_that_comes_after_a_silence_knows_nothing_of_it() -> None:
    segments = {"Region": {**RULES["RecallOfRegion"]}}
    values = [
        *(event(i, segments={"region": "eu"}) for i in range(5)),
        *(event(300 + i, segments={"region": "us"}) for i in range(15)),
    ]
    whole, single = reading(segments, values), reading(segments, values[:1])
    for value in values[1:]:
        single.read_on(value)
    assert whole.transitions == single.transitions
    assert {t.key.segment for t in whole.transitions} == {"region=eu"}


# Undefined values


def test_without_positives_it_goes_on_firing_says_why_and_undefined_raises_its_own() -> None:
    rules = {"Recall": {**RULES["Recall"], "undefined_for": "5m"}}
    found = reading(rules, no_data_after="4m")
    assert found.alert("Recall").state == "firing"
    found.read_on(*(event(120 + 2 * i, "legit", 0.1) for i in range(300)))
    alert, companion = found.alert("Recall"), found.alert("RecallUndefined")
    assert (alert.state, alert.firing) == ("firing", True)
    assert alert.reason is not None and alert.reason.startswith("no labels of class fraud for")
    assert not alert.actionable
    assert companion.state == "firing"
    assert companion.is_companion
    (raised,) = (at for name, change, at in happened(found.transitions) if name == "RecallUndefined")
    last = max(v["timestamp"] for v in BAD if v["label"] == "fraud") - START
    assert raised == np.ceil((last + 300) / 10) * 10, "at the first mark after five minutes"
    found.read_on(*(event(721 + i) for i in range(20)))
    assert happened(found.transitions)[-1] == ("RecallUndefined", "resolved", 730.0)


def test_a_window_without_positives_changes_nothing_either() -> None:
    rules = {
        "Low": {
            "model": "fraud",
            "metric": "recall",
            "floor": 0.7,
            "condition": "value",
            "window": "last_50",
            "min_support": 5,
            "undefined_for": "1m",
        }
    }
    found = reading(rules)
    assert found.alert("Low").state == "firing"
    found.read_on(*(event(121 + i, "legit", 0.1) for i in range(200)))
    assert found.alert("Low").state == "firing"
    assert found.alert("Low").reason == "no labels of class fraud"
    assert [(name, change) for name, change, _ in happened(found.transitions)] == [
        ("Low", "firing"),
        ("LowUndefined", "firing"),
    ]


@pytest.mark.parametrize("window", ["last_50", "1m"])
def test_a_segment_that_is_gone_from_the_window_is_neither_breach_nor_recovery(window: str) -> None:
    rule = {**RULES["Accuracy"], "segment": "region=*", "window": window, "condition": "value"}
    values = [value | {"segments": {"region": "eu"}} for value in BAD]
    found = reading({"Accuracy": rule}, values)
    assert found.alert("Accuracy", segment="region=eu").state == "firing"
    found.read_on(*(v | {"segments": {"region": "us"}} for v in stream((150, 0.97), start=120)))
    alert = found.alert("Accuracy", segment="region=eu")
    assert (alert.state, alert.reason) == ("firing", "no event in the window")
    assert [change for _, change, _ in happened(found.transitions)] == ["firing"]
    found.read_on(*(v | {"segments": {"region": "eu"}} for v in stream((80, 0.97), start=270)))
    assert found.alert("Accuracy", segment="region=eu").state == "inactive"


# Cooldown


@pytest.mark.parametrize("name", BOTH)
def test_what_breaches_during_the_cooldown_fires_after_it(name: str) -> None:
    rule = {**BOTH[name], "cooldown": "5m"}
    found = reading({name: rule})
    found.read_on(*stream((100, 0.99), (300, 0.3), start=120, seed=1))
    (_, fired, first), (_, resolved, end), (_, pending, again), (_, anew, later) = happened(found.transitions)
    assert (fired, resolved, pending, anew) == ("firing", "resolved", "pending", "firing")
    assert first < end < again < end + 300 <= later <= end + 310
    assert found.alert(name).started == found.transitions[-1].moment


# Versions, champions, wildcards


def test_a_version_that_retires_takes_its_alerts_along_without_a_word() -> None:
    found = reading(limits={"retire_after": "5m"})
    before = len(found.transitions)
    found.read_on(*other(500, 10))
    found.pipeline.advance(())
    assert {key.version for key in found.alerts()} == {"2"}
    assert {t.change for t in found.transitions[before:]} == {"no_data"}
    assert not [row for row in found.alerting.tree()["tracks"] if row[2] == "1"]


def test_a_version_retires_after_what_its_events_say_is_decided() -> None:
    """One poll may bring its last event and what is far later."""
    options: Any = {"limits": {"retire_after": "5m"}}
    whole, single = reading(values=[*BAD, *other(900, 10)], **options), reading(values=BAD[:1], **options)
    for value in [*BAD[1:], *other(900, 10)]:
        single.read_on(value)
    assert happened(whole.transitions) == happened(single.transitions)
    for found in (whole, single):
        found.pipeline.advance(())
        assert {key.version for key in found.alerts()} == {"2"}


def test_a_version_that_retires_while_its_windows_are_evaluated_does_not_come_back() -> None:
    later = Later()
    found = Reading(configured(ACCURACY, limits={"retire_after": "5m"}, no_data_after="1h"), later)
    found.read_on(*BAD)
    while later.finish():
        found.decide()
    assert found.alert("Accuracy").state == "firing"
    found.read_on(*other(300, 20))  # a look begins
    assert later
    found.pipeline.alerting.forget("fraud", "1")
    while later.finish():
        found.decide()
    assert {key.version for key in found.alerts()} == {"2"}


def champion_rules(**more: Any) -> dict[str, Any]:
    return {
        "Worse": {
            "model": "fraud",
            "metric": "accuracy",
            "compare_to": "champion",
            "margin": 0.02,
            **more,
        }
    }


@pytest.mark.parametrize(
    "more",
    [{"false_alarm_every": 100}, {"condition": "interval", "window": "last_50"}],
    ids=["sequential", "interval"],
)
def test_promotion_ends_the_comparison(more: dict[str, Any]) -> None:
    champion = ["1"]
    models = {"fraud": {**MODELS["fraud"], "champion": "1"}}
    found = Reading(configured(champion_rules(**more), models=models), champions=lambda _: champion[0])
    values = stream((200, 0.95)) + stream((200, 0.4), start=0.5, version="2")
    found.read_on(*sorted(values, key=lambda value: value["timestamp"]))
    assert found.alert("Worse", version="2").state == "firing"
    assert [key.version for key in found.alerts()] == ["2"], "the champion is not compared with itself"
    champion[0] = "2"
    values = stream((200, 0.95), start=200) + stream((200, 0.4), start=200.5, version="2")
    found.read_on(*sorted(values, key=lambda value: value["timestamp"]))
    assert states(found) == {"Worse": "inactive"}, "the former champion is better than the new one"
    assert not states(found, "2")


def test_matches_that_were_there_first_keep_their_places() -> None:
    rules = {name: {**rule, "model": "*", "class": "fraud"} for name, rule in BOTH.items()}
    del rules["Accuracy"]["class"]
    models = {"*": MODELS["fraud"]}
    values = [v | {"model": "zeta"} for v in stream((60, 0.97), (160, 0.3))]
    values += [v | {"model": "alpha"} for v in stream((100, 0.3), start=100.5)]
    found = Reading(configured(rules, models=models, max_matches=1))
    found.read_on(*sorted(values, key=lambda value: value["timestamp"]))
    assert {key.model for key in found.alerts()} == {"zeta"}
    assert {alert.state for alert in found.alerts().values()} == {"firing"}
    assert found.alerting.view().refused == 2


# Restarts


def restarted(found: Reading, config: Config) -> tuple[str, ...]:
    return found.restart(config).changes


def test_a_rule_that_changed_begins_anew_and_others_go_on() -> None:
    found = reading()
    changed = {**BOTH, "Recall": {**RULES["Recall"], "floor": 0.6}}
    assert restarted(found, configured(changed)) == ()
    assert states(found) == {"Accuracy": "firing"}
    found.read_on(event(130))
    found.read_on(event(140))
    assert found.alert("Recall").state == "inactive"
    assert found.alert("Recall").evidence.support < 10, "of what was not mature before, and of one event"
    assert found.alert("Accuracy").state == "firing"


def test_a_rule_that_is_told_of_differently_goes_on() -> None:
    found = reading()
    before = found.alerts()
    changed = {name: {**rule, "severity": "page", "labels": {"team": "risk"}} for name, rule in BOTH.items()}
    restarted(found, configured(changed))
    assert {key: alert.started for key, alert in found.alerts().items()} == {
        key: alert.started for key, alert in before.items()
    }
    assert {alert.rule.severity for alert in found.alerts().values()} == {"page"}


def test_a_rule_that_is_gone_is_forgotten() -> None:
    found = reading()
    restarted(found, configured(RECALL))
    assert states(found) == {"Recall": "firing"}
    found.restart(configured(BOTH))
    assert states(found)["Recall"] == "firing"
    assert "Accuracy" not in states(found), "nothing was looked at yet"


def test_alerts_begin_anew_with_other_topics_and_say_so() -> None:
    found = reading()
    (said,) = restarted(found, configured(BOTH, topics=["a", "t"]))
    assert said == "the topics changed: alerts begin anew, and forget what fires"
    assert found.alerts() == {}
    found.read_on(*stream((60, 0.3), start=130))
    assert states(found)["Recall"] == "firing"


def test_topics_of_the_same_order_change_nothing() -> None:
    found = reading()
    assert restarted(found, found.config) == ()
    assert states(found) == {"Recall": "firing", "Accuracy": "firing"}


# Who is told

MINUTE = 60_000_000
RECORDED = 1_764_400_000_000_000


def test_what_fired_before_reading_caught_up_is_told_once_and_not_acted_on() -> None:
    found = Reading(configured(BOTH))
    found.present = Present(now=RECORDED, current=False, read_after=None)
    found.read_on(*BAD)
    assert {t.historic for t in found.transitions} == {True}
    for name in BOTH:
        alert = found.alert(name)
        assert (alert.state, alert.historic, alert.firing, alert.actionable) == ("firing", True, False, False)
    found.present = Present(now=RECORDED, read_after={PARTITION: 120})
    found.decide()
    for name in BOTH:
        alert = found.alert(name)
        assert (alert.firing, alert.actionable) == (True, False), "told of, but by no event read since"
    found.read_on(*stream((20, 0.3), start=120))
    for name in BOTH:
        assert found.alert(name).actionable
    assert len(found.transitions) == 2


def test_what_resolved_before_reading_caught_up_is_history() -> None:
    found = Reading(configured(BOTH))
    found.present = Present(now=RECORDED, current=False, read_after=None)
    found.read_on(*BAD)  # one look: at the end
    found.read_on(*stream((150, 0.99), start=120, seed=1))
    found.present = Present(now=RECORDED, read_after={PARTITION: 270})
    found.read_on(*stream((5, 0.99), start=270))
    assert not any(alert.firing for alert in found.alerts().values())
    assert {t.historic for t in found.transitions} == {True}


def test_what_was_recorded_too_long_ago_is_history_too() -> None:
    found = Reading(configured(RECALL))
    found.present = Present(now=RECORDED + 16 * MINUTE)
    found.read_on(*BAD)
    assert found.transitions[0].historic
    other = Reading(configured(RECALL))
    other.present = Present(now=RECORDED + 14 * MINUTE)
    other.read_on(*BAD)
    assert not other.transitions[0].historic


def test_events_that_mature_are_not_old() -> None:
    models = {"fraud": {**MODELS["fraud"], "label_maturity": "1h"}}
    found = Reading(configured(RECALL, models=models))
    found.present = Present(now=RECORDED + 70 * MINUTE)
    found.read_on(*BAD, event(4000))
    assert [(t.change, t.historic) for t in found.transitions] == [("firing", False), ("no_data", False)]


def test_actions_wait_for_an_event_that_was_read_after_catching_up() -> None:
    found = Reading(configured(RECALL))
    found.present = Present(read_after={PARTITION: 200, Partition("t", 1): 0})
    found.read_on(*BAD)
    assert (found.alert("Recall").firing, found.alert("Recall").actionable) == (True, False)
    found.read_all(log_of([event(125, "legit", 0.1)] * 10, lambda _: 1))
    found.read_on(event(140, "legit", 0.1))
    assert found.alert("Recall").actionable


def test_after_a_restart_actions_wait_again_but_nobody_is_told_twice() -> None:
    found = reading(RECALL, [*BAD, *stream((30, 0.3), start=120)])
    assert found.alert("Recall").actionable
    found.present = Present(read_after={PARTITION: 150})
    found.restart()
    alert = found.alert("Recall")
    assert (alert.firing, alert.historic, alert.actionable) == (True, False, False)
    found.read_on(*stream((20, 0.3), start=150))
    assert found.alert("Recall").actionable
    assert len(found.transitions) == 1


def test_history_that_was_not_told_is_remembered_over_a_restart() -> None:
    found = Reading(configured(RECALL))
    found.present = Present(now=RECORDED, current=False, read_after=None)
    found.read_on(*BAD)
    found.restart()
    assert found.alert("Recall").historic
    found.present = Present()
    found.decide()
    assert found.alert("Recall").firing


# Bounds


def test_what_is_remembered_does_not_grow() -> None:
    """The detectors' observations, the tracks, the waiting events: after ten times the events no more."""
    found = reading(RULES, stream((300, 0.9)), every="10m")
    sizes = [size_of(found.alerting.tree())]
    for i in range(3):
        found.read_on(*stream((1000, 0.9), start=300 + 1000 * i, seed=i))
        sizes.append(size_of(found.alerting.tree()))
    assert sizes[3] <= 1.5 * sizes[1] + 1000
    assert len(found.alerting.view().transitions) <= 1000


def test_long_maturity_costs_no_memory_but_that_of_the_events() -> None:
    """Marks to come are not listed: with 30 days of maturity there would be 259,200."""
    models = {"fraud": {**MODELS["fraud"], "label_maturity": "30d"}}
    limits = {"retire_after": "60d"}
    sparse, dense = (
        reading(BOTH, stream((100, 0.9), every=every), models=models, limits=limits) for every in (1.0, 200.0)
    )
    assert size_of(sparse.alerting.tree()) == pytest.approx(size_of(dense.alerting.tree()), abs=100)


def size_of(tree: Any) -> int:
    if isinstance(tree, dict):
        return sum(size_of(value) for value in tree.values())
    if isinstance(tree, list):
        return sum(size_of(value) for value in tree)
    return tree.nbytes if isinstance(tree, np.ndarray) else 8


def test_events_beyond_the_limit_of_what_waits_are_counted() -> None:
    models = {"fraud": {**MODELS["fraud"], "label_maturity": "1h"}}
    found = reading(BOTH, stream((100, 0.9)), models=models, limits={"held_events": 60})
    assert found.alerting.dropped == 40
    assert found.pipeline.limits_reached()["held_events"] >= 40


def test_transitions_keep_the_place_of_their_event() -> None:
    found = reading(RECALL)
    (transition,) = found.transitions
    place = transition.moment.position & ((1 << OFFSET_BITS) - 1)
    value = BAD[place]
    assert (value["label"], value["score"] < 0.5) == ("fraud", True), "a miss raises"
    assert transition.moment.timestamp == round(value["timestamp"] * 1e6)
    assert transition.moment.recorded == RECORDED
