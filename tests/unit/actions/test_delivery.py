"""Carrying out, with real threads and real receivers."""

import threading
import time
from collections.abc import Callable
from dataclasses import replace

import pytest

from monitor.actions import delivery
from monitor.actions.audit import Audit
from monitor.actions.desk import Desk
from monitor.actions.sender import Outcome
from monitor.actions.spec import ActionSpec, Breaker
from monitor.actions.webhook import Webhook
from monitor.clock import SystemClock
from tests.support.desks import ROLLBACK, Memory, Sender, alert, world
from tests.support.receivers import answer, receiving


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delivery, "LOOK_EVERY", 0.02)


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def made(senders, *specs: ActionSpec, audit: Audit | None = None) -> Desk:
    specs = specs or (ROLLBACK,)
    by_name = {spec.name: spec for spec in specs}
    return Desk(by_name, Breaker(100), senders, audit or Memory(), SystemClock(), patience=0)


def consider(desk: Desk, *alerts) -> None:
    desk.consider(alerts, world(SystemClock()))


def test_a_receiver_that_hangs_holds_up_nobody_else() -> None:
    other = Sender()
    with receiving() as receiver:
        hook = Webhook(receiver.url, "secret", 60)
        desk = made({"rollback": hook, "other": other}, ROLLBACK, replace(ROLLBACK, name="other"))
        desk.start()
        consider(desk, alert(actions=("rollback", "other")))
        until(lambda: receiver.connections == 1 and len(other.sent) == 1)
        consider(desk, alert(actions=("rollback", "other")))  # returns, whatever hangs
        assert desk.alive
        assert {each.action: each.status for each in desk.view().decisions} == {
            "rollback": "pending",
            "other": "done",
        }
        assert desk.view().decisions[1].reason == "it is being sent"
        desk.close()
        assert not desk.alive  # whatever hangs


def test_an_attempt_is_made_again() -> None:
    with receiving(answer(503)) as receiver:
        desk = made({"rollback": Webhook(receiver.url, "secret", 5)})
        desk.start()
        consider(desk, alert())
        until(lambda: len(receiver.requests) == 1)
        receiver.reply = answer(200)
        until(lambda: desk.view().decisions[0].status == "done")
        desk.close()
    assert len({each.headers["idempotency-key"] for each in receiver.requests}) == 1
    assert desk.attempts == {("rollback", "retry"): 1, ("rollback", "done"): 1}
    assert desk.view().decisions[0].attempts == 2


def test_nothing_is_sent_after_closing() -> None:
    sender = Sender()
    desk = made({"rollback": sender})
    desk.start()
    desk.close()
    assert sender.closed
    consider(desk, alert())
    assert not desk.deliver("rollback")
    assert sender.sent == []


def test_what_is_being_sent_is_left_alone() -> None:
    sending, go_on = threading.Event(), threading.Event()

    def slow(decision) -> Outcome:
        sending.set()
        assert go_on.wait(20)
        return Outcome("done")

    desk = made({"rollback": Sender(slow)})
    desk.start()
    consider(desk, alert())
    assert sending.wait(20)
    consider(desk)  # the alert is over, but the receiver has it already
    assert desk.view().decisions[0].status == "pending"
    with pytest.raises(Exception, match="being sent"):
        desk.reject(desk.view().decisions[0].id, "ann")
    go_on.set()
    until(lambda: desk.view().decisions[0].status == "done")
    desk.close()


def test_what_belongs_to_another_instance_by_the_time_it_is_sent() -> None:
    desk = made({})

    def forgetful(decision) -> Outcome:
        desk.forget()
        return Outcome("done")

    desk = made({"rollback": Sender(forgetful)})
    consider(desk, alert())
    assert desk.deliver("rollback")
    assert desk.view().decisions == ()


def test_the_audit_log_has_a_decision_before_it_is_sent(tmp_path) -> None:
    path = tmp_path / "actions.jsonl"
    seen: list[str] = []

    def look(decision) -> Outcome:
        seen.append(path.read_text())
        return Outcome("done")

    desk = made({"rollback": Sender(look)}, audit=Audit(path))
    consider(desk, alert())
    desk.deliver("rollback")
    desk.close()
    assert '"status":"pending"' in seen[0]
    assert '"status":"done"' in path.read_text()


def test_an_audit_log_that_cannot_be_written_does_not_stop_an_action(tmp_path, caplog) -> None:
    desk = made({"rollback": Sender()}, audit=Audit(tmp_path))
    consider(desk, alert())
    assert desk.deliver("rollback")
    assert "cannot be written" in (desk.problem or "")
    assert "cannot be written" in (desk.view().problem or "")
    desk.close()
