"""Whether what a whole daemon does about alerts can be trusted, on a scripted source."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from monitor.sources.base import Poll
from tests.support.receivers import Receiver, answer, receiving
from tests.support.scenes import MODEL, Scene, configuration, playing
from tests.support.scripted import PARTITION, Scripted

RECALL: Mapping[str, Any] = {
    "model": "fraud",
    "metric": "recall",
    "class": "fraud",
    "floor": 0.8,
    "false_alarm_every": 100,
    "min_support": 5,
    "actions": ["rollback"],
}
SPECIFICITY = {**RECALL, "metric": "specificity"}


@pytest.fixture
def hook() -> Iterator[Receiver]:
    with receiving(answer(200)) as receiver:
        yield receiver


def sent(hook: Receiver) -> list[tuple[str, str, str | None]]:
    """Model, bad version and target of what arrived."""
    bodies = [json.loads(request.body) for request in hook.requests]
    return [(body["model"], body["bad_version"], body["target_version"]) for body in bodies]


def audited(folder: Path) -> list[str]:
    """Return the statuses of the audit log."""
    (path,) = (folder / "state").rglob("actions.jsonl")
    entries = map(json.loads, path.read_text().splitlines())
    return [entry["status"] for entry in entries if entry["event"] == "decision"]


def fires(scene: Scene, model: str = "fraud", version: str = "1") -> None:
    """Have a version that was good go wrong."""
    scene.bring(model, version, "+" * 30)
    scene.bring(model, version, "-" * 12)


def recovers(scene: Scene, model: str = "fraud", version: str = "1") -> None:
    scene.bring(model, version, "+" * 40)
    assert scene.alert("RecallLow", model=model, version=version)["state"] == "inactive"


def test_ten_models_that_drop_at_once_lead_to_two_actions(tmp_path: Path, hook: Receiver) -> None:
    models = {f"model{i}": MODEL for i in range(10)}
    rule = {**RECALL, "model": "*"}
    alerts = {"max_matches": 10}
    with playing(tmp_path, configuration(hook, {"RecallLow": rule}, models=models, alerts=alerts)) as scene:
        for model in models:
            scene.bring(model, "1", "+" * 40)
        for model in models:
            scene.bring(model, "2", "+" * 60)
        for model in models:
            scene.bring(model, "2", "-" * 12)
        assert scene.states(version="2") == [2] * 10
        scene.decided(*["done"] * 2, *["held"] * 8)
        assert sent(hook) == [("model0", "2", "1"), ("model1", "2", "1")]
        assert scene.running.json("/api/v1/actions")["held_by_breaker"]
        assert scene.series("monitor_outbox_pending") == {'action="rollback"': 8}
        held = scene.decisions()
        assert scene.post(f"/api/v1/actions/{held[5]['id']}/approve", {"by": "me"})[0] == 200
        assert scene.post(f"/api/v1/actions/{held[7]['id']}/reject", {"by": "me"})[0] == 200
        statuses = [*["done"] * 2, *["held"] * 3, "done", "held", "rejected", *["held"] * 2]
        scene.decided(*statuses)
        assert sent(hook)[2:] == [("model5", "2", "1")]
        scene.clock.advance(16 * 60)
        scene.turn()
        scene.decided(*["expired" if each == "held" else each for each in statuses])
    assert len(hook.requests) == 3


def test_a_late_alert_of_the_version_before_moves_nothing(tmp_path: Path, hook: Receiver) -> None:
    with playing(tmp_path, configuration(hook, {"RecallLow": RECALL}, cooldown="1s")) as scene:
        scene.bring("fraud", "2", "+" * 60)
        scene.bring("fraud", "1", "+" * 120)
        fires(scene)
        scene.decided("done")
        scene.bring("fraud", "2", "+" * 400)
        recovers(scene)
        fires(scene)
        scene.decided("done", "superseded")
        assert scene.decisions()[1]["reason"] == "version 2 is live, not 1"
    assert sent(hook) == [("fraud", "1", "2")]
    assert audited(tmp_path) == ["pending", "done", "superseded"]


def test_three_versions_that_are_bad_are_each_left_once(tmp_path: Path, hook: Receiver) -> None:
    with playing(tmp_path, configuration(hook, {"RecallLow": RECALL}, cooldown="1s")) as scene:
        for version, events in (("3", 60), ("2", 150), ("1", 300)):
            scene.bring("fraud", version, "+" * events)
        fires(scene)
        scene.decided("done")
        scene.bring("fraud", "2", "+" * 800)
        fires(scene, version="2")
        scene.decided("done", "done")
        scene.bring("fraud", "3", "+" * 900)
        fires(scene, version="3")
        scene.decided("done", "done", "done")
    assert sent(hook) == [("fraud", "1", "2"), ("fraud", "2", "3"), ("fraud", "3", None)]


def test_a_version_that_is_bad_from_its_first_event_is_left_as_soon_as_it_is_live(
    tmp_path: Path, hook: Receiver
) -> None:
    with playing(tmp_path, configuration(hook, {"RecallLow": RECALL})) as scene:
        scene.bring("fraud", "1", "+" * 1000)
        scene.bring("fraud", "2", "-" * 100)
        assert scene.alert("RecallLow", version="2")["state"] == "firing"
        assert scene.statuses() == []
        scene.bring("fraud", "2", "-" * 700)
        scene.decided("done")
    assert sent(hook) == [("fraud", "2", "1")]


def test_nothing_is_sent_during_a_pause(tmp_path: Path, hook: Receiver) -> None:
    with playing(tmp_path, configuration(hook, {"RecallLow": RECALL})) as scene:
        assert scene.post("/api/v1/actions/pause", {"by": "me", "until": "10m"})[0] == 200
        fires(scene)
        scene.turn(4)
        (decision,) = scene.decisions()
        assert (decision["status"], decision["reason"]) == ("pending", "paused by token (me)")
        assert not hook.requests
        assert scene.post("/api/v1/actions/resume")[0] == 200
        scene.decided("done")
        assert scene.post("/api/v1/actions/resume")[0] == 409
    assert len(hook.requests) == 1


def test_a_silence_holds_what_it_matches(tmp_path: Path, hook: Receiver) -> None:
    models = {"fraud": MODEL, "other": MODEL}
    rule = {**RECALL, "model": "*"}
    config = configuration(hook, {"RecallLow": rule}, models=models, alerts={"max_matches": 2})
    with playing(tmp_path, config) as scene:
        silence = {"matchers": {"model": "fraud"}, "until": "1h", "by": "me", "comment": "known"}
        status, made = scene.post("/api/v1/silences", silence)
        assert status == 201
        fires(scene, "fraud")
        fires(scene, "other")
        scene.decided("done")
        assert sent(hook) == [("other", "1", None)]
        assert scene.post(f"/api/v1/silences/{made['id']}", method="DELETE")[0] == 204
        scene.decided("done", "done")


def test_an_action_that_needs_approval_waits_for_it(tmp_path: Path, hook: Receiver) -> None:
    with playing(tmp_path, configuration(hook, {"RecallLow": RECALL}, approval=True)) as scene:
        fires(scene)
        scene.decided("waiting_for_approval")
        (decision,) = scene.decisions()
        path = f"/api/v1/actions/{decision['id']}/approve"
        assert scene.ask(path, b"{}", "POST", {"Content-Type": "application/json"})[0] == 401
        scene.turn(3)
        assert not hook.requests
        assert scene.post(path)[0] == 200
        scene.decided("done")
        assert scene.post(path)[0] == 409
        assert scene.post("/api/v1/actions/no-such/approve")[0] == 404
    assert len(hook.requests) == 1


def test_what_was_approved_too_late_is_not_sent(tmp_path: Path, hook: Receiver) -> None:
    with playing(tmp_path, configuration(hook, {"RecallLow": RECALL}, approval=True)) as scene:
        fires(scene)
        scene.decided("waiting_for_approval")
        recovers(scene)
        scene.decided("superseded")
        (decision,) = scene.decisions()
        status, answer = scene.post(f"/api/v1/actions/{decision['id']}/approve")
        assert (status, decision["reason"]) == (409, "the alert no longer fires")
        assert "superseded" in answer["error"]
    assert not hook.requests


def test_a_dry_run_is_only_written_down(tmp_path: Path, hook: Receiver) -> None:
    with playing(tmp_path, configuration(hook, {"RecallLow": RECALL}, dry_run=True)) as scene:
        fires(scene)
        scene.decided("dry_run")
        scene.turn(3)
    assert not hook.requests
    assert audited(tmp_path) == ["dry_run"]


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({}, "the last rollback of fraud is less than its cooldown ago"),
        ({"cooldown": "1s", "max_per_day": 1}, "there were 1 rollback of fraud in 24 hours (max_per_day)"),
    ],
)
def test_a_second_episode_too_soon_is_refused(
    tmp_path: Path, hook: Receiver, options: dict[str, Any], reason: str
) -> None:
    with playing(tmp_path, configuration(hook, {"RecallLow": RECALL}, **options)) as scene:
        fires(scene)
        scene.decided("done")
        recovers(scene)
        fires(scene)
        scene.decided("done", "refused")
        assert scene.decisions()[1]["reason"] == reason
    assert len(hook.requests) == 1


def test_a_receiver_that_is_down_too_long_gets_nothing(tmp_path: Path, hook: Receiver) -> None:
    hook.reply = answer(500)
    with playing(tmp_path, configuration(hook, {"RecallLow": RECALL}, expires="1m", timeout="1s")) as scene:
        fires(scene)
        scene.wait_until(lambda: len(hook.requests) > 1)
        (decision,) = scene.decisions()
        assert decision["status"] == "pending"
        assert decision["last_error"].endswith("answered 500")
        attempts = scene.series("monitor_action_attempts_total")
        assert attempts['action="rollback",result="retry"'] >= 1
        scene.clock.advance(61)
        scene.decided("expired")
        hook.reply = answer(200)
        before = len(hook.requests)
        scene.turn(5)
    assert len(hook.requests) == before
    assert len({request.headers["idempotency-key"] for request in hook.requests}) == 1


def test_a_window_that_lacks_events_leads_to_nothing(tmp_path: Path, hook: Receiver) -> None:
    rule = {key: value for key, value in RECALL.items() if key != "false_alarm_every"}
    rule |= {"condition": "interval", "window": "last_20"}
    with playing(tmp_path, configuration(hook, {"RecallLow": rule})) as scene:
        scene.bring("fraud", "1", "+" * 40)
        scene.source.offsets_lost = 1000
        scene.bring("fraud", "1", "-" * 15)
        scene.bring("fraud", "1", "-")
        scene.bring("fraud", "1", "-")
        scene.wait_until(lambda: scene.alert("RecallLow")["reason"] is not None)
        alert = scene.alert("RecallLow")
        assert (alert["state"], alert["reason"]) == ("inactive", "the window is not complete yet")
        scene.bring("fraud", "1", "-" * 20)
        scene.bring("fraud", "1", "-")
        scene.bring("fraud", "1", "-")
        scene.decided("done")


def test_little_support_leads_to_nothing(tmp_path: Path, hook: Receiver) -> None:
    with playing(tmp_path, configuration(hook, {"RecallLow": {**RECALL, "min_support": 20}})) as scene:
        scene.bring("fraud", "1", "+" * 30)
        scene.bring("fraud", "1", "-" * 8)
        assert scene.alert("RecallLow")["state"] == "firing"
        scene.turn(3)
        assert scene.decisions() == []
        scene.bring("fraud", "1", "-" * 20)
        scene.decided("done")


def test_who_lags_behind_does_nothing(tmp_path: Path, hook: Receiver) -> None:
    with playing(tmp_path, configuration(hook, {"RecallLow": RECALL})) as scene:
        scene.bring("fraud", "1", "+" * 30)
        scene.source.behind = 1000  # what the log had a minute ago is not read yet
        scene.clock.advance(600)
        scene.source.bring(scene.events.batch("fraud", "1", "-" * 12, over=10, ago=400))
        scene.turn(3)
        assert scene.alert("RecallLow")["state"] == "firing"
        assert scene.decisions() == []
        scene.source.behind = 0
        scene.bring("fraud", "1", "-")
        scene.decided("done")


def test_what_is_pending_waits_while_no_broker_answers(tmp_path: Path, hook: Receiver) -> None:
    hook.reply = answer(500)
    with playing(tmp_path, configuration(hook, {"RecallLow": RECALL})) as scene:
        fires(scene)
        scene.wait_until(lambda: len(hook.requests) > 0)
        scene.source.problem = "no broker answers"
        scene.turn(2)
        hook.reply = answer(200)
        before = len(hook.requests)
        for _ in range(5):
            scene.clock.advance(30)
            scene.turn(2)
        assert len(hook.requests) == before
        (decision,) = scene.decisions()
        assert decision["status"] == "pending"
        scene.source.problem = None
        scene.decided("done")


def test_who_is_put_out_sends_nothing_further(tmp_path: Path, hook: Receiver) -> None:
    hook.reply = answer(500)
    with playing(tmp_path, configuration(hook, {"RecallLow": RECALL})) as scene:
        fires(scene)
        scene.wait_until(lambda: len(hook.requests) > 0)
        scene.source.wanted = frozenset()
        scene.source.polls.append(Poll(revoked=frozenset({PARTITION})))
        scene.running.wait_until(lambda: not scene.daemon.status().owner)
        hook.reply = answer(200)
        before = len(hook.requests)
        for _ in range(5):
            scene.clock.advance(30)
            scene.turn(2)
        assert scene.post("/api/v1/actions/pause")[0] == 503
        assert scene.states() == []
    assert len(hook.requests) == before


def restarted(
    folder: Path, hook: Receiver, config: Mapping[str, Any], changed: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Stop while a decision is pending, go on with another configuration and a receiver that works.

    Return the decisions of then.
    """
    hook.reply = answer(500)
    with playing(folder, config) as scene:
        fires(scene)
        scene.wait_until(lambda: len(hook.requests) > 0)
    hook.reply = answer(200)
    hook.requests.clear()
    again = Scripted()
    with playing(folder, changed, source=again, clock=scene.clock, events=scene.events) as later:
        later.wait_until(lambda: bool(later.statuses()) and "pending" not in later.statuses())
        later.bring("fraud", "1", "-")
        later.wait_until(lambda: "pending" not in later.statuses())
        later.turn(3)
        return later.decisions()


