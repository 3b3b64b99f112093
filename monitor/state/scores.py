"""Labeled scores sorted by case, row and value: what exact groups and the cumulative histogram share."""

from __future__ import annotations

from typing import NamedTuple

import torch

from monitor.events.spec import Kind
from monitor.state.columns import Events
from monitor.state.grouping import Grouping
from monitor.state.keys import KEY_BITS, score_key
from monitor.state.ordering import sort
from monitor.state.tally import score_rows

TRUE = 1
"""Bit of `Scores.side`: the row's class is true."""

_SIDE_BITS = 2


class Scores(NamedTuple):
    """M distinct combinations of row, score and side, ascending in this order; int64 tensors, shape (M,).

    Attributes
    ----------
    key
        row << 32 | key of the score (`monitor.state.keys`).
    side
        1 if the row's class is true, plus 2 in the older half of a window.
    events
        How many.
    """

    key: torch.Tensor
    side: torch.Tensor
    events: torch.Tensor

    def counts(self, *, halves: bool) -> torch.Tensor:
        """Return the events by side as in `ScoreHistogram.count`: int64, shape (2 or 4, M)."""
        counts = self.events.new_empty((4 if halves else 2, len(self.key)))
        torch.mul(self.events, self.side & TRUE, out=counts[1])
        torch.sub(self.events, counts[1], out=counts[0])
        if halves:
            torch.mul(counts[:2], self.side >> 1, out=counts[2:])
        return counts


def sort_scores(kind: Kind, events: Events, used: Grouping, older: torch.Tensor | None = None) -> Scores:
    """Sort the scores of every row: row = case x T + row of scores.

    Parameters
    ----------
    events
        n events.
    used
        Cases of the labeled events with scores.
    older : bool, shape (pairs in `used`,)
        Whether the event is in the older half of its case.
    """
    score, truth = scores_and_truth(kind, events)
    first = used.case * score_rows(kind)
    return _sorted([first + number for number in range(len(score))], _values(kind, score, truth), used, older)


def sort_pooled_scores(kind: Kind, events: Events, used: Grouping) -> Scores:
    """Sort the scores of all classes together, row = case; without halves."""
    values = _values(kind, events.score.T.contiguous(), true_classes(kind, events))
    return _sorted([used.case] * len(values), values, used, None)


def true_classes(kind: Kind, events: Events) -> torch.Tensor:
    """Return whether each scored class is true of each event: bool, shape (R, n)."""
    if kind.task == "multilabel":
        return events.label.T > 0
    return torch.stack([events.label == code for code in kind.scored])


def scores_and_truth(kind: Kind, events: Events) -> tuple[torch.Tensor, torch.Tensor]:
    """Return score and truth of every row: float32 and bool, shape (T, n)."""
    score, truth = events.score.T.contiguous(), true_classes(kind, events)
    if kind.task == "multiclass":
        top = events.score.argmax(1, keepdim=True)  # of ties the first
        score = torch.cat([score, events.score.gather(1, top).T])
        truth = torch.cat([truth, events.label == top.T])
    return score, truth


def _values(kind: Kind, score: torch.Tensor, truth: torch.Tensor) -> torch.Tensor:
    return (score_key(score, kind.temperature) << _SIDE_BITS) | truth


def _sorted(
    row: list[torch.Tensor], value: torch.Tensor, used: Grouping, older: torch.Tensor | None
) -> Scores:
    packed = [(r << (KEY_BITS + _SIDE_BITS)) | used.select(v) for r, v in zip(row, value, strict=True)]
    if older is not None:
        packed = [p | (older.long() << 1) for p in packed]
    distinct, events = torch.unique_consecutive(sort(torch.cat(packed)), return_counts=True)
    return Scores(distinct >> _SIDE_BITS, distinct & ((1 << _SIDE_BITS) - 1), events)
