"""Everything that is remembered of one model version: an immutable value."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch

from monitor.state import columns
from monitor.state.columns import Events
from monitor.state.grouping import ALL, Group
from monitor.state.histogram import ScoreHistogram
from monitor.state.tally import Tally, score_rows
from monitor.state.windows import Plan, extent


@dataclass(frozen=True, slots=True)
class Version:
    """State of one model version up to some event; `monitor.state.settling` adds further ones.

    Attributes
    ----------
    plan
        What is kept.
    held
        Events that a window covers or may yet cover, in order.
    groups
        Group of the cumulative state by number: ALL first, then the segment values as they appeared.
    counts
        Cumulative counts by group.
    histogram
        Cumulative scores, row = group x T + row of scores.
    dropped_until
        Greatest event time in microseconds among events no longer held; None before the first.
    over_limit
        Events dropped so far because of `Plan.held_events` although a window covered them.
    """

    plan: Plan
    held: Events
    groups: tuple[Group, ...]
    counts: Tally
    histogram: ScoreHistogram
    dropped_until: int | None = None
    over_limit: int = 0

    @staticmethod
    def empty(plan: Plan, device: torch.device) -> Version:
        """Return the state before the first event."""
        kind = plan.spec.kind
        return Version(
            plan=plan,
            held=columns.empty(plan.spec, device),
            groups=(ALL,),
            counts=Tally.empty(kind, 1, device),
            histogram=ScoreHistogram.empty(score_rows(kind), device),
        )

    @property
    def device(self) -> torch.device:
        """Where columns and counts live."""
        return self.held.timestamp.device

    def to(self, device: torch.device) -> Version:
        """Return the same state on a device."""
        return replace(
            self,
            held=self.held.to(device),
            counts=self.counts.map(lambda t: t.to(device)),
            histogram=self.histogram.to(device),
        )

    def trimmed(self, watermark: int) -> Version:
        """Return this without the events that no window covers or will cover, and within the limit.

        Parameters
        ----------
        watermark
            Greatest event time consumed by the daemon, in microseconds.
        """
        end = watermark - self.plan.maturity
        positive = self.plan.spec.positive
        needed = (extent(self.held, w, end, positive).first for w in self.plan.windows)
        first = min(needed, default=len(self.held))
        excess = len(self.held) - self.plan.held_events - first
        keep_from = first + max(0, excess)
        if not keep_from:
            return self
        oldest = int(self.held.timestamp[keep_from - 1])
        return replace(
            self,
            held=Events(*(c[keep_from:].clone() for c in self.held.tensors())),
            dropped_until=oldest if self.dropped_until is None else max(oldest, self.dropped_until),
            over_limit=self.over_limit + max(0, excess),
        )

    def nbytes(self) -> int:
        """Return the bytes held."""
        return self.held.nbytes() + self.counts.nbytes() + self.histogram.nbytes()
