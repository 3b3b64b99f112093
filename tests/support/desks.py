"""Alerts, worlds and senders for tests of the desk."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from monitor.actions.audit import Audit
from monitor.actions.decision import Decision
from monitor.actions.desk import Desk
from monitor.actions.judge import World
from monitor.actions.sender import Outcome
from monitor.actions.spec import ActionSpec, Breaker
from monitor.alerts.alert import Alert, Evidence, Key, Moment
from monitor.alerts.rule import Rule
from monitor.clock import ManualClock

ROLLBACK = ActionSpec("rollback", "webhook")
WIDE = Breaker(max_models=1_000)


def alert(
    model: str = "fraud",
    version: str = "2",
    *,
    name: str = "RecallBelowFloor",
    since: int | None = 1,
    actions: Sequence[str] = ("rollback",),
    **changes: Any,
) -> Alert:
    """Return an alert that fires since a moment; since None it does not."""
    rule = Rule(name, model, "classifier_recall", actions=tuple(actions), severity="page")
    moment = None if since is None else Moment(since, since, since)
    found = Alert(
        Key(name, model, version, "", "", "fraud"),
        rule,
        "inactive" if since is None else "firing",
        moment,
        moment,
        Evidence(value=0.6, limit=0.8, support=40),
        actionable=since is not None,
    )
    return replace(found, **changes)


def world(clock: ManualClock, live: Mapping[str, str] | None = None, **changes: Any) -> World:
    """Return a world in which version 2 of fraud is live and was 1 before."""
    found = World(clock.now(), live or {"fraud": "2"}, {"fraud": ("1",)})
    return replace(found, **changes)


class Sender:
    """Keeps what is sent, and answers what the test says."""

    def __init__(self, outcome: Outcome | Callable[[Decision], Outcome] = Outcome("done")) -> None:  # noqa: B008
        self.outcome = outcome
        self.sent: list[Decision] = []
        self.closed = False

    def send(self, decision: Decision, now: int) -> Outcome:
        self.sent.append(decision)
        return self.outcome(decision) if callable(self.outcome) else self.outcome

    def close(self) -> None:
        self.closed = True


class Memory(Audit):
    """An audit log in memory."""

    def __init__(self) -> None:
        super().__init__(None)
        self.entries: list[Mapping[str, Any]] = []

    def add(self, entry: Mapping[str, Any]) -> None:
        self.entries.append(entry)

    def changes(self, id: str) -> list[str]:
        return [each["status"] for each in self.entries if each["event"] == "decision" and each["id"] == id]


class Office:
    """A desk with everything around it, moved by hand: no thread, no time of its own."""

    def __init__(
        self, *specs: ActionSpec, breaker: Breaker = WIDE, sender: Sender | None = None, **options: Any
    ) -> None:
        self.clock = ManualClock()
        self.audit = Memory()
        self.specs = {spec.name: spec for spec in specs or (ROLLBACK,)}
        self.sender = sender or Sender()
        self._breaker, self._options = breaker, options
        self.desk = self._new()

    def _new(self) -> Desk:
        senders = {name: self.sender for name in self.specs}
        return Desk(self.specs, self._breaker, senders, self.audit, self.clock, **self._options)

    def restart(self, tree: Any | None = None) -> None:
        """Crash, and start with a checkpoint; None: with nothing."""
        self.desk = self._new()
        if tree is not None:
            self.desk.resume(tree)

    def consider(self, *alerts: Alert, live: Mapping[str, str] | None = None, **changes: Any) -> None:
        self.desk.consider(alerts, world(self.clock, live, **changes))

    def save(self) -> Any:
        mark = self.desk.mark()
        tree = self.desk.tree()
        self.desk.saved(mark)
        return tree

    def deliver(self) -> int:
        """Save, and send until nothing is due; return how often something was sent."""
        self.save()
        made = 0
        while attempts := sum(self.desk.deliver(name) for name in self.specs):
            made += attempts
        return made

    def act(self, *alerts: Alert, **changes: Any) -> int:
        """Consider, and deliver."""
        self.consider(*alerts, **changes)
        return self.deliver()

    def pass_time(self, seconds: float) -> None:
        self.clock.advance(seconds)

    @property
    def statuses(self) -> list[str]:
        """Of the decisions, oldest first."""
        return [each.status for each in reversed(self.desk.view().decisions)]

    @property
    def last(self) -> Decision:
        return self.desk.view().decisions[0]
