"""The docket: what is decided about alerts, and how decisions go on or end; no threads, no sending."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from monitor.actions.audit import Audit
from monitor.actions.book import MAX_DECISIONS, Book
from monitor.actions.decision import Decision, Status, evidence_of, key_of
from monitor.actions.judge import World, beginning, end_of, target_of
from monitor.actions.plain import iso
from monitor.actions.silence import silence_for
from monitor.actions.spec import DAY, ActionSpec, Breaker
from monitor.alerts.alert import Alert
from monitor.clock import Clock

log = logging.getLogger(__name__)

FRESH = 60_000_000
"""Microseconds after which what `consider` said is too old to act on: this process may have stood still."""


LEAVING = 3_600_000_000
"""Microseconds after an action within which traffic that goes elsewhere does so because of it."""

SHOWN_FAILING = 10
"""Attempts that `problem` speaks of: they rarely fail for different reasons."""


class Docket:
    """Not thread-safe: callers hold their lock. See `monitor.actions.desk.Desk` for the parameters.

    Attributes
    ----------
    book
        What is remembered.
    world
        What `consider` said last; None before.
    in_flight
        Decisions that are being sent: nobody else touches them.
    number, marked
        Of changes: so far, and when the last checkpoint was cut.
    """

    def __init__(
        self,
        specs: Mapping[str, ActionSpec],
        breaker: Breaker,
        audit: Audit,
        clock: Clock,
        enabled: bool,
        patience: float,
    ) -> None:
        self.specs = specs
        self.enabled = enabled
        self.in_flight: set[str] = set()
        self.number = self.marked = 0
        self._breaker = breaker
        self._audit = audit
        self._clock = clock
        self._patience = patience
        self._memory = max([DAY, breaker.per, *(spec.cooldown for spec in specs.values())])
        self.reset()

    def reset(self) -> None:
        """Begin anew."""
        self.book = Book(self._memory)
        self.world: World | None = None
        self.marked = self.number
        self._alerts: Mapping[str, Alert] = {}
        self._unsaved: dict[str, tuple[int, float]] = {}
        """Pending decisions that no checkpoint holds yet: their number, and since when they wait."""

    def consider(self, alerts: Sequence[Alert], world: World) -> None:
        """Judge again what is open, and decide about alerts."""
        # What is missing is no reason to do something about a version, nor against going back to it.
        alerts = [alert for alert in alerts if not alert.is_companion]
        self._alerts = {alert.episode: alert for alert in alerts if alert.firing}
        self.world = world
        self.book.tidy(world.now)
        self.book.watch(alerts, world)
        self._note_left(world.now)
        for decision in self.book.open:
            self.judge(decision, world)
        if self.enabled and world.unclear is None:
            for alert in sorted(self._alerts.values(), key=_began):
                if alert.actionable and world.was_live(alert.key.model, alert.key.version):
                    self._decide_all(alert, world)

    def judge(self, decision: Decision, world: World) -> Decision:
        """Return an open decision as it is now: over, if that is what the world says."""
        if decision.id in self.in_flight:
            return decision
        spec = self.specs.get(decision.action)
        if spec is None:
            return self.change(decision, "superseded", "no such action is configured any more")
        end = end_of(decision, spec, self._alerts, world, self.book.unfit)
        if end is None:
            return decision
        let_through = None if end.status == "waiting_for_approval" else decision.taken_at
        return self.change(decision, *end, taken_at=let_through)

    def judge_now(self, decision: Decision) -> Decision:
        """Return an open decision as it is by what `consider` said last and the time now."""
        assert self.world is not None
        return self.judge(decision, replace(self.world, now=self._clock.now()))

    def obstacle(self, decision: Decision) -> str | None:
        """Return why a pending decision is not sent at this moment, None where it may be."""
        world, now = self.world, self._clock.now()
        number, since = self._unsaved.get(decision.id, (0, 0.0))
        alert = self._alerts.get(decision.episode)
        if decision.id in self.in_flight:
            return "it is being sent"
        if not self.enabled:
            return "actions.enabled is false"
        if world is None or now - world.now > FRESH:
            return "nothing was read lately"
        if world.unclear is not None:
            return world.unclear
        if alert is not None and alert.reason is not None:
            return alert.reason
        if (pause := self.book.pause) is not None and (pause.until is None or now < pause.until):
            return f"paused by {pause.by}"
        if alert is not None and (silence := silence_for(self.book.silences.values(), alert, now)):
            return f"silenced by {silence.by}"
        if number and self._clock.monotonic() - since < self._patience:
            return "it is in no checkpoint yet"
        return None

    def change(self, decision: Decision, status: Status, reason: str | None, **more: Any) -> Decision:
        """Give a decision another status, in memory and in the audit log; return it."""
        now = self._clock.now()
        changed = replace(decision, status=status, reason=reason or None, changed_at=now, **more)
        self.book.put(changed)
        if decision.status == "pending" and not changed.open and self._left(changed):
            self.book.roll_back(changed.model, changed.bad_version, now)
        self.note("decision", changed.line())
        if status == "pending":
            self._unsaved[changed.id] = self.number, self._clock.monotonic()
        else:
            self._unsaved.pop(changed.id, None)
        facts = {"action": changed.action, "id": changed.id, "model": changed.model, "reason": changed.reason}
        log.info("action %s", status, extra=facts)
        return changed

    def note(self, event: str, facts: Mapping[str, Any]) -> None:
        """Write to the audit log what changed, and have it saved soon."""
        self.number += 1
        self._audit.add({"at": iso(self._clock.now()), "event": event, **facts})

    def saved(self, mark: int) -> None:
        """Take note that everything up to a number is on disk."""
        self._unsaved = {id: each for id, each in self._unsaved.items() if each[0] > mark}

    @property
    def problem(self) -> str | None:
        """What is wrong with deciding, sending or the audit log; None while nothing is."""
        full = f"{MAX_DECISIONS:,} decisions are open or still count, so no further one is made"
        failing = [
            f"{each.action} of {each.model} is tried again: {each.last_error}"
            for each in self.book.open
            if each.last_error is not None
        ]
        parts = (full if self.book.full else None, *failing[:SHOWN_FAILING], self._audit.problem)
        return "; ".join(filter(None, parts)) or None

    def _note_left(self, now: int) -> None:
        """Remember the versions that were left after an action: not every action moves traffic."""
        for decision in self.book.decisions.values():
            if decision.status == "done" and now - decision.changed_at <= LEAVING and self._left(decision):
                self.book.roll_back(decision.model, decision.bad_version, decision.changed_at)

    def _left(self, decision: Decision) -> bool:
        """Whether traffic is known to come from another version than the bad one."""
        if self.world is None or self.world.unclear is not None:
            return False
        return self.world.live.get(decision.model) not in (None, decision.bad_version)

    def _decide_all(self, alert: Alert, world: World) -> None:
        for name in alert.rule.actions:
            spec = self.specs.get(name)
            if spec is None or self.book.has(key_of(name, alert.episode)):
                continue
            if silence_for(self.book.silences.values(), alert, world.now) is not None:
                continue
            if self._has_room(world.now):
                self._decide(spec, alert, world)

    def _has_room(self, now: int) -> bool:
        was_full = self.book.full
        if not self.book.make_room(now, self._alerts.keys()) and not was_full:
            log.error("%s", self.problem)
        return not self.book.full

    def _decide(self, spec: ActionSpec, alert: Alert, world: World) -> None:
        key = alert.key
        target = target_of(key.model, key.version, world, self.book.unfit)
        status, reason = beginning(spec, self._breaker, alert, target, self.book.taken, world)
        decision = Decision(
            action=spec.name,
            kind=spec.kind,
            alert=key,
            episode=alert.episode,
            model=key.model,
            bad_version=key.version,
            target_version=target,
            status=status,
            reason=reason,
            decided_at=world.now,
            expires_at=world.now + spec.expires,
            changed_at=world.now,
            taken_at=world.now if status in ("pending", "dry_run") else None,
            severity=alert.rule.severity,
            labels=dict(alert.rule.extra_labels),
            evidence=evidence_of(alert),
        )
        self.change(decision, status, reason)


def _began(alert: Alert) -> tuple[int, int, str]:
    assert alert.started is not None  # it fires
    return alert.started.timestamp, alert.started.position, alert.episode
