"""What the desk decides and does, step by step, on a clock that stands still."""

import json
from dataclasses import replace
from itertools import count, pairwise

import pytest

from monitor.actions.acts import ActRefused
from monitor.actions.book import MAX_DECISIONS
from monitor.actions.decision import key_of
from monitor.actions.sender import Outcome
from monitor.actions.spec import DAY, HOUR, MINUTE, ActionSpec, Breaker
from tests.support.desks import ROLLBACK, Office, Sender, alert

HOURS = 3600.0


def test_a_firing_alert_leads_to_one_action() -> None:
    office = Office()
    fires = alert()
    assert office.act(fires) == 1
    assert office.act(fires) == 0
    [sent] = office.sender.sent
    assert (sent.model, sent.bad_version, sent.target_version) == ("fraud", "2", "1")
    assert sent.idempotency_key == key_of("rollback", fires.episode)
    assert office.statuses == ["done"]
    assert office.audit.changes(sent.id) == ["pending", "done"]
    assert office.desk.attempts == {("rollback", "done"): 1}


def test_the_payload_says_what_to_do_and_why() -> None:
    office = Office()
    office.act(alert())
    sent = office.sender.sent[0].payload()
    assert json.loads(json.dumps(sent)) == sent
    assert sent["target_version"] == "1"
    assert sent["alert"]["alert"] == "RecallBelowFloor"
    assert sent["evidence"] == {
        "value": 0.6,
        "limit": 0.8,
        "support": 40,
        "since": "1970-01-01T00:00:00.000001Z",
    }
    assert sent["decided_at"] == "2025-11-29T07:06:40.000000Z"
    assert sent["expires_at"] == "2025-11-29T07:21:40.000000Z"


def test_evidence_that_json_cannot_hold_is_left_out() -> None:
    office = Office()
    fires = alert()
    office.act(replace(fires, evidence=replace(fires.evidence, value=float("nan"), upper=float("inf"))))
    assert set(office.sender.sent[0].evidence) == {"limit", "support", "since"}


@pytest.mark.parametrize(
    "changes",
    [
        {"actionable": False},
        {"historic": True},
        {"started": None, "state": "no_data"},
        {"state": "pending", "started": None},
    ],
)
def test_alerts_that_are_not_firing_now_lead_to_nothing(changes) -> None:
    office = Office()
    assert office.act(alert(**changes)) == 0
    assert office.statuses == []


def test_actions_that_the_rule_does_not_name_are_not_taken() -> None:
    office = Office()
    assert office.act(alert(actions=())) == 0
    assert office.act(alert(actions=("other",))) == 0


@pytest.mark.parametrize("changes", [{"ready": False}, {"lagging": True}, {"live": {"other": "1"}}])
def test_nothing_is_decided_while_the_world_is_unclear(changes) -> None:
    office = Office()
    assert office.act(alert(), **changes) == 0
    assert office.statuses == []


@pytest.mark.parametrize("changes", [{"ready": False}, {"lagging": True}])
def test_nothing_is_sent_or_given_up_while_the_world_is_unclear(changes) -> None:
    office = Office()
    office.consider(alert())
    assert office.act(**changes) == 0  # without the alert: nobody knows
    assert office.statuses == ["pending"]
    assert office.act(alert()) == 1


def test_nothing_is_sent_on_what_was_known_long_ago() -> None:
    office = Office()
    office.consider(alert())
    office.pass_time(61)
    assert office.deliver() == 0
    assert office.last.reason == "nothing was read lately"
    assert office.act(alert()) == 1


def test_disabled_actions_decide_and_send_nothing() -> None:
    office = Office()
    office.consider(alert())
    tree = office.save()
    disabled = Office(enabled=False)
    disabled.restart(tree)
    assert disabled.act(alert(), alert("other", "2"), live={"fraud": "2", "other": "2"}) == 0
    assert disabled.statuses == ["pending"]


