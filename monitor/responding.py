"""What follows from what the owner reads: decisions about alerts, and what is done about them."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping, Sequence

from monitor.actions.desk import Desk
from monitor.actions.judge import World
from monitor.alerts.alert import Alert, Transition
from monitor.alerts.view import AlertsView
from monitor.alerts.words import sentence
from monitor.catching_up import CatchingUp, Progress
from monitor.clock import Clock
from monitor.deciding import Deciding, Run
from monitor.pipeline import Pipeline
from monitor.records import Partition, RecordBatch
from monitor.report import Report
from monitor.wording import iso

log = logging.getLogger(__name__)

VIEW_SECONDS = 1.0
"""How often alerts without a change are shown anew, and what waits is judged again."""

VIEW_SHARE = 0.05
"""Of the thread's time that this may take: with thousands of alerts it is done less often."""


class Responding:
    """Of one tenure; for the poll thread, but `view` may be read from any.

    Parameters
    ----------
    pipeline
        What is read goes there.
    desk
        Decides about actions; None where none is configured.
    run
        Runs evaluations of the windows that alerts look at.
    clock
        Time.
    max_lag
        Microseconds behind the log from which on nothing is done.
    changed
        Called when other alerts fire than before.
    report
        Returns the newest report, which explains alerts further.

    Attributes
    ----------
    view
        Every alert as it was lately.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        desk: Desk | None,
        run: Run,
        clock: Clock,
        max_lag: int,
        changed: Callable[[], None],
        report: Callable[[], Report | None],
    ) -> None:
        self._pipeline = pipeline
        self._desk = desk
        self._deciding = Deciding(pipeline, run)
        self._clock = clock
        self._catching_up = CatchingUp(clock, max_lag)
        self._changed = changed
        self._report = report
        self._due = self._soon = clock.monotonic()
        self._transitions: list[Transition] = []
        self._firing: frozenset[str] = frozenset()
        self.view = AlertsView()

    @property
    def waits(self) -> bool:
        """Whether decisions wait for an evaluation, so that a turn should come soon."""
        return self._deciding.waits

    @property
    def failed(self) -> int:
        """Evaluations for alerts, and metrics of one, that failed."""
        return self._deciding.failed

    def turn(
        self,
        batches: Sequence[RecordBatch],
        lag: Mapping[Partition, int],
        lock: threading.Lock,
        reachable: bool = True,
    ) -> None:
        """Decide about what a poll brought, which is in the pipeline already.

        Parameters
        ----------
        batches
            What it brought.
        lag
            Records that are still to be read of each partition.
        lock
            Of the pipeline.
        reachable
            Whether a broker answers.
        """
        alerting, state = self._pipeline.alerting, self._pipeline.state
        if alerting is None:
            return
        frontier, decided = state.clocks.frontier, self._deciding.until
        self._catching_up.note(batches, Progress(lag, state.next_offsets, frontier, decided, reachable))
        present = self._catching_up.present
        with lock:
            transitions = self._deciding.turn(present)
        self._transitions += transitions
        now = self._clock.monotonic()
        if now >= self._due or (self._transitions and now >= self._soon):
            transitions, self._transitions = self._transitions, []
            self.view = alerting.view(self._report())
            took = self._clock.monotonic() - now
            self._due = now + max(VIEW_SECONDS, took / VIEW_SHARE)
            self._soon = now + took / VIEW_SHARE
            if transitions:
                alerts = {alert.key: alert for alert in self.view.alerts}
                for transition in transitions:
                    _say(transition, alerts.get(transition.key))
            firing = frozenset(alert.episode for alert in self.view.alerts if alert.firing)
            if firing != self._firing:
                self._firing = firing
                self._changed()
            if self._desk is not None:
                self._desk.consider(self.view.alerts, self._world())

    def _world(self) -> World:
        alerting, catching_up = self._pipeline.alerting, self._catching_up
        assert alerting is not None
        return World(
            now=self._clock.now(),
            live=alerting.live.live,
            before=alerting.live.before,
            lagging=catching_up.lagging,
            ready=catching_up.present.read_after is not None,
        )


def _say(transition: Transition, alert: Alert | None) -> None:
    told = transition.change == "firing" and not transition.historic
    log.log(
        logging.WARNING if told else logging.INFO,
        "alert %s",
        transition.change,
        extra={
            **{name: value for name, value in transition.key.labels.items() if value},
            "event_time": iso(transition.moment.timestamp),
            **({"historic": True} if transition.historic else {}),
            **({} if alert is None else {"why": sentence(alert)}),
        },
    )
