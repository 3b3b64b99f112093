"""The desk: decides what is done about alerts, has it done, and lets people have a say.

The order of what has effects:

1. decide (poll thread): the decision is in memory, and its line on its way to the audit log
2. checkpoint: the decision is on disk; only then, or where none can be written for a while, it may be sent
3. send (the action's thread), if everything still holds: preconditions are judged by the newest alerts
4. settle: what came of it, in memory and in the audit log; the next checkpoint has it

A crash before 2 forgets the decision: the alert is raised from the log again, and the same is decided.
After 2 it is sent after the restart, with the same key; after 3 it may be sent twice, with the same key.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from monitor.actions.acts import ActRefused, check_text, new_pause, new_silence
from monitor.actions.audit import Audit
from monitor.actions.decision import Decision, Status
from monitor.actions.delivery import Delivery
from monitor.actions.docket import Docket
from monitor.actions.judge import World, refusal
from monitor.actions.sender import Sender
from monitor.actions.silence import Pause, Silence, silence_for
from monitor.actions.spec import ActionSpec, Breaker
from monitor.alerts.alert import Alert
from monitor.clock import Clock

PATIENCE = 10.0
"""Seconds that a decision waits for a checkpoint."""


@dataclass(frozen=True, slots=True)
class DeskView:
    """The desk at one moment; decisions are newest first."""

    decisions: tuple[Decision, ...]
    paused: Pause | None
    silences: tuple[Silence, ...]
    held_by_breaker: bool
    enabled: bool
    problem: str | None


class Desk:
    """All actions. `consider`, `mark`, `tree`, `resume` and `forget` are for one thread, the rest for any.

    Parameters
    ----------
    specs
        The actions by name.
    breaker
        Over all of them.
    senders
        What carries each out, by name.
    audit
        Where every decision and every change is written.
    clock
        Time.
    enabled
        False: nothing is decided and nothing sent.
    patience
        Seconds that a decision waits for a checkpoint that holds it.
    """

    def __init__(
        self,
        specs: Mapping[str, ActionSpec],
        breaker: Breaker,
        senders: Mapping[str, Sender],
        audit: Audit,
        clock: Clock,
        enabled: bool = True,
        patience: float = PATIENCE,
    ) -> None:
        self._audit = audit
        self._clock = clock
        self._changed = threading.Condition()
        self._docket = Docket(specs, breaker, audit, clock, enabled, patience)
        self._delivery = Delivery(self._docket, self._changed, senders, audit, clock)

    def start(self) -> None:
        """Start to carry out decisions."""
        self._delivery.start()

    def close(self) -> None:
        """Send nothing any more, and write the audit log to its end; takes a few seconds at most."""
        self._delivery.close()
        self._audit.close()

    def consider(self, alerts: Sequence[Alert], world: World) -> None:
        """Decide about alerts, and judge again what is open: at every turn, at least every few seconds.

        Parameters
        ----------
        alerts
            All that there are.
        world
            What else preconditions need.
        """
        with self._changed:
            self._docket.consider(alerts, world)
            self._changed.notify_all()

    @property
    def decided(self) -> bool:
        """Whether something changed since the last mark: then a checkpoint should be written at once."""
        with self._changed:
            return self._docket.number > self._docket.marked

    def mark(self) -> int:
        """Return a mark behind everything decided so far; call it before `tree` in the same cut."""
        with self._changed:
            self._docket.marked = self._docket.number
            return self._docket.marked

    def saved(self, mark: int) -> None:
        """Take note that a checkpoint with everything before a mark is on disk."""
        with self._changed:
            self._docket.saved(mark)
            self._changed.notify_all()

    def tree(self) -> dict[str, Any]:
        """Return plain data for a checkpoint."""
        with self._changed:
            return self._docket.book.tree()

    def resume(self, tree: Any) -> None:
        """Take over what a checkpoint held; nothing is sent before the next `consider`.

        Raises
        ------
        ValueError
            If it is damaged.
        """
        with self._changed:
            self._docket.reset()
            self._docket.book.resume(tree)

    def forget(self) -> None:
        """Drop everything: it belongs to another instance now."""
        with self._changed:
            self._docket.reset()

    @property
    def attempts(self) -> dict[tuple[str, str], int]:
        """Attempts by action and result: done, retry, failed, refused."""
        with self._changed:
            return dict(self._delivery.results)

    @property
    def pending(self) -> dict[str, int]:
        """Open decisions by action: those to be sent, and those that wait for a person."""
        with self._changed:
            found = Counter(each.action for each in self._docket.book.open)
            return {name: found[name] for name in self._docket.specs}

    @property
    def alive(self) -> bool:
        """Whether decisions are still carried out and written down."""
        return self._audit.alive and self._delivery.alive

    @property
    def problem(self) -> str | None:
        """What is wrong with deciding or the audit log; None while nothing is."""
        with self._changed:
            return self._docket.problem

    def view(self) -> DeskView:
        """Return the desk as it is; a pending decision's reason is why it has not been sent."""
        with self._changed:
            book = self._docket.book
            book.tidy(self._clock.now())
            return DeskView(
                tuple(self._explained(each) for each in reversed(book.decisions.values())),
                book.pause,
                tuple(book.silences.values()),
                any(each.status == "held" for each in book.decisions.values()),
                self._docket.enabled,
                self._docket.problem,
            )

    def silence_of(self, alert: Alert) -> Silence | None:
        """Return a silence that holds an alert, None where none does."""
        with self._changed:
            return silence_for(self._docket.book.silences.values(), alert, self._clock.now())

    def approve(self, id: str, by: str) -> None:
        """Let a decision through that waits for a person, if everything still holds.

        Raises
        ------
        ActRefused
            If it does not, or there is no such decision.
        """
        check_text("by", by)
        with self._changed:
            decision = self._found(id)
            if decision.status not in ("waiting_for_approval", "held"):
                raise ActRefused(f"{id} is {decision.status}, which waits for nobody")
            world, now = self._docket.world, self._clock.now()
            if world is None or world.unclear:
                why = "nothing was read since the start" if world is None else world.unclear
                raise ActRefused(f"{id} cannot be approved now: {why}")
            decision = self._docket.judge_now(decision)
            if not decision.open:
                raise ActRefused(f"{id} is {decision.status}: {decision.reason}")
            spec = self._docket.specs[decision.action]
            if why := refusal(spec, decision.model, self._docket.book.taken, now):
                raise ActRefused(f"{id} cannot be approved now: {why}")
            status: Status = "dry_run" if spec.dry_run else "pending"
            self._docket.change(decision, status, f"approved by {by}", by=by, taken_at=now)
            self._changed.notify_all()

    def reject(self, id: str, by: str) -> None:
        """End an open decision; ActRefused if it is over, or being sent."""
        check_text("by", by)
        with self._changed:
            decision = self._found(id)
            if id in self._docket.in_flight:
                raise ActRefused(f"{id} is being sent at this moment")
            if not decision.open:
                raise ActRefused(f"{id} is {decision.status} already")
            self._docket.change(decision, "rejected", f"rejected by {by}", by=by)

    def pause(self, by: str, until: int | None = None) -> Pause:
        """Send nothing until a time, or until somebody resumes; ActRefused for a time that is past."""
        with self._changed:
            pause = new_pause(by, until, self._clock.now())
            self._docket.book.pause = pause
            self._docket.note("pause", pause.tree())
            return pause

    def resume_actions(self, by: str) -> None:
        """End the pause; ActRefused where there is none."""
        check_text("by", by)
        with self._changed:
            book = self._docket.book
            book.tidy(self._clock.now())
            if book.pause is None:
                raise ActRefused("the actions are not paused")
            book.pause = None
            self._docket.note("resume", {"by": by})
            self._changed.notify_all()

    def silence(self, matchers: Mapping[str, str], until: int, by: str, comment: str) -> Silence:
        """Hold the actions of some alerts for a while; ActRefused where something is wrong with that."""
        with self._changed:
            book, now = self._docket.book, self._clock.now()
            book.tidy(now)
            silence = new_silence(matchers, until, by, comment, len(book.silences), now)
            book.silences[silence.id] = silence
            self._docket.note("silence", silence.tree())
            return silence

    def end_silence(self, id: str, by: str) -> None:
        """End a silence; ActRefused where there is none."""
        check_text("by", by)
        with self._changed:
            if self._docket.book.silences.pop(id, None) is None:
                raise ActRefused(f"there is no silence {id}", unknown=True)
            self._docket.note("end_silence", {"id": id, "by": by})
            self._changed.notify_all()

    def deliver(self, action: str) -> bool:
        """Make one attempt of an action if one is due; return whether one was made. `start` does this too."""
        return self._delivery.deliver(action)

    def _explained(self, decision: Decision) -> Decision:
        if decision.status != "pending":
            return decision
        wait = self._delivery.due_in(decision)
        reason = self._docket.obstacle(decision) or (f"it is tried again in {wait:.0f} s" if wait else None)
        return replace(decision, reason=reason)

    def _found(self, id: str) -> Decision:
        decision = self._docket.book.decisions.get(id)
        if decision is None:
            raise ActRefused(f"there is no decision {id}", unknown=True)
        return decision