def test_a_dry_run_is_written_down_and_not_sent() -> None:
    office = Office(replace(ROLLBACK, dry_run=True))
    assert office.act(alert()) == 0
    assert office.statuses == ["dry_run"]
    assert office.audit.changes(office.last.id) == ["dry_run"]


# --- Which version is live, and which to go back to.


def test_a_late_alert_of_the_version_before_moves_nothing() -> None:
    office = Office()
    assert office.act(alert(version="1")) == 0
    assert office.statuses == ["superseded"]
    assert office.last.reason == "version 2 is live, not 1"


def test_a_decision_is_superseded_when_another_version_goes_live() -> None:
    office = Office()
    office.consider(alert())
    assert office.act(alert(), live={"fraud": "3"}, before={"fraud": ("2", "1")}) == 0
    assert office.statuses == ["superseded"]


def test_a_decision_is_superseded_when_its_alert_resolves() -> None:
    office = Office()
    office.consider(alert())
    assert office.act(alert(since=None)) == 0
    assert office.last.reason == "the alert no longer fires"


def test_a_later_episode_is_not_the_one_that_was_decided() -> None:
    office = Office()
    office.consider(alert(since=1))
    office.consider(alert(since=2))
    assert office.statuses == ["superseded", "refused"]  # the first one counts for the cooldown


def test_a_version_that_is_bad_itself_is_no_target() -> None:
    office = Office()
    before = {"fraud": ("1", "0")}
    office.act(alert(), alert(version="1", name="Other", actions=()), before=before)
    assert office.sender.sent[0].target_version == "0"


def test_a_version_whose_alert_never_resolved_is_no_target_when_its_data_end() -> None:
    office = Office()
    before = {"fraud": ("1",)}
    office.consider(alert(version="1", actions=()), before=before)
    silent = alert(version="1", since=None, state="no_data", actions=())
    office.act(alert(), silent, before=before)
    assert office.sender.sent[0].target_version is None


def test_a_version_whose_alert_resolved_is_a_target() -> None:
    office = Office()
    office.consider(alert(version="1", actions=()))
    office.act(alert(), alert(version="1", since=None, actions=()))
    assert office.sender.sent[0].target_version == "1"


def test_a_decision_is_superseded_when_its_target_turns_bad() -> None:
    office = Office()
    office.consider(alert())
    assert office.act(alert(), alert(version="1", actions=())) == 0
    assert office.last.reason == "version 1 has a firing alert itself or was rolled back"


def test_three_bad_versions_are_no_ping_pong() -> None:
    office = Office(replace(ROLLBACK, cooldown=MINUTE))
    office.act(alert(version="3"), live={"fraud": "3"}, before={"fraud": ("2", "1")})
    office.pass_time(300)
    office.act(alert(version="2", since=2), live={"fraud": "2"}, before={"fraud": ("3", "1")})
    office.pass_time(300)
    office.act(alert(version="1", since=3), live={"fraud": "1"}, before={"fraud": ("2", "3")})
    assert [(each.bad_version, each.target_version) for each in office.sender.sent] == [
        ("3", "2"),
        ("2", "1"),
        ("1", None),
    ]


def test_what_cannot_do_without_a_target_refuses() -> None:
    office = Office(ActionSpec("rollback", "mlflow"))
    assert office.act(alert(), before={}) == 0
    assert office.statuses == ["refused"]


# --- Limits.


def test_a_second_alert_of_the_same_model_waits_out_the_cooldown() -> None:
    office = Office()
    assert office.act(alert(), alert(name="Calibration", since=2)) == 1
    assert office.statuses == ["done", "refused"]
    office.pass_time(2 * HOURS)
    assert office.act(alert(name="Third", since=3)) == 1


def test_max_per_day_is_for_an_action_and_model() -> None:
    office = Office(replace(ROLLBACK, cooldown=MINUTE, max_per_day=2))
    live = {"fraud": "2", "other": "2"}
    for number in range(4):
        office.pass_time(300)
        office.act(alert(name=f"A{number}"), live=live)
    assert office.statuses == ["done", "done", "refused", "refused"]
    assert office.act(alert("other"), live=live) == 1
    office.pass_time(24 * HOURS)
    assert office.act(alert(name="Later"), live=live) == 1


