"""Integer counts of events by group: what windows and the cumulative state have in common."""

from __future__ import annotations

from dataclasses import dataclass, fields

import torch

from monitor.events.batch import PROBABILITY_UNIT
from monitor.events.spec import UNLABELED
from monitor.state.columns import Events
from monitor.state.grouping import Grouping


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts of S groups of events: C classes, R scored classes; every tensor is int64.

    The meaning of each is that of the field of the same name in `monitor.metrics.counts.Counts`.
    """

    decisions: torch.Tensor
    confusion: torch.Tensor
    score_events: torch.Tensor
    score_sum: torch.Tensor
    squared_error: torch.Tensor
    loss: torch.Tensor

    def __add__(self, other: Tally) -> Tally:
        """Return the sums; the smaller one is taken to lack the last groups of the larger."""
        size = max(self.decisions.shape[0], other.decisions.shape[0])
        pairs = zip(self.tensors(size), other.tensors(size), strict=True)
        return Tally(*(a + b for a, b in pairs))

    def tensors(self, groups: int) -> tuple[torch.Tensor, ...]:
        """Return the fields in order, with empty groups appended up to `groups`."""
        return tuple(_grown(getattr(self, f.name), groups) for f in fields(self))

    def nbytes(self) -> int:
        """Return the bytes held."""
        return sum(t.nbytes for t in self.tensors(0))


def _grown(counts: torch.Tensor, groups: int) -> torch.Tensor:
    missing = groups - counts.shape[0]
    return counts if missing <= 0 else torch.cat([counts, counts.new_zeros((missing, *counts.shape[1:]))])


def one_hot(events: Events, scored: torch.Tensor) -> torch.Tensor:
    """Return whether each event's true class is each scored one: bool, shape (n, R)."""
    return events.label.unsqueeze(1) == scored


def tally(events: Events, grouping: Grouping, classes: int, scored: torch.Tensor) -> Tally:
    """Count `events` by group.

    Parameters
    ----------
    events
        n events in any order.
    grouping
        What is counted where.
    classes
        Number of classes C.
    scored : int16, shape (R,)
        Codes of the classes that have score columns.
    """
    row, group, groups = grouping.row, grouping.group, grouping.groups
    width, device = scored.shape[0], group.device

    # One contingency table of true class (first row: unlabeled) and decision (last column: OTHER).
    decision = torch.where(events.decision < 0, classes, events.decision).long()
    cell = (events.label.long() + 1) * (classes + 1) + decision
    table = torch.bincount(
        group * (classes + 1) ** 2 + cell.index_select(0, row), minlength=groups * (classes + 1) ** 2
    ).reshape(groups, classes + 1, classes + 1)

    # Sums, apart for events that are not (0) and are (1) of the scored class.
    score = events.score.double()
    present = ~score.isnan()
    truth = one_hot(events, scored)
    usable = present & (events.label != UNLABELED).unsqueeze(1)
    error = torch.where(usable, (truth.double() - score).square(), 0.0)
    side = torch.arange(width, device=device) * 2 + truth
    index = ((group * (2 * width)).unsqueeze(1) + side.index_select(0, row)).flatten()

    def sums(values: torch.Tensor) -> torch.Tensor:
        counted = values.new_zeros(groups * width * 2)
        counted.index_add_(0, index, values.index_select(0, row).flatten())
        return counted.reshape(groups, width, 2)

    return Tally(
        decisions=table.sum(1),
        confusion=table[:, 1:],
        score_events=sums(present.long())[:, 0].sum(-1),
        score_sum=sums(_units(torch.where(present, score, 0.0))).sum(-1),
        squared_error=sums(_units(error)),
        loss=sums(events.loss.long()),
    )


def _units(values: torch.Tensor) -> torch.Tensor:
    return torch.round(values / PROBABILITY_UNIT).long()
