"""Counts of many windows, or of many cumulative states, at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import torch

from monitor.events.spec import Kind
from monitor.state import histogram, tally
from monitor.state.columns import Events, concatenate
from monitor.state.grouping import Case, group_events
from monitor.state.groups import ScoreGroups, score_groups, sizes_of_rows
from monitor.state.histogram import ScoreHistogram, pooled
from monitor.state.scores import sort_pooled_scores
from monitor.state.tally import Tally, score_rows
from monitor.state.tallying import count_events
from monitor.state.version import Version

EVENTS_AT_ONCE = 1 << 19
"""Events x rows of scores x groups that an event is in, up to which more windows in one call are faster;
above it, the caches of the processor and the memory allocator make them slower."""


@dataclass(frozen=True)
class Counted:
    """Counts of S cases of one kind.

    Attributes
    ----------
    kind
        What they have in common.
    cases
        Of each its window or version, by its index among those counted, and its group: for each window or
        version ALL comes first.
    tally
        The sums.
    table, micro
        The scores: by case and row of scores, and by case alone for all classes together.
    """

    kind: Kind
    cases: Sequence[Case]
    tally: Tally
    table: ScoreHistogram
    micro: ScoreHistogram

    @cached_property
    def scores(self) -> ScoreGroups:
        """Groups of equal scores, padded to the greatest number in any case."""
        return score_groups(self.table, self.micro, score_rows(self.kind), self.kind.temperature)

    @cached_property
    def sizes(self) -> list[int]:
        """Greatest number of score groups in a row of each case: what it costs to pad to it."""
        sizes: list[int] = sizes_of_rows(self.table).reshape(len(self.cases), -1).amax(1).tolist()
        return sizes

    def take(self, chosen: Sequence[int]) -> Counted:
        """Return some of the cases, in this order."""
        index = torch.tensor(chosen, dtype=torch.int64, device=self.tally.events.device)
        rows = score_rows(self.kind)
        of_case = index.unsqueeze(1) * rows + torch.arange(rows, device=index.device)
        return Counted(
            self.kind,
            [self.cases[number] for number in chosen],
            self.tally.map(lambda t: t.index_select(0, index)),
            self.table.take(of_case.flatten()),
            self.micro.take(index) if len(self.micro.shift) else self.micro,
        )


def count_windows(kind: Kind, windows: Sequence[Events]) -> Counted:
    """Count the events of windows, each whole and by the segment values that occur in it.

    Parameters
    ----------
    kind
        How the events of all of them are counted.
    windows
        At least one; the events of each in order.
    """
    events = concatenate(windows)
    device = events.timestamp.device
    lengths = torch.tensor([len(window) for window in windows], device=device)
    part = torch.arange(len(windows), device=device).repeat_interleave(lengths)
    cases, grouping = group_events(events.segments, part, len(windows))
    counts, scores, used = count_events(kind, events, grouping, halves=True)
    shift = torch.zeros(len(cases) * score_rows(kind), dtype=torch.int64, device=device)
    table = ScoreHistogram(scores.key, scores.counts(halves=True), shift)
    if kind.task == "binary":
        micro = ScoreHistogram.empty(0, device)
    else:
        together = sort_pooled_scores(kind, events, used)
        micro = ScoreHistogram(together.key, together.counts(halves=False), shift[: len(cases)])
    return Counted(kind, cases, counts, table, micro)


def count_cumulative(versions: Sequence[Version]) -> Counted:
    """Return the cumulative counts of versions of one kind, by their groups."""
    kind = versions[0].plan.spec.kind
    cases = [(number, group) for number, version in enumerate(versions) for group in version.groups]
    table = histogram.joined([version.histogram for version in versions])
    counts = tally.joined([version.counts for version in versions])
    rows, r = score_rows(kind), len(kind.scored)
    if kind.task == "binary":
        micro = ScoreHistogram.empty(0, table.key.device)
    else:
        case = torch.arange(len(cases), device=table.key.device).unsqueeze(1).repeat(1, rows)
        case[:, r:] = -1
        micro = pooled(table, case.flatten(), len(cases))
    return Counted(kind, cases, counts, table, micro)