def test_ten_models_that_drop_at_once_are_two_actions() -> None:
    office = Office(breaker=Breaker(2, HOUR))
    models = [f"m{i}" for i in range(10)]
    live = dict.fromkeys(models, "2")
    alerts = [alert(model, since=i) for i, model in enumerate(models)]
    assert office.act(*alerts, live=live) == 2
    assert office.statuses == ["done"] * 2 + ["held"] * 8
    assert office.desk.view().held_by_breaker
    office.desk.approve(office.last.id, "ann")
    assert office.act(*alerts, live=live) == 1
    office.pass_time(15 * 60)
    assert office.act(*alerts, live=live) == 0
    assert office.statuses == ["done"] * 2 + ["expired"] * 7 + ["done"]
    assert not office.desk.view().held_by_breaker


def test_dry_runs_do_not_trip_the_breaker_of_real_actions() -> None:
    office = Office(replace(ROLLBACK, name="dry", dry_run=True), ROLLBACK, breaker=Breaker(1, HOUR))
    live = {"a": "2", "b": "2"}
    office.act(alert("a", actions=("dry",)), live=live)
    office.act(alert("a", actions=("dry",)), alert("b", actions=("dry",)), live=live)
    assert office.statuses == ["dry_run", "held"]
    assert office.act(alert("b", name="Real"), live=live) == 1


# --- People.


def test_approval() -> None:
    office = Office(replace(ROLLBACK, approval=True))
    assert office.act(alert()) == 0
    assert office.statuses == ["waiting_for_approval"]
    assert office.desk.pending == {"rollback": 1}
    office.desk.approve(office.last.id, "ann")
    assert office.act(alert()) == 1
    assert office.last.by == "ann"
    with pytest.raises(ActRefused, match="is done"):
        office.desk.approve(office.last.id, "ann")


def test_approval_judges_again() -> None:
    office = Office(replace(ROLLBACK, approval=True))
    office.consider(alert())
    office.consider(alert(), live={"fraud": "3"})
    with pytest.raises(ActRefused, match="superseded"):
        office.desk.approve(office.last.id, "ann")


def test_approval_after_its_time() -> None:
    office = Office(replace(ROLLBACK, approval=True))
    office.consider(alert())
    office.pass_time(16 * 60)
    with pytest.raises(ActRefused, match="expired"):
        office.desk.approve(office.last.id, "ann")
    assert office.statuses == ["expired"]


def test_approval_keeps_to_the_limits() -> None:
    office = Office(replace(ROLLBACK, approval=True))
    office.consider(alert(), alert(name="Second", since=2))
    second, first = office.desk.view().decisions
    office.desk.approve(first.id, "ann")
    with pytest.raises(ActRefused, match="cooldown"):
        office.desk.approve(second.id, "ann")
    assert office.statuses == ["pending", "waiting_for_approval"]


def test_approval_before_anything_was_read() -> None:
    office = Office(replace(ROLLBACK, approval=True))
    office.consider(alert())
    office.restart(office.save())
    with pytest.raises(ActRefused, match="nothing was read"):
        office.desk.approve(office.last.id, "ann")
    office.consider(alert(), lagging=True)
    with pytest.raises(ActRefused, match="lags"):
        office.desk.approve(office.last.id, "ann")
    assert office.statuses == ["waiting_for_approval"]


def test_rejection() -> None:
    office = Office()
    office.consider(alert())
    office.desk.reject(office.last.id, "ann")
    assert office.act(alert()) == 0
    assert office.statuses == ["rejected"]
    with pytest.raises(ActRefused, match="already"):
        office.desk.reject(office.last.id, "ann")


def test_a_decision_that_nobody_knows() -> None:
    office = Office()
    for act in (office.desk.approve, office.desk.reject, office.desk.end_silence):
        with pytest.raises(ActRefused) as caught:
            act("0" * 12, "ann")
        assert caught.value.unknown


