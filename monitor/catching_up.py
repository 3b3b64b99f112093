"""How far reading is behind the log, for those who must not be woken by old events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from monitor.alerting import Present
from monitor.clock import Clock
from monitor.records import Partition, RecordBatch

CURRENT_MICROSECONDS = 30_000_000
"""Age of a partition's newest record below which what is read of it has just been written."""


class CatchingUp:
    """Follows one tenure from its first record on.

    Parameters
    ----------
    clock
        Time.
    max_lag
        Microseconds behind the log from which on nothing is to be done about what is read.

    Attributes
    ----------
    present
        How far reading is.
    lagging
        Whether reading is further behind than `max_lag`, or has not caught up since the start.
    """

    def __init__(self, clock: Clock, max_lag: int) -> None:
        self._clock = clock
        self._max_lag = max_lag
        self._recorded: dict[Partition, int] = {}
        self.present = Present(clock.now(), current=False, read_after=None)
        self.lagging = True

    def note(
        self,
        batches: Sequence[RecordBatch],
        lag: Mapping[Partition, int],
        next_offsets: Mapping[Partition, int],
    ) -> None:
        """Take in what a poll brought.

        Parameters
        ----------
        batches
            What was read.
        lag
            Records that are still to be read of each partition; empty while none is ours.
        next_offsets
            From which on nothing was read.
        """
        now = self._clock.now()
        for partition, records in batches:
            last = records[-1].timestamp if records else None
            if last is not None and last >= 0:
                self._recorded[partition] = last * 1000
        ages = [now - self._recorded.get(p, 0) if records else 0 for p, records in lag.items()]
        oldest = max(ages, default=None)
        current = oldest is not None and oldest < CURRENT_MICROSECONDS
        read_after = self.present.read_after
        if read_after is None and current:
            read_after = dict(next_offsets)
        self.present = Present(now, current and read_after is not None, read_after)
        self.lagging = read_after is None or oldest is None or oldest > self._max_lag
