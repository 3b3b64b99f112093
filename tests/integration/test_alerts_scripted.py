"""Whether alerts of a daemon can be believed, on a scripted source: history, silence, gates, restarts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from monitor.sources.base import Poll
from tests.support.commands import Commands
from tests.support.receivers import Receiver, answer, receiving
from tests.support.scenes import MODEL, Events, RunningClock, Scene, configuration, playing, write
from tests.support.scripted import Scripted

RECALL: Mapping[str, Any] = {
    "model": "fraud",
    "metric": "recall",
    "class": "fraud",
    "floor": 0.8,
    "min_support": 5,
    "actions": ["rollback"],
}
RULES = {
    "sequential": {"false_alarm_every": 100},
    "interval": {"condition": "interval", "window": "last_20"},
}


@pytest.fixture
def hook() -> Iterator[Receiver]:
    with receiving(answer(200)) as receiver:
        yield receiver


@pytest.fixture
def pager() -> Iterator[Receiver]:
    """An Alertmanager."""
    with receiving(answer(200)) as receiver:
        yield receiver


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Commands:
    return Commands(monkeypatch, capsys)


@pytest.fixture(params=RULES)
def rule(request: pytest.FixtureRequest) -> Mapping[str, Any]:
    """A rule about recall, of either kind."""
    return {**RECALL, **RULES[request.param]}


def told(pager: Receiver) -> list[tuple[str, str]]:
    """Name and start of each alert that an Alertmanager was told, once each."""
    found = (alert for request in pager.requests for alert in json.loads(request.body))
    return sorted({(alert["labels"]["alertname"], alert["startsAt"]) for alert in found})


def backlog(clock: RunningClock, outcomes: str, hours: float, polls: int) -> tuple[Scripted, Events]:
    """Return a source with events of the last hours that it brings in so many polls."""
    source, events = Scripted(), Events(clock)
    batch = events.batch("fraud", "1", outcomes, over=3600 * hours)
    size = -(-len(batch.records) // polls)
    pieces = [batch.records[i : i + size] for i in range(0, len(batch.records), size)]
    source.polls += [Poll([batch._replace(records=piece)]) for piece in pieces]
    return source, events


@pytest.mark.parametrize(("hours", "polls"), [(0.2, 1), (0.2, 5), (2, 1), (2, 5)])
def test_a_drop_and_a_recovery_in_a_backlog_are_history(
    tmp_path: Path, hook: Receiver, pager: Receiver, rule: Mapping[str, Any], hours: float, polls: int
) -> None:
    clock = RunningClock()
    source, events = backlog(clock, "+" * 40 + "-" * 30 + "+" * 130, hours, polls)
    config = configuration(hook, {"RecallLow": rule}, pager=pager)
    with playing(tmp_path, config, source=source, clock=clock, events=events) as scene:
        scene.caught_up()
        scene.bring("fraud", "1", "+" * 5)
        scene.turn(5)
        assert scene.alert("RecallLow")["state"] == "inactive"
        changes = [each["change"] for each in scene.transitions()]
        assert changes == ["firing", "resolved"] or (hours == 2 and rule.get("window") and not changes)
        assert all(each["historic"] for each in scene.transitions())
        assert scene.decisions() == []
    assert not pager.requests
    assert not hook.requests


def test_a_drop_that_still_holds_after_a_backlog_is_told_once_and_acted_on_at_the_next_event(
    tmp_path: Path, hook: Receiver, pager: Receiver, rule: Mapping[str, Any]
) -> None:
    clock = RunningClock()
    source, events = backlog(clock, "+" * 40 + "-" * 30, 2, 3)
    config = configuration(hook, {"RecallLow": rule}, pager=pager)
    with playing(tmp_path, config, source=source, clock=clock, events=events) as scene:
        scene.wait_until(lambda: bool(pager.requests))
        scene.turn(5)
        (transition,) = scene.transitions()
        assert (transition["change"], transition["historic"]) == ("firing", True)
        assert scene.states(alert="RecallLow") == [2]
        assert scene.decisions() == []
        scene.bring("fraud", "1", "-")
        scene.decided("done")
        scene.minute()
        scene.wait_until(lambda: len(pager.requests) > 1)
        ((_, start),) = told(pager)
        assert start == scene.alert("RecallLow")["started"]["recorded"]
    assert len(hook.requests) == 1


def test_what_is_read_after_an_outage_of_hours_is_history_too(
    tmp_path: Path, hook: Receiver, pager: Receiver
) -> None:
    rule = {**RECALL, **RULES["interval"]}
    with playing(tmp_path, configuration(hook, {"RecallLow": rule}, pager=pager)) as scene:
        scene.bring("fraud", "1", "+" * 40)
        scene.clock.advance(7200)
        outage = scene.events.batch("fraud", "1", "-" * 30 + "+" * 100, over=7000, ago=60)
        scene.source.polls += [
            Poll([outage._replace(records=outage.records[i : i + 65])]) for i in range(0, 130, 65)
        ]
        scene.wait_until(lambda: not scene.source.polls)
        scene.caught_up()
        scene.bring("fraud", "1", "+" * 5)
        scene.turn(5)
        assert all(each["historic"] for each in scene.transitions())
    assert not pager.requests
    assert not hook.requests


def test_an_alert_without_positives_goes_on_says_why_and_raises_another_that_does_nothing(
    tmp_path: Path, hook: Receiver, rule: Mapping[str, Any]
) -> None:
    rules = {"RecallLow": {**rule, "undefined_for": "10m"}}
    with playing(tmp_path, configuration(hook, rules)) as scene:
        scene.bring("fraud", "1", "+" * 40)
        scene.bring("fraud", "1", "-" * 20)
        scene.bring("fraud", "1", "-")
        scene.decided("done")
        for _ in range(9):
            scene.bring("fraud", "1", "." * 5, over=300)
        scene.wait_until(lambda: scene.states(model="fraud") == [2, 2])
        alert, missing = scene.alert("RecallLow"), scene.alert("RecallLowUndefined")
        assert (alert["state"], missing["state"]) == ("firing", "firing")
        assert alert["reason"].startswith("no labels of class fraud")
        assert missing["reason"].startswith("no labels of class fraud for ")
        scene.decided("done")
        for _ in range(3):
            scene.bring("fraud", "1", "+" * 60)
        scene.wait_until(lambda: scene.states(model="fraud") == [0, 0])
        changes = [(each["alert"], each["change"]) for each in scene.transitions()]
        assert changes[:2] == [("RecallLow", "firing"), ("RecallLowUndefined", "firing")]
        assert sorted(changes[2:]) == [("RecallLow", "resolved"), ("RecallLowUndefined", "resolved")]
        scene.decided("done")


def test_an_alert_goes_on_after_a_restart_and_is_the_same_to_who_was_told(
    tmp_path: Path, hook: Receiver, pager: Receiver, rule: Mapping[str, Any]
) -> None:
    config = configuration(hook, {"RecallLow": rule}, pager=pager)
    with playing(tmp_path, config) as scene:
        for outcomes in ("+" * 40, "-" * 20, "-"):
            scene.bring("fraud", "1", outcomes)
        scene.decided("done")
        scene.wait_until(lambda: bool(pager.requests))
    before = len(pager.requests)
    with playing(tmp_path, config, source=Scripted(), clock=scene.clock, events=scene.events) as later:
        later.wait_until(lambda: len(pager.requests) > before)
        later.bring("fraud", "1", "-")
        later.turn(3)
        later.decided("done")
        assert later.transitions() == []
        assert later.states() == [2]
    assert len(told(pager)) == len(hook.requests) == 1
    ends = [alert["endsAt"] for request in pager.requests for alert in json.loads(request.body)]
    assert min(ends) > "2025-11-29T07:11"  # five minutes after each post: none says that it has resolved


def test_a_silent_version_has_no_data_and_never_recovers_by_that(
    tmp_path: Path, hook: Receiver, pager: Receiver
) -> None:
    rule = {**RECALL, **RULES["sequential"]}
    with playing(tmp_path, configuration(hook, {"RecallLow": rule}, pager=pager)) as scene:
        scene.bring("fraud", "1", "+" * 40)
        scene.bring("fraud", "1", "-" * 10)
        scene.decided("done")
        for _ in range(8):
            scene.bring("fraud", "2", "+" * 60, over=300)
        assert scene.alert("RecallLow", version="1")["state"] == "no_data"
        assert scene.states(version="1") == [2]  # people go on to be told
        assert [each["change"] for each in scene.transitions()] == ["firing", "no_data"]
        before = len(pager.requests)
        scene.minute()
        scene.wait_until(lambda: len(pager.requests) > before)
        (alert,) = json.loads(pager.requests[-1].body)
        assert alert["endsAt"] > alert["startsAt"]
        assert "; no event of this version since 20" in alert["annotations"]["description"]


def test_gates_answer_through_the_life_of_an_alert(tmp_path: Path, hook: Receiver) -> None:
    rule = {**RECALL, **RULES["interval"], "for": "1m"}

    def gates(scene: Scene, version: str = "1") -> tuple[str, int, list[str]]:
        answer = scene.running.json(f"/gate/argo?model=fraud&version={version}")
        metadata = {"metadata": {"model": "fraud", "version": version}}
        status, _ = scene.ask("/gate/flagger/rollback", json.dumps(metadata).encode(), "POST", {})
        return answer["outcome"], status, answer["reasons"]

    def becomes(scene: Scene, outcome: str) -> list[str]:
        status = 200 if outcome == "fail" else 409
        scene.wait_until(lambda: gates(scene)[:2] == (outcome, status))
        return gates(scene)[2]

    with playing(tmp_path, configuration(hook, {"RecallLow": rule})) as scene:
        scene.wait_until(lambda: scene.daemon.report() is not None)
        assert gates(scene) == ("no_data", 409, ["no event of fraud 1 is known"])
        scene.bring("fraud", "1", "+" * 10)
        scene.bring("fraud", "1", "+")
        reasons = becomes(scene, "inconclusive")
        assert "RecallLow (last_20, fraud): the window is not complete yet" in reasons
        scene.bring("fraud", "1", "+" * 30)
        scene.bring("fraud", "1", "+")
        assert becomes(scene, "pass") == ["none of 1 alerts fires"]
        scene.bring("fraud", "1", "-" * 15)
        scene.bring("fraud", "1", "-")
        assert "RecallLow (last_20, fraud) is pending" in becomes(scene, "inconclusive")
        for _ in range(3):
            scene.bring("fraud", "1", "-" * 5, over=40)
        assert becomes(scene, "fail") == ["RecallLow (last_20, fraud) fires"]
        assert gates(scene, "2")[:2] == ("no_data", 409)
        scene.bring("fraud", "1", "+" * 40)
        scene.bring("fraud", "1", "+")
        becomes(scene, "pass")


def without(rule: Mapping[str, Any], *keys: str, **changes: Any) -> dict[str, Any]:
    return {key: value for key, value in rule.items() if key not in keys} | changes


@pytest.mark.parametrize(
    ("rule", "changes", "message"),
    [
        ({"metric": "recal"}, {}, "RecallLow.metric: 'recal' is no metric; did you mean recall?"),
        ({"class": "Fraud"}, {}, "RecallLow.class: 'Fraud' is no class of models.fraud"),
        (RULES["interval"] | {"window": "last_10"}, {}, "RecallLow.window: 'last_10' is no window of models"),
        ({"window": "last_20"}, {}, "RecallLow.window: is not for sequential conditions"),
        ({"actions": ["rolback"]}, {}, "'rolback' is no action; did you mean 'rollback'?"),
        ({"severty": "page"}, {}, "severty: unknown key; did you mean `severity`?"),
        ({}, {"alerts": {"deliver": "alertmanager"}}, "alerts.alertmanager_urls: is empty; write every"),
        (
            {},
            {"models": {"fraud": without(MODEL, "label_maturity")}},
            "need models.fraud.label_maturity",
        ),
    ],
)
def test_what_is_wrong_in_a_configuration_is_said_with_the_remedy(
    tmp_path: Path, hook: Receiver, command: Commands, rule: Any, changes: Any, message: str
) -> None:
    config = configuration(hook, {"RecallLow": {**RECALL, **rule}}, **changes)
    write(tmp_path, config)
    done = command("check", "-c", tmp_path / "monitor.yaml")
    assert done.code == 2
    assert message in done.err


def test_a_daemon_does_not_start_without_a_file_that_it_needs(
    tmp_path: Path, hook: Receiver, command: Commands
) -> None:
    rule = without(RECALL, "floor", baseline="reference")
    for config, message in (
        (
            configuration(hook, {"RecallLow": RECALL}, secret_file="no.key"),
            "secret_file: no.key cannot be read",
        ),
        (
            {**configuration(hook, {"RecallLow": rule}), "baselines": {"reference": "no.baseline"}},
            "no.baseline: no such file; make it with `monitor baseline",
        ),
    ):
        write(tmp_path, config)
        done = command("run", "-c", tmp_path / "monitor.yaml")
        assert done.code == 2
        (line,) = [line for line in done.err.splitlines() if line.startswith("monitor: ")]
        assert message in line
        checked = command("check", "-c", tmp_path / "monitor.yaml")
        assert (checked.code, line.replace("monitor:", "Problem:", 1) in checked.out) == (1, True)
