"""The daemon: builds all parts, owns the loop, the lock and the threads, starts and stops them in order.

Threads: this file's loop polls and writes the state; a scheduler's thread evaluates a view of it; the
HTTP server's threads read the newest report. The one lock is never held across a call of the source.
"""

from __future__ import annotations

import gc
import logging
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from typing import Any

from monitor import __version__, parts
from monitor.actions.desk import Desk
from monitor.alerts.alert import Alert
from monitor.alerts.view import AlertsView
from monitor.assembly import microseconds
from monitor.champions import READ_SECONDS, RegistryChampions
from monitor.clock import Clock, SystemClock
from monitor.config import Config
from monitor.evaluator import Evaluator
from monitor.pipeline import Pipeline, Snapshot
from monitor.records import Partition
from monitor.rejections import Rejections
from monitor.report import Report
from monitor.responding import Responding
from monitor.schedule import Schedule
from monitor.sources.base import LiveSource, TakeOver
from monitor.sources.dead_letters import DeadLetters
from monitor.status import DaemonStatus
from monitor.takeover import take_over
from monitor.tenure import Tenure

log = logging.getLogger(__name__)

POLL_SECONDS = 0.5
"""Longest wait for a record, hence for a signal."""

HURRY_SECONDS = 0.02
"""The same while decisions about alerts wait for an evaluation, which takes some milliseconds."""

STATUS_SECONDS = 0.2
"""How often the loop shows its counters to the other threads."""

PROGRESS_SECONDS = 10.0
"""How often the log says how far catching up is."""