def test_nothing_is_sent_while_paused() -> None:
    office = Office()
    office.desk.pause("ann")
    assert office.act(alert()) == 0
    assert office.last.reason == "paused by ann"
    office.desk.resume_actions("ben")
    assert office.act(alert()) == 1
    with pytest.raises(ActRefused, match="not paused"):
        office.desk.resume_actions("ben")
    assert [each["event"] for each in office.audit.entries if "by" in each and "status" not in each] == [
        "pause",
        "resume",
    ]


def test_decisions_expire_while_paused() -> None:
    office = Office()
    office.desk.pause("ann", office.clock.now() + HOUR)
    office.consider(alert())
    office.pass_time(16 * 60)
    assert office.act(alert()) == 0
    office.pass_time(HOURS)
    assert office.desk.view().paused is None
    assert office.act(alert()) == 0
    assert office.statuses == ["expired"]


def test_a_silence_holds_decisions_and_deliveries() -> None:
    office = Office()
    until = office.clock.now() + HOUR
    office.consider(alert())
    silence = office.desk.silence({"model": "fraud", "alert": "Recall*"}, until, "ann", "retraining")
    assert office.act(alert()) == 0
    assert office.last.reason == "silenced by ann"
    office.desk.end_silence(silence.id, "ann")
    assert office.act(alert()) == 1


def test_a_silenced_alert_is_not_decided_about_until_the_silence_ends() -> None:
    office = Office()
    office.desk.silence({"severity": "page"}, office.clock.now() + HOUR, "ann", "retraining")
    assert office.desk.silence_of(alert()) is not None
    assert office.act(alert()) == 0
    assert office.statuses == []
    office.pass_time(HOURS)
    assert office.desk.view().silences == ()
    assert office.act(alert()) == 1


@pytest.mark.parametrize(
    ("matchers", "hours", "by", "comment", "said"),
    [
        ({}, 1, "ann", "why", "pause the actions"),
        ({"model": "x"}, 0, "ann", "why", "to come"),
        ({"model": "x"}, 24 * 31, "ann", "why", "30 days"),
        ({"model": "x"}, 1, " ", "why", "by is empty"),
        ({"model": "x"}, 1, "ann", "", "comment is empty"),
        ({"model": "x" * 2000}, 1, "ann", "why", "longer"),
        ({str(i): "x" for i in range(21)}, 1, "ann", "why", "more than 20"),
    ],
)
def test_silences_that_are_refused(matchers, hours, by, comment, said) -> None:
    office = Office()
    with pytest.raises(ActRefused, match=said):
        office.desk.silence(matchers, office.clock.now() + hours * HOUR, by, comment)


def test_silences_are_bounded() -> None:
    office = Office()
    for _ in range(100):
        office.desk.silence({"model": "x"}, office.clock.now() + HOUR, "ann", "why")
    with pytest.raises(ActRefused, match="100 silences"):
        office.desk.silence({"model": "x"}, office.clock.now() + HOUR, "ann", "why")


def test_a_pause_in_the_past_is_refused() -> None:
    office = Office()
    with pytest.raises(ActRefused, match="past"):
        office.desk.pause("ann", office.clock.now())


# --- Sending.


def test_a_decision_waits_for_its_checkpoint() -> None:
    office = Office()
    mark = office.desk.mark()
    office.consider(alert())
    assert office.desk.decided
    office.desk.saved(mark)  # of a cut from before
    assert not office.desk.deliver("rollback")
    assert office.last.reason == "it is in no checkpoint yet"
    mark = office.desk.mark()
    assert not office.desk.decided
    office.desk.saved(mark)
    assert office.desk.deliver("rollback")


def test_a_decision_waits_no_longer_than_patience() -> None:
    office = Office()
    office.consider(alert())
    office.pass_time(9)
    assert not office.desk.deliver("rollback")
    office.pass_time(1)
    assert office.desk.deliver("rollback")


