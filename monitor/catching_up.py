"""How far reading and deciding are behind the log, for those who must not be woken by old events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from monitor.alerting import Present
from monitor.clock import Clock
from monitor.records import Partition, RecordBatch

CURRENT_MICROSECONDS = 30_000_000
"""Age of a partition's newest record below which what is read of it has just been written."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far it is after a poll.

    Attributes
    ----------
    lag
        Records that are still to be read of each partition; empty while none is ours.
    next_offsets
        From which on nothing was read.
    frontier
        Event time up to which everything was read; None before the first event.
    decided
        Event time up to which everything was decided; None before the first decision.
    reachable
        Whether a broker answers: else there may be more than is known of.
    """

    lag: Mapping[Partition, int]
    next_offsets: Mapping[Partition, int]
    frontier: int | None
    decided: int | None
    reachable: bool = True


class CatchingUp:
    """Follows one tenure from its first record on.

    It has caught up with what was in the log when it began once it has read that, however young it is, and
    what comes now has just been written.

    What was read is still history until it is decided: the windows of old marks are evaluated after that.

    Parameters
    ----------
    clock
        Time.
    max_lag
        Microseconds behind the log from which on nothing is to be done about what is read.

    Attributes
    ----------
    present
        How far it is.
    lagging
        Whether it is further behind than `max_lag`, or has not caught up since the start.
    """

    def __init__(self, clock: Clock, max_lag: int) -> None:
        self._clock = clock
        self._max_lag = max_lag
        self._recorded: dict[Partition, int] = {}
        self._caught_up_at: Progress | None = None
        """Where reading became current; None while it is not."""
        self._ends: dict[Partition, int] = {}
        """Of the partitions when they were first seen."""
        self.present = Present(clock.now(), current=False, read_after=None)
        self.lagging = True

    def note(self, batches: Sequence[RecordBatch], progress: Progress) -> None:
        """Take in what a poll brought, and how far it is with that."""
        now = self._clock.now()
        for partition, records in batches:
            last = records[-1].timestamp if records else None
            if last is not None and last >= 0:
                self._recorded[partition] = last * 1000
        ages = [now - self._recorded.get(p, 0) if records else 0 for p, records in progress.lag.items()]
        oldest = max(ages, default=None)
        if self._is_behind(progress) or oldest is None or oldest >= CURRENT_MICROSECONDS:
            self._caught_up_at = None
        elif self._caught_up_at is None:
            self._caught_up_at = progress
        read_after = self.present.read_after
        current = self._caught_up_at is not None and _is_decided(self._caught_up_at.frontier, progress)
        if read_after is None and current:
            read_after = dict(progress.next_offsets)
        self.present = Present(now, current, read_after)
        self.lagging = (
            read_after is None
            or oldest is None
            or oldest > self._max_lag
            or not progress.reachable
            or (
                progress.frontier is not None and not _is_decided(progress.frontier - self._max_lag, progress)
            )
        )

    def _is_behind(self, progress: Progress) -> bool:
        """Whether something is still to be read that was there at the beginning."""
        behind = False
        for partition, records in progress.lag.items():
            read = progress.next_offsets.get(partition)
            if read is not None:
                self._ends.setdefault(partition, read + records)
            behind |= records > 0 and (read is None or read < self._ends[partition])
        return behind


def _is_decided(until: int | None, progress: Progress) -> bool:
    """Whether everything up to a time is."""
    return until is None or (progress.decided is not None and progress.decided >= until)
