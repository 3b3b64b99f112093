"""Carrying decisions out: a thread for each action, so that one receiver cannot hold up another."""

from __future__ import annotations

import logging
import random
import threading
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from monitor.actions.audit import Audit
from monitor.actions.decision import Decision
from monitor.actions.docket import Docket
from monitor.actions.sender import Outcome, Sender, retry_after
from monitor.clock import Clock

log = logging.getLogger(__name__)

AUDIT_SECONDS = 2.0
CLOSE_SECONDS = 2.0
LOOK_EVERY = 1.0


class Delivery:
    """Sends what is pending on a docket, and tries again until it expires.

    Parameters
    ----------
    docket
        What is to be done.
    changed
        The lock of the docket, notified when there may be something to do. It is never held during a send.
    senders
        What carries out each action.
    audit
        Where a decision is written before it is sent.
    clock
        Time.

    Attributes
    ----------
    results
        Attempts by action and result.
    """

    def __init__(
        self,
        docket: Docket,
        changed: threading.Condition,
        senders: Mapping[str, Sender],
        audit: Audit,
        clock: Clock,
    ) -> None:
        self.results: Counter[tuple[str, str]] = Counter()
        self._docket = docket
        self._changed = changed
        self._senders = senders
        self._audit = audit
        self._clock = clock
        self._due: dict[str, float] = {}
        self._closing = threading.Event()
        self._threads = [
            threading.Thread(target=self._run, args=(name,), name=f"action-{name}", daemon=True)
            for name in senders
        ]

    @property
    def alive(self) -> bool:
        """Whether every action has its thread."""
        return all(thread.is_alive() for thread in self._threads)

    def start(self) -> None:
        """Start the threads."""
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """Send nothing any more; takes `CLOSE_SECONDS` at most."""
        deadline = time.monotonic() + CLOSE_SECONDS
        self._closing.set()
        with self._changed:
            self._changed.notify_all()
        for sender in self._senders.values():
            sender.close()
        for thread in self._threads:
            if thread.is_alive():
                thread.join(max(0.0, deadline - time.monotonic()))

    def deliver(self, action: str) -> bool:
        """Make one attempt of an action if one is due; return whether one was made."""
        with self._changed:
            decision = self._next(action)
        if decision is None:
            return False
        self._audit.flush(AUDIT_SECONDS)  # the log knows of it before the world does
        try:
            outcome = self._senders[action].send(decision, self._clock.now())
        except Exception as error:  # whatever one decision does to its sender, the next are sent
            log.exception("an attempt failed", extra={"action": action})
            outcome = Outcome("retry", f"an error in the monitor itself: {type(error).__name__}")
        with self._changed:
            self._settle(decision, outcome)
        return True

    def due_in(self, decision: Decision) -> float:
        """Return the seconds until a decision may be tried again."""
        return max(0.0, self._due.get(decision.id, 0.0) - self._clock.monotonic())

    def _run(self, action: str) -> None:
        while not self._closing.is_set():
            if not self.deliver(action):
                with self._changed:
                    if not self._closing.is_set():
                        self._changed.wait(LOOK_EVERY)

    def _next(self, action: str) -> Decision | None:
        """Take the next decision that may be sent now."""
        docket = self._docket
        for decision in docket.book.open:
            if decision.action != action or decision.status != "pending" or self._closing.is_set():
                continue
            if docket.obstacle(decision) is None and not self.due_in(decision):
                decision = docket.judge_now(decision)
                if decision.status == "pending":
                    decision = replace(decision, attempts=decision.attempts + 1)
                    docket.book.put(decision)
                    docket.in_flight.add(decision.id)
                    return decision
        return None

    def _settle(self, decision: Decision, outcome: Outcome) -> None:
        docket = self._docket
        docket.in_flight.discard(decision.id)
        self.results[decision.action, outcome.result] += 1
        if not docket.book.has(decision.idempotency_key):
            return  # forgotten meanwhile
        error = None if outcome.result == "done" else outcome.message
        if outcome.result == "retry":
            wait = retry_after(decision.attempts, random.random())  # noqa: S311
            self._due[decision.id] = self._clock.monotonic() + wait
            decision = replace(decision, last_error=error)
            docket.book.put(decision)
            docket.note("attempt", decision.tree())
            log.warning(
                "action tried again", extra={"action": decision.action, "id": decision.id, "reason": error}
            )
        else:
            self._due.pop(decision.id, None)
            docket.change(decision, outcome.result, outcome.message, last_error=error)