def test_500_for_an_hour_expires() -> None:
    office = Office(sender=Sender(Outcome("retry", "answered 500")))
    office.consider(alert())
    office.save()
    times = []
    for _ in range(3600):
        office.consider(alert())
        if office.desk.deliver("rollback"):
            times.append(office.clock.now())
        office.pass_time(1)
    gaps = [(b - a) / 1e6 for a, b in pairwise(times)]
    assert 15 < len(times) < 60
    assert max(gaps) <= 61
    assert gaps[0] <= 2
    assert times[-1] < times[0] + 15 * MINUTE
    assert office.statuses == ["expired"]
    assert office.last.last_error == "answered 500"
    assert office.desk.attempts == {("rollback", "retry"): len(times)}
    assert len({each.idempotency_key for each in office.sender.sent}) == 1
    assert len({json.dumps(each.payload()) for each in office.sender.sent}) == 1


@pytest.mark.parametrize("result", ["failed", "refused"])
def test_what_is_final_is_not_tried_again(result) -> None:
    office = Office(sender=Sender(Outcome(result, "no")))
    assert office.act(alert()) == 1
    office.pass_time(30)
    assert office.act(alert()) == 0
    assert office.statuses == [result]
    assert office.last.reason == office.last.last_error == "no"


def test_a_sender_that_raises_is_tried_again(caplog: pytest.LogCaptureFixture) -> None:
    def broken(decision):
        raise KeyError("secret")

    office = Office(sender=Sender(broken))
    assert office.act(alert()) == 1
    assert office.statuses == ["pending"]
    assert office.last.last_error == "an error in the monitor itself: KeyError"


def test_preconditions_are_judged_before_every_attempt() -> None:
    office = Office(sender=Sender(Outcome("retry", "away")))
    assert office.act(alert()) == 1
    office.pass_time(30)
    assert office.act(alert(), live={"fraud": "3"}, before={"fraud": ("2",)}) == 0
    assert office.statuses == ["superseded"]
    office.sender.outcome = Outcome("done")
    office.pass_time(2 * HOURS)
    office.act(alert(version="3", since=2), live={"fraud": "3"}, before={"fraud": ("2",)})
    assert office.sender.sent[-1].target_version is None  # 2 was left because it was bad


def test_a_decision_that_expires_between_two_turns_is_not_sent() -> None:
    office = Office()
    office.desk.pause("ann")
    office.consider(alert())
    office.pass_time(15 * 60 - 30)
    office.consider(alert())
    office.desk.resume_actions("ann")
    office.pass_time(30)
    assert office.deliver() == 0
    assert office.statuses == ["expired"]


def test_an_answer_that_was_lost_is_no_failure() -> None:
    office = Office(sender=Sender(Outcome("retry", "no answer")))
    office.act(alert())
    office.act(alert(), live={"fraud": "1"}, before={"fraud": ("2",)})
    assert office.statuses == ["done"]
    assert office.last.reason == "version 1 is live"


# --- Restarts.


def test_what_was_pending_is_sent_after_a_restart_with_the_same_key() -> None:
    office = Office()
    office.consider(alert())
    tree = office.save()
    assert office.deliver() == 1
    office.restart(json.loads(json.dumps(tree)))  # killed before the next checkpoint
    assert office.deliver() == 0  # nothing is known yet
    assert office.act(alert()) == 1
    first, second = office.sender.sent
    assert first.idempotency_key == second.idempotency_key
    assert first.payload() == second.payload()


def test_a_decision_that_was_lost_is_made_anew_with_the_same_key() -> None:
    office = Office()
    office.consider(alert())
    lost = office.last
    office.restart()
    assert office.act(alert()) == 1
    assert office.sender.sent[0].idempotency_key == lost.idempotency_key


