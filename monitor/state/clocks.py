"""Event time: the watermark, the partitions' clocks and the frontier. None looks at a wall clock."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from monitor.events.batch import Span
from monitor.records import Partition


@dataclass(slots=True)
class Clocks:
    """Times in microseconds; None before the first event.

    Attributes
    ----------
    allowed_lateness
        How far the frontier stays behind the slowest partition.
    watermark
        Greatest event time consumed.
    frontier
        Event time up to which nothing more is expected; never falls.
    covered_since
        Event time from which on the log was read without a gap: the least of the partitions' first event
        times, or where reading went on after records were lost.
    gap
        Whether records were lost before `covered_since`.
    partitions
        Greatest event time read from each partition.
    silent
        Partitions that lately brought rejected records alone: nobody waits for their times.
    lost
        Whether records were lost since the last event.
    """

    allowed_lateness: int
    watermark: int | None = None
    frontier: int | None = None
    covered_since: int | None = None
    gap: bool = False
    partitions: dict[Partition, int] = field(default_factory=dict)
    silent: set[Partition] = field(default_factory=set)
    lost: bool = False

    def read(self, spans: Mapping[Partition, Span]) -> None:
        """Take in what a batch read."""
        for partition, span in spans.items():
            if span.first_timestamp is None or span.last_timestamp is None:
                # Only rejected records: others must not wait for a time that may never come.
                self.silent.add(partition)
                continue
            self.silent.discard(partition)
            if partition not in self.partitions and not self.gap:
                first = span.first_timestamp
                self.covered_since = min(first, first if self.covered_since is None else self.covered_since)
            last = max(span.last_timestamp, self.partitions.get(partition, span.last_timestamp))
            self.partitions[partition] = last
            self.watermark = last if self.watermark is None else max(last, self.watermark)
        if self.lost and any(span.last_timestamp is not None for span in spans.values()):
            self.covered_since, self.gap, self.lost = self.watermark, True, False

    def lose(self) -> None:
        """Note that records were lost: what is covered begins anew with what is read next."""
        self.lost = True

    def advance(self, lagging: Collection[Partition]) -> None:
        """Move the frontier, given the partitions that are not caught up."""
        lagging = frozenset(lagging) - self.silent
        if self.watermark is None or any(p not in self.partitions for p in lagging):
            return
        slowest = min((self.partitions[p] for p in lagging), default=self.watermark)
        proposal = slowest - self.allowed_lateness
        self.frontier = proposal if self.frontier is None else max(proposal, self.frontier)

    def end(self) -> None:
        """Note that nothing more will come: the frontier reaches the newest event."""
        if self.watermark is not None:
            self.frontier = max(self.watermark, self.frontier or self.watermark)

    def ahead(self, lagging: Collection[Partition], max_skew: int) -> frozenset[Partition]:
        """Return the lagging partitions that must wait for the slowest lagging one.

        Parameters
        ----------
        lagging
            Partitions that are not caught up.
        max_skew
            Microseconds that a partition may be ahead.
        """
        lagging = frozenset(lagging) - self.silent
        times = [self.partitions[p] for p in lagging if p in self.partitions]
        if not times:
            return frozenset()
        if len(times) < len(lagging):  # one has not shown its time yet: it may be the slowest
            return frozenset(p for p in lagging if p in self.partitions)
        return frozenset(p for p in lagging if self.partitions[p] - min(times) > max_skew)