def test_what_is_pending_is_sent_after_a_restart_with_the_same_key(tmp_path: Path, hook: Receiver) -> None:
    config = configuration(hook, {"RecallLow": RECALL})
    (decision,) = restarted(tmp_path, hook, config, config)
    assert decision["status"] == "done"
    (request,) = hook.requests
    assert request.headers["idempotency-key"] == decision["idempotency_key"]


def test_an_action_that_is_no_longer_configured_is_not_carried_out(tmp_path: Path, hook: Receiver) -> None:
    config = configuration(hook, {"RecallLow": RECALL})
    other = configuration(hook, {"RecallLow": {**RECALL, "actions": ["retrain"]}})
    other["actions"] = {"retrain": other["actions"]["rollback"]}
    first, second = restarted(tmp_path, hook, config, other)
    assert (first["action"], first["status"]) == ("rollback", "superseded")
    assert first["reason"] == "no such action is configured any more"
    assert (second["action"], second["status"]) == ("retrain", "done")


def test_an_action_that_its_rule_no_longer_asks_for_is_not_carried_out(
    tmp_path: Path, hook: Receiver
) -> None:
    config = configuration(hook, {"RecallLow": RECALL})
    (decision,) = restarted(
        tmp_path, hook, config, configuration(hook, {"RecallLow": {**RECALL, "actions": []}})
    )
    assert (decision["status"], decision["reason"]) == ("superseded", "RecallLow no longer asks for it")
    assert not hook.requests