def test_everything_survives_a_checkpoint() -> None:
    office = Office(replace(ROLLBACK, cooldown=MINUTE))
    office.act(alert(version="1", name="Old", since=1), live={"fraud": "1"}, before={"fraud": ("0",)})
    office.consider(alert())
    office.desk.pause("ann")
    office.desk.silence({"model": "x*"}, office.clock.now() + HOUR, "ann", "why")
    view, tree = office.desk.view(), json.loads(json.dumps(office.desk.tree()))
    office.restart(tree)
    assert office.desk.tree() == tree
    restored = office.desk.view()
    assert (restored.paused, restored.silences) == (view.paused, view.silences)
    assert [replace(each, reason=None) for each in restored.decisions] == [
        replace(each, reason=None) for each in view.decisions
    ]


def test_limits_survive_a_restart() -> None:
    office = Office()
    office.act(alert())
    office.restart(office.save())
    assert office.act(alert(name="Another", since=2)) == 0
    assert office.statuses == ["done", "refused"]


def test_an_action_that_is_no_longer_configured_ends() -> None:
    office = Office()
    office.consider(alert())
    tree = office.save()
    other = Office(replace(ROLLBACK, name="other"))
    other.restart(tree)
    other.act(alert())
    assert other.statuses == ["superseded"]


def test_what_belongs_to_another_instance_is_dropped() -> None:
    office = Office()
    office.consider(alert())
    office.desk.forget()
    assert office.statuses == []
    assert office.deliver() == 0
    assert not office.desk.decided


def damaged():
    office = Office()
    office.act(alert())
    office.consider(alert(), live={"fraud": "1"}, before={"fraud": ("2",)})
    office.desk.silence({"model": "x"}, office.clock.now() + HOUR, "ann", "why")
    office.desk.pause("ann")
    whole = json.dumps(office.desk.tree())
    for path in (("decisions",), ("rolled_back",), ("unresolved",), ("silences",), ("pause",)):
        yield whole, path, 7
    for name in json.loads(whole)["decisions"][0]:
        yield whole, ("decisions", 0, name), {"x": [1]}
    for row in ("rolled_back", "unresolved"):
        yield whole, (row, 0, 0), None
    yield whole, ("silences", 0, "matchers"), {"a": 1}
    yield whole, ("decisions", 0, "status"), "odd"
    yield whole, ("decisions", 0, "attempts"), True


@pytest.mark.parametrize(
    ("whole", "path", "value"), list(damaged()), ids=count()
)  # the text has random ids in it
def test_damaged_checkpoints_are_refused(whole, path, value) -> None:
    tree = node = json.loads(whole)
    for step in path[:-1]:
        node = node[step]
    if path[-1] == "evidence":
        value = 7
    node[path[-1]] = value
    with pytest.raises(ValueError, match=r"."):
        Office().restart(tree)


def test_what_is_tried_again_is_a_problem_until_it_arrives() -> None:
    office = Office(sender=Sender(Outcome("retry", "hook.example.com: refused")))
    office.act(alert())
    assert office.desk.problem == "rollback of fraud is tried again: hook.example.com: refused"
    office.sender.outcome = Outcome("done")
    office.pass_time(60)
    office.act(alert())
    assert office.statuses == ["done"]
    assert office.desk.problem is None


# --- Bounds.


def test_decisions_are_bounded_and_firing_ones_are_not_made_twice() -> None:
    office = Office(replace(ROLLBACK, dry_run=True), breaker=Breaker(10**6, HOUR))
    live = {f"m{i}": "2" for i in range(MAX_DECISIONS + 5)}
    alerts = [alert(model, since=i + 1) for i, model in enumerate(live)]
    office.consider(*alerts, live=live)
    assert len(office.desk.view().decisions) == MAX_DECISIONS
    assert "no further" in (office.desk.problem or "")
    office.consider(*alerts, live=live)
    assert len(office.audit.entries) == MAX_DECISIONS
    office.pass_time(DAY / 1e6 + 1)
    office.consider(*alerts[100:], live=live)  # the first hundred resolved
    assert len(office.desk.view().decisions) == MAX_DECISIONS
    assert office.desk.problem is None
    assert len({each.episode for each in office.desk.view().decisions}) == MAX_DECISIONS