class Daemon:
    """One running instance.

    Parameters
    ----------
    config
        The configuration.
    clock
        Time.
    source
        Makes the source of records, given what ends its waits and what it calls when partitions become ours;
        the configured Kafka topics by default.

    Attributes
    ----------
    port
        Where HTTP is served, once it is.
    """

    def __init__(
        self,
        config: Config,
        clock: Clock | None = None,
        source: Callable[[threading.Event, TakeOver], LiveSource] | None = None,
    ) -> None:
        self._config = config
        self._clock = clock or SystemClock()
        self._make_source = source or partial(parts.kafka_source, config, self._clock)
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._pipeline = parts.empty_pipeline(config, self._clock)
        self._tenure: Tenure | None = None
        self._responding: Responding | None = None
        self._champions = RegistryChampions(config)
        self._desk: Desk | None = parts.desk(config, self._clock)
        self._looks = ThreadPoolExecutor(1, "alerts")
        self._source: LiveSource | None = None
        self._schedule = Schedule(self._clock)
        self._dead_letters: DeadLetters | None = None
        self._rejections = Rejections(self._clock)
        self._status = DaemonStatus(
            version=__version__,
            evaluation_every=config.evaluation.every.total_seconds(),
            checkpoint_every=config.checkpoint.every.total_seconds(),
        )
        self._last_turn: float | None = None
        self._gaps = 0
        self._milestones: set[str] = set()
        self._next_progress = 0.0
        self._caught_up: dict[Partition, float] = {}
        self._exporter = parts.exporter(config, self.status, self.alerts)
        self._notifier = parts.notifier(config, self._clock, self._told)
        self._evaluator = Evaluator(
            lambda: self._pipeline, self._lock, self._clock, self._exporter.publish, self._stop.is_set
        )
        self._threads: dict[str, Callable[[], bool]] = {}
        self.port: int | None = None

    def stop(self) -> None:
        """Ask the daemon to end; safe in a signal handler."""
        self._stop.set()

    def run(self) -> None:
        """Serve until `stop` is called.

        Raises
        ------
        MonitorError
            If it cannot start, or cannot go on.
        """
        collect_rarely()
        with ExitStack() as started:  # stopped in reverse order
            server = parts.server(
                self._config,
                self._exporter,
                self.report,
                self.status,
                self.alerts,
                self._desk,
                self._clock,
                lambda: self._evaluator.tracks,
                parts.retired(self._config),
            )
            server.start()
            started.callback(server.stop)
            self.port = server.port
            log.info("serving", extra={"host": self._config.server.host, "port": server.port})
            # Registered first, hence waited for last: leaving the group must not wait for an evaluation.
            started.callback(self._schedule.stop)
            started.callback(self._looks.shutdown, wait=False, cancel_futures=True)
            self._source = source = self._make_source(self._stop, self._take_over)
            self._dead_letters = letters = parts.dead_letters(self._config, lambda: source.topic_ids)
            if letters is not None:
                started.callback(letters.close)
                self._threads["dead-letters"] = lambda: letters.alive
            for name, part in (("actions", self._desk), ("notifier", self._notifier)):
                if part is not None:
                    part.start()
                    started.callback(part.close)
                    self._threads[name] = partial(getattr, part, "alive")
            started.callback(source.close)
            seconds = self._config.evaluation.every.total_seconds()
            self._schedule.every(seconds, "evaluate", self._evaluate, "evaluation.every")
            if (bootstrap := self._config.evaluation.bootstrap) is not None:
                seconds, setting = bootstrap.every.total_seconds(), "evaluation.bootstrap.every"
                self._schedule.every(seconds, "bootstrap", self._evaluator.resample, setting)
            if self._champions.reads:
                started.callback(self._champions.close)
                self._schedule.every(READ_SECONDS, "champions", self._champions.refresh)
            self._schedule.start()
            self._threads |= {
                "http": lambda: server.alive,
                "schedule": lambda: self._schedule.alive,
                "checkpoint": lambda: (tenure := self._tenure) is None or tenure.alive,
            }
            self._loop(source)
        log.info("stopped")

    def report(self) -> Report | None:
        """Return the newest report, None before the first."""
        return self._evaluator.report

    @property
    def _failed_looks(self) -> int:
        responding = self._responding
        return 0 if responding is None else responding.failed

    def alerts(self) -> AlertsView:
        """Return the alerts of the owner, none on a standby."""
        responding = self._responding
        return AlertsView() if responding is None else responding.view

    def _told(self) -> Sequence[Alert] | None:
        """Return what Alertmanagers are told of, None where another instance tells them."""
        return self.alerts().alerts if self._responding is not None else None

    def status(self) -> DaemonStatus:
        """Return how the daemon is; never waits for a lock."""
        now = self._clock.monotonic()
        evaluator = self._evaluator
        return replace(
            self._status,
            dead_threads=tuple(
                name for name, alive in self._threads.items() if not (self._stop.is_set() or alive())
            ),
            poll_age=None if self._last_turn is None else now - self._last_turn,
            evaluation_age=None if evaluator.last is None else now - evaluator.last[0],
            last_evaluation=None if evaluator.last is None else evaluator.last[1],
            evaluation_durations=evaluator.durations,
            evaluation_errors=self._schedule.errors["evaluate"]
            + evaluator.failed_metrics
            + self._failed_looks,
            evaluation_error=evaluator.error,
            jobs_missed=dict(self._schedule.missed),
            state_bytes=evaluator.state_bytes,
            **self._checkpoints(),
            **self._responses(),
        )

    def _checkpoints(self) -> dict[str, Any]:
        """Return what the status says about them; empty on a standby."""
        tenure = self._tenure
        if tenure is None:
            return {}
        return {
            "checkpoint_error": tenure.problem,
            "checkpoint_age": tenure.age,
            "last_checkpoint": tenure.statistics.timestamp,
            "checkpoint_bytes": tenure.statistics.bytes,
            "checkpoint_errors": tenure.errors,
        }

    def _responses(self) -> dict[str, Any]:
        """Return what the status says about alerts and actions."""
        found: dict[str, Any] = {"alerts_refused": self.alerts().refused}
        if (desk := self._desk) is not None:
            found |= {
                "outbox_pending": desk.pending,
                "action_attempts": desk.attempts,
                "action_error": desk.problem,
            }
        if (notifier := self._notifier) is not None:
            found |= {"notifications": notifier.results, "notification_error": notifier.problem}
        return found

    def _loop(self, source: LiveSource) -> None:
        shown = self._clock.monotonic()
        while not self._stop.is_set():
            lag = self._turn(source)
            if self._tenure is not None:
                self._tenure.step(source, self._lock)
            self._last_turn = now = self._clock.monotonic()
            if now - shown >= STATUS_SECONDS or not self._status.ready:
                self._show(source, lag, now)
                shown = now
        if self._tenure is not None:
            self._tenure.finish(source, self._lock)

    def _turn(self, source: LiveSource) -> Mapping[Partition, int]:
        """Poll once and take in what came; return the lag."""
        hurry = self._responding is not None and self._responding.waits
        poll = source.poll(HURRY_SECONDS if hurry else POLL_SECONDS)
        if poll.revoked:
            log.info("partitions given up: the state is dropped", extra={"partitions": len(poll.revoked)})
            self._forget()
        if poll.truncated:
            with self._lock:
                self._pipeline.rewind(poll.truncated)
        batch = self._pipeline.decode(poll.batches)
        lag = source.lag()
        gaps = source.offsets_lost + source.log_truncations
        lagging = frozenset(partition for partition, records in lag.items() if records > 0)
        with self._lock:
            if gaps != self._gaps:
                self._gaps = gaps
                self._pipeline.state.clocks.lose()
            self._pipeline.apply(batch)
            # Without a place in them yet nothing is known of the partitions: no lag is no sign of their end.
            retired = self._pipeline.advance(lagging) if source.assigned() else None
        if retired is not None:
            self._retire(retired)
        if self._responding is not None and source.assigned():
            self._responding.turn(poll.batches, lag, self._lock, source.problem is None)
        letters = self._dead_letters
        if letters is not None and batch.rejected:
            letters.send(batch.rejected)
        read = sum(span.records for span in batch.spans.values())
        self._rejections.note(read, batch.rejected, self._pipeline.rejected.total())
        waits = letters is not None and letters.full  # reading on would lose rejected records
        source.hold(source.assigned() if waits else self._pipeline.ahead(lagging))
        return lag

    def _retire(self, last: Snapshot) -> None:
        """Have the last reports of versions kept, if there are any that retired."""
        if last.view.versions and self._tenure is not None:
            self._tenure.retire(last)
        for version in last.view.versions:
            log.info(
                "version retired: no event for limits.retire_after",
                extra={"model": version.model, "version": version.version},
            )

    def _take_over(self, partitions: frozenset[Partition]) -> Mapping[Partition, int]:
        """Restore the state that goes with partitions that become ours; return where to go on in them."""
        assert self._source is not None
        if self._tenure is not None and self._tenure.is_of_other_topics(self._source.topic_ids):
            self._forget()  # one was recreated before we had a place in it
        if self._tenure is None:
            tenure = take_over(
                self._config,
                self._clock,
                self._source.topic_ids,
                self._dead_letters,
                self._desk,
                self._champions,
            )
            with self._lock:
                self._pipeline = tenure.pipeline
            self._tenure = tenure
            self._responding = self._respond(tenure.pipeline)
        return self._tenure.known(partitions)

    def _respond(self, pipeline: Pipeline) -> Responding:
        return Responding(
            pipeline,
            self._desk,
            self._looks.submit,
            self._clock,
            microseconds(self._config.alerts.max_lag),
            lambda: None if self._notifier is None else self._notifier.notice(),
            self.report,
        )

    def _forget(self) -> None:
        """Start anew: the whole state belongs to whoever owns the partitions now."""
        if self._tenure is not None:
            self._tenure.abandon()
            self._tenure = self._responding = None
        with self._lock:
            self._pipeline = parts.empty_pipeline(self._config, self._clock)
        self._evaluator.forget()
        self._milestones.clear()

    def _show(self, source: LiveSource, lag: Mapping[Partition, int], now: float) -> None:
        """Let the other threads see the counters."""
        pipeline, owned = self._pipeline, source.assigned()
        self._caught_up = {p: self._caught_up.get(p, now) if n else now for p, n in lag.items()}
        dead_letters = self._dead_letters
        self._status = replace(
            self._status,
            ready=self._is_ready(source, owned),
            owner=bool(owned),
            lagging=now - min(self._caught_up.values(), default=now),
            broker_error=source.problem,
            dead_letter_error=None if dead_letters is None else dead_letters.problem,
            rejection_error=self._rejections.problem,
            events_consumed=dict(pipeline.consumed),
            events_rejected=dict(pipeline.rejected),
            events_late=dict(pipeline.state.late),
            events_unlabeled=dict(pipeline.state.unlabeled),
            offsets_lost=source.offsets_lost,
            log_truncations=source.log_truncations,
            dead_letters={} if dead_letters is None else {k: n for k, n in dead_letters.results.items()},
            consumer_lag={(p.topic, p.partition): records for p, records in lag.items()},
            frontier=pipeline.state.clocks.frontier,
            rebalances=source.rebalances,
            last_poll=self._clock.now(),
            limit_reached=dict(pipeline.limits_reached()),
        )
        self._pass_milestones(bool(owned), sum(lag.values()), now)

    def _is_ready(self, source: LiveSource, owned: Collection[Partition]) -> bool:
        # While no broker answers nobody can tell who the owner is: what holds goes on to hold.
        return bool(owned) or source.joined or (self._status.ready and source.problem is not None)

    def _pass_milestones(self, owner: bool, behind: int, now: float) -> None:
        """Say how far reading is; evaluate at once when first there is something to show."""
        reached = {"owner": owner, "caught up": owner and not behind}
        passed = [name for name, now_so in reached.items() if now_so and name not in self._milestones]
        for name in passed:
            self._milestones.add(name)
            log.info("%s", name)
        if passed:  # once for both: a second run would count as skipped
            self._schedule.soon("evaluate")
        if owner and "caught up" not in self._milestones and now >= self._next_progress:
            self._next_progress = now + PROGRESS_SECONDS
            log.info("catching up", extra={"records_behind": behind})

    def _evaluate(self) -> None:
        """Evaluate the state that is ours; runs in the scheduler's thread."""
        if self._status.owner and self._tenure is not None:
            self._evaluator.evaluate()


def collect_rarely() -> None:
    """Spend little on garbage collection.

    What is loaded now stays, and kafka-python makes a tuple of each record: looking for cycles among all
    these at the default rate took a third of the CPU time, up to .2 s at a time.
    """
    gc.freeze()
    gc.set_threshold(100_000, 20, 50)
