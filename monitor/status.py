"""What the daemon says about itself: one value object, for its own series, its probes and the page."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

DURATION_BOUNDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""Upper bounds of the duration histogram's buckets in seconds; a last bucket is unbounded."""


@dataclass(frozen=True, slots=True)
class Durations:
    """A histogram of durations: events per bucket (not cumulative) and their sum in seconds."""

    counts: tuple[int, ...] = (0,) * (len(DURATION_BOUNDS) + 1)
    total: float = 0.0

    def observe(self, seconds: float) -> Durations:
        """Return the histogram with one more duration."""
        bucket = bisect_left(DURATION_BOUNDS, seconds)
        counts = tuple(count + (place == bucket) for place, count in enumerate(self.counts))
        return replace(self, counts=counts, total=self.total + seconds)


@dataclass(frozen=True, slots=True)
class DaemonStatus:
    """One look at the daemon. Whoever makes it must not block: the liveness probe waits for it.

    Counters run since the process started, those of events go on from the checkpoint. Label
    values come from configuration or are bounded by the daemon (an unknown model's name is not one of
    them).

    Attributes
    ----------
    version
        Version of this package.
    ready
        Whether this instance is a restored owner or a standby; False while state is being restored.
    owner
        Whether it holds partitions; a ready instance that does not is a standby.
    files
        Whether it has read files, which are at their end: no partitions, and nothing that must be saved.
    dead_threads
        Names of threads that ended without being asked to.
    poll_age
        Seconds since the poll loop last turned, None before it started.
    evaluation_age, evaluation_every
        Seconds since an evaluation last succeeded (None before the first), and the configured period.
    lagging
        Seconds for which the partition furthest behind has not been read to its end.
    broker_error, evaluation_error, dead_letter_error, checkpoint_error
        What went wrong at the latest attempt, None where it succeeded.
    rejection_error
        What is wrong with most of the records, None while most are valid events.
    remarks
        What else makes the numbers less than they look, in sentences.
    checkpoint_age, checkpoint_every
        Seconds since a checkpoint was last written or, before the first, since this instance became the
        owner (None on a standby), and the configured period.
    last_checkpoint
        When that was, in microseconds since the epoch.
    checkpoint_bytes, checkpoint_errors
        Size of the last checkpoint, and how many could not be written.
    events_consumed
        Records by topic.
    events_rejected
        Records by (model, reason).
    events_late, events_unlabeled
        Events by model.
    dead_letters
        Records by result of sending them.
    consumer_lag
        Records to read by (topic, partition).
    frontier, last_poll, last_evaluation
        Microseconds since the epoch, None where there is none yet.
    jobs_missed
        Scheduled runs that did not happen, by job.
    limit_reached
        How often a limit of the configuration cut something off, by limit.
    state_bytes
        Memory of the held events and counts.
    alerts_refused
        Matches of wildcards beyond `alerts.max_matches`.
    outbox_pending
        Open decisions by action.
    action_attempts
        Attempts by (action, result).
    action_error, notification_error
        Why actions, or notices of alerts, do not get through; None while they do.
    notifications
        Posts of alerts by (target, result).
    """

    version: str
    ready: bool = False
    owner: bool = False
    files: bool = False
    dead_threads: tuple[str, ...] = ()
    poll_age: float | None = None
    evaluation_age: float | None = None
    evaluation_every: float = 10.0
    lagging: float = 0.0
    broker_error: str | None = None
    evaluation_error: str | None = None
    dead_letter_error: str | None = None
    rejection_error: str | None = None
    remarks: tuple[str, ...] = ()
    checkpoint_error: str | None = None
    checkpoint_age: float | None = None
    checkpoint_every: float = 30.0
    last_checkpoint: int | None = None
    checkpoint_bytes: int = 0
    checkpoint_errors: int = 0
    events_consumed: Mapping[str, int] = field(default_factory=dict)
    events_rejected: Mapping[tuple[str, str], int] = field(default_factory=dict)
    events_late: Mapping[str, int] = field(default_factory=dict)
    events_unlabeled: Mapping[str, int] = field(default_factory=dict)
    offsets_lost: int = 0
    log_truncations: int = 0
    dead_letters: Mapping[str, int] = field(default_factory=dict)
    consumer_lag: Mapping[tuple[str, int], int] = field(default_factory=dict)
    frontier: int | None = None
    rebalances: int = 0
    last_poll: int | None = None
    last_evaluation: int | None = None
    evaluation_durations: Durations = Durations()
    evaluation_errors: int = 0
    jobs_missed: Mapping[str, int] = field(default_factory=dict)
    state_bytes: int = 0
    limit_reached: Mapping[str, int] = field(default_factory=dict)
    alerts_refused: int = 0
    outbox_pending: Mapping[str, int] = field(default_factory=dict)
    action_attempts: Mapping[tuple[str, str], int] = field(default_factory=dict)
    action_error: str | None = None
    notifications: Mapping[tuple[str, str], int] = field(default_factory=dict)
    notification_error: str | None = None

    @property
    def kafka_up(self) -> bool:
        """Whether brokers answer and all topics are there, as of the last turn of the poll loop."""
        return self.last_poll is not None and self.broker_error is None

    @property
    def role(self) -> str:
        """One of "restoring", "owner" and "standby"."""
        if not self.ready:
            return "restoring"
        return "owner" if self.owner else "standby"