def test_an_action_that_has_become_a_dry_run_is_not_carried_out(tmp_path: Path, hook: Receiver) -> None:
    rules = {"RecallLow": RECALL}
    (decision,) = restarted(
        tmp_path, hook, configuration(hook, rules), configuration(hook, rules, dry_run=True)
    )
    assert (decision["status"], decision["reason"]) == ("dry_run", "dry_run is set")
    assert not hook.requests


@pytest.mark.parametrize("rules", [{}, {"RecallLow": {**RECALL, "actions": []}}])
def test_without_rules_or_actions_what_was_decided_is_forgotten_and_said(
    tmp_path: Path, hook: Receiver, caplog: pytest.LogCaptureFixture, rules: Mapping[str, Any]
) -> None:
    hook.reply = answer(500)
    with playing(tmp_path, configuration(hook, {"RecallLow": RECALL})) as scene:
        fires(scene)
        scene.wait_until(lambda: len(hook.requests) > 0)
    hook.reply = answer(200)
    before = len(hook.requests)
    config = configuration(hook, rules)
    if rules:
        del config["actions"]["rollback"]
    with playing(tmp_path, config, source=Scripted(), clock=scene.clock, events=scene.events) as later:
        later.bring("fraud", "1", "-" * 5)
        later.turn(3)
        assert later.decisions() == []
        assert later.series("monitor_outbox_pending") == {}
        assert bool(later.states()) == bool(rules)
        assert (later.daemon._pipeline.alerting is None) == (not rules)
    assert len(hook.requests) == before
    assert "what was decided about actions is forgotten" in caplog.text
    again = configuration(hook, {"RecallLow": RECALL})
    with playing(tmp_path, again, source=Scripted(), clock=scene.clock, events=scene.events) as back:
        fires(back)  # from a checkpoint without alerts, or with one that fires
        back.decided("done")


def test_an_action_that_needs_approval_since_a_restart_can_be_approved(
    tmp_path: Path, hook: Receiver
) -> None:
    hook.reply = answer(500)
    with playing(tmp_path, configuration(hook, {"RecallLow": RECALL})) as scene:
        fires(scene)
        scene.wait_until(lambda: len(hook.requests) > 0)
    hook.reply = answer(200)
    hook.requests.clear()
    config = configuration(hook, {"RecallLow": RECALL}, approval=True)
    with playing(tmp_path, config, source=Scripted(), clock=scene.clock, events=scene.events) as later:
        later.decided("waiting_for_approval")
        later.turn(3)
        assert not hook.requests
        assert later.post(f"/api/v1/actions/{later.decisions()[0]['id']}/approve")[0] == 200
        later.decided("done")
    assert len(hook.requests) == 1
