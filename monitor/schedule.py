"""Jobs at fixed intervals, with everything that did not run as planned counted."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime

from apscheduler.events import EVENT_JOB_ERROR, EVENT_JOB_MAX_INSTANCES, EVENT_JOB_MISSED, JobExecutionEvent
from apscheduler.schedulers.background import BackgroundScheduler

from monitor.clock import Clock, SystemClock

log = logging.getLogger(__name__)

SAY_SECONDS = 60.0
"""How often the log says that a job is skipped again and again."""


class Schedule:
    """Runs each job every so often in a thread of its own, never twice at once.

    Attributes
    ----------
    missed
        Runs that did not happen because the one before had not ended, by job.
    errors
        Runs that raised, by job.
    """

    def __init__(self, clock: Clock | None = None) -> None:
        for name in ("apscheduler.scheduler", "apscheduler.executors.default"):
            logging.getLogger(name).setLevel(logging.CRITICAL)  # said by the listeners below
        # By default a job that is a second late is skipped without a word.
        self._scheduler = BackgroundScheduler(
            timezone=UTC, job_defaults={"misfire_grace_time": None, "coalesce": True, "max_instances": 1}
        )
        self._scheduler.add_listener(self._on_missed, EVENT_JOB_MISSED | EVENT_JOB_MAX_INSTANCES)
        self._scheduler.add_listener(self._on_error, EVENT_JOB_ERROR)
        self.missed: Counter[str] = Counter()
        self.errors: Counter[str] = Counter()
        self._clock = clock or SystemClock()
        self._settings: dict[str, str] = {}
        self._said: dict[str, float] = {}

    def every(self, seconds: float, name: str, job: Callable[[], None], setting: str = "") -> None:
        """Run `job` every `seconds`, which `setting` names to users, for the first time at once."""
        self.missed[name] += 0  # so that it is exported before the first
        self._settings[name] = setting
        self._scheduler.add_job(job, "interval", seconds=seconds, id=name, next_run_time=datetime.now(UTC))

    def soon(self, name: str) -> None:
        """Run a job now, out of turn."""
        self._scheduler.modify_job(name, next_run_time=datetime.now(UTC))

    def start(self) -> None:
        """Start the jobs."""
        self._scheduler.start()

    @property
    def alive(self) -> bool:
        """Whether jobs still run; False before the start, and if the scheduler's thread died."""
        thread = self._scheduler._thread
        return thread is not None and thread.is_alive()

    def stop(self) -> None:
        """Wait for running jobs, then end."""
        if self._scheduler.running:
            self._scheduler.shutdown(wait=True)

    def _on_missed(self, event: JobExecutionEvent) -> None:
        self.missed[event.job_id] += 1
        now = self._clock.monotonic()
        if now - self._said.get(event.job_id, -SAY_SECONDS) < SAY_SECONDS:
            return
        self._said[event.job_id] = now
        setting = self._settings[event.job_id]
        log.warning(
            "job skipped: its last run has not ended%s",
            f"; if this goes on, raise {setting}" if setting else "",
            extra={"job": event.job_id, "skipped": self.missed[event.job_id]},
        )

    def _on_error(self, event: JobExecutionEvent) -> None:
        self.errors[event.job_id] += 1
        log.error(
            "job failed: %s", event.exception, extra={"job": event.job_id, "traceback": event.traceback}
        )
