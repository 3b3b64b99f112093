"""Everything that is remembered of one model version: an immutable value and how it grows."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch

from monitor.events.batch import Columns
from monitor.events.spec import UNLABELED
from monitor.state import columns
from monitor.state.columns import Events
from monitor.state.grouping import ALL, Group, Grouping, everything, group_by_segment
from monitor.state.histogram import ScoreHistogram
from monitor.state.tally import Tally, one_hot, tally
from monitor.state.windows import Plan, extent


@dataclass(frozen=True, slots=True)
class Version:
    """State of one model version up to some event.

    Attributes
    ----------
    plan
        What is kept.
    scored : int16, shape (R,)
        Codes of the classes with score columns, on the device.
    held
        Events that a window covers or may yet cover, in order.
    groups
        Group of the cumulative state by number: ALL first, then the segment values as they appeared.
    counts
        Cumulative counts by group.
    histogram
        Cumulative scores, row = group x R + scored class.
    dropped_until
        Greatest event time in microseconds among events no longer held; None before the first.
    over_limit
        Events dropped so far because of `Plan.held_events` although a window covered them.
    """

    plan: Plan
    scored: torch.Tensor
    held: Events
    groups: tuple[Group, ...]
    counts: Tally
    histogram: ScoreHistogram
    dropped_until: int | None = None
    over_limit: int = 0

    @staticmethod
    def empty(plan: Plan, device: torch.device) -> Version:
        """Return the state before the first event."""
        spec = plan.spec
        scored = torch.tensor(spec.scored, dtype=torch.int16, device=device)
        held = columns.empty(len(spec.scored), len(spec.segments), device)
        return Version(
            plan=plan,
            scored=scored,
            held=held,
            groups=(ALL,),
            counts=tally(held, everything(held), len(spec.classes), scored),
            histogram=ScoreHistogram.empty(len(spec.scored), device),
        )

    def add(self, arrived: Columns, watermark: int) -> Version:
        """Return the state with further events, in any order, and without those no window needs.

        Parameters
        ----------
        arrived
            The events.
        watermark
            Greatest event time consumed by the daemon, in microseconds.
        """
        if not len(arrived):
            return self.trimmed(watermark)
        events = columns.upload(arrived, self.scored.device)
        groups, grouping = group_by_segment(events, self.groups)
        spec = self.plan.spec
        grown = replace(
            self,
            held=columns.insert(self.held, events),
            groups=groups,
            counts=self.counts + tally(events, grouping, len(spec.classes), self.scored),
            histogram=self._scores(events, grouping),
        )
        return grown.trimmed(watermark)

    def trimmed(self, watermark: int) -> Version:
        """Return this without the events that no window covers or will cover, and within the limit."""
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

    def _scores(self, events: Events, grouping: Grouping) -> ScoreHistogram:
        """Add the labeled, scored events to the histogram, once a group and scored class."""
        usable = (events.label != UNLABELED) & ~events.score[:, 0].isnan()
        chosen = torch.nonzero(usable.index_select(0, grouping.row)).squeeze(1)
        row, group = (of_grouping.index_select(0, chosen) for of_grouping in (grouping.row, grouping.group))
        width = self.scored.shape[0]
        number = group.unsqueeze(1) * width + torch.arange(width, device=group.device)
        return self.histogram.add(
            row=number.flatten(),
            score=events.score.index_select(0, row).flatten(),
            truth=one_hot(events, self.scored).index_select(0, row).flatten(),
            rows=grouping.groups * width,
        )
