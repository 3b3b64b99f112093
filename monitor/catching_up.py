"""How far reading and deciding are behind the log, for those who must not be woken by old events."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from monitor.alerting import Present
from monitor.clock import Clock
from monitor.records import Partition, RecordBatch

CURRENT_MICROSECONDS = 30_000_000
"""Age of what is read of a partition below which it has just been written."""

_BETWEEN_ENDS = 1_000_000


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


@dataclass(slots=True)
class _Log:
    """What is known of the age of what is read of a partition.

    Attributes
    ----------
    written
        When the newest record that was read was written, as producer or broker say.
    first_end
        Where the log ended when it was first seen.
    end
        The newest that is known.
    ends
        When the log ended where, by our own clock, of offsets that are still to be reached. A few may be
        missing: what is read counts as older then.
    reached
        When the log ended where reading is, or before.
    """

    written: int = 0
    first_end: int | None = None
    end: int | None = None
    ends: deque[tuple[int, int]] = field(default_factory=lambda: deque(maxlen=1000))
    reached: int = 0

    def note(self, next_offset: int, lag: int, now: int) -> None:
        end = next_offset + lag
        if self.first_end is None:
            self.first_end = end
        # An end that stays the same may be old news from before an outage.
        if end != self.end and (not self.ends or now - self.ends[-1][0] >= _BETWEEN_ENDS):
            self.ends.append((now, end))
        self.end = end
        while self.ends and self.ends[0][1] <= next_offset:
            self.reached = self.ends.popleft()[0]

    def age(self, now: int) -> int:
        """Return microseconds, by the clock that has it younger: producers' are late, or ends are missing."""
        return now - max(self.written, self.reached)


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
        self._logs: defaultdict[Partition, _Log] = defaultdict(_Log)
        self._caught_up_at: Progress | None = None
        """Where reading became current; None while it is not."""
        self.present = Present(clock.now(), current=False, read_after=None)
        self.lagging = True

    def note(self, batches: Sequence[RecordBatch], progress: Progress) -> None:
        """Take in what a poll brought, and how far it is with that."""
        now = self._clock.now()
        for partition, records in batches:
            last = records[-1].timestamp if records else None
            if last is not None and last >= 0:
                self._logs[partition].written = last * 1000
        for partition, lag in progress.lag.items():
            if (read := progress.next_offsets.get(partition)) is not None:
                self._logs[partition].note(read, lag, now)
        oldest = max((self._logs[p].age(now) if lag else 0 for p, lag in progress.lag.items()), default=None)
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
        return any(
            lag and ((end := self._logs[p].first_end) is None or progress.next_offsets[p] < end)
            for p, lag in progress.lag.items()
        )


def _is_decided(until: int | None, progress: Progress) -> bool:
    """Whether everything up to a time is."""
    return until is None or (progress.decided is not None and progress.decided >= until)
