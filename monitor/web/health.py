"""What a status means for whoever asks over HTTP. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from monitor.status import DaemonStatus

POLL_TIMEOUT = 60.0
"""Seconds without a turn of the poll loop after which the process is taken for stuck."""

LAG_TIMEOUT = 300.0
"""Seconds for which a partition may stay behind its end before that counts as a problem."""

MISSED_EVALUATIONS = 3
"""Evaluation periods that may pass without a result."""

MISSED_CHECKPOINTS = 3
"""Checkpoint periods that may pass without a checkpoint."""

LEAST_AGE = 30.0
"""Seconds for which the age of the last evaluation or checkpoint is no problem, however short its period."""


class Problem(NamedTuple):
    """What is wrong: a short name for machines, and words."""

    name: str
    reason: str


def stuck(status: DaemonStatus) -> Iterator[Problem]:
    """Yield what only a restart of the process can mend."""
    for thread in status.dead_threads:
        yield Problem("thread", f"the thread {thread} has ended")
    if status.poll_age is not None and status.poll_age > POLL_TIMEOUT:
        yield Problem("poll", f"the poll loop has not turned for {status.poll_age:.0f} s")


def problems(status: DaemonStatus) -> Iterator[Problem]:
    """Yield everything that makes the numbers old or incomplete."""
    yield from stuck(status)
    if status.broker_error is not None:
        yield Problem("broker", status.broker_error)
    if status.evaluation_error is not None:
        yield Problem("evaluation", status.evaluation_error)
    age, allowed = status.evaluation_age, max(MISSED_EVALUATIONS * status.evaluation_every, LEAST_AGE)
    if age is not None and status.role == "owner" and age > allowed:
        every = f"{status.evaluation_every:g}"
        yield Problem("evaluation", f"the last evaluation was {age:.0f} s ago, one is due every {every} s")
    if status.lagging > LAG_TIMEOUT:
        behind = sum(status.consumer_lag.values())
        yield Problem("lag", f"{behind} records behind, and not caught up for {status.lagging:.0f} s")
    yield from _checkpoint_problems(status)
    if status.dead_letter_error is not None:
        yield Problem("dead_letters", status.dead_letter_error)
    if status.rejection_error is not None:
        yield Problem("events", status.rejection_error)
    yield from _alert_problems(status)


def _alert_problems(status: DaemonStatus) -> Iterator[Problem]:
    if status.alerts_refused:
        beyond = f"{status.alerts_refused:,} matches of wildcards are beyond alerts.max_matches"
        yield Problem("alerts", f"{beyond}: nothing watches them")
    if status.action_error is not None:
        yield Problem("actions", status.action_error)
    if status.notification_error is not None:
        yield Problem("notifications", status.notification_error)


def _checkpoint_problems(status: DaemonStatus) -> Iterator[Problem]:
    age, every = status.checkpoint_age, status.checkpoint_every
    if status.checkpoint_error is not None:
        yield Problem("checkpoint", status.checkpoint_error)
    elif age is not None and age > max(MISSED_CHECKPOINTS * every, LEAST_AGE):
        yield Problem("checkpoint", f"the last one was written {age:.0f} s ago, one is due every {every:g} s")
