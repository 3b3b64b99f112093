"""Sums over events with scores, by case."""

from __future__ import annotations

from typing import NamedTuple

import torch

from monitor.events.batch import PROBABILITY_UNIT
from monitor.events.spec import Kind
from monitor.state import moments
from monitor.state.columns import Events
from monitor.state.decisions import fraction_units
from monitor.state.grouping import Grouping
from monitor.state.keys import CELLS, KEY_BITS, KEY_MASK, cell_keys, key_probability, probability
from monitor.state.moments import units
from monitor.state.ordering import Segments
from monitor.state.scores import TRUE, Scores, true_classes
from monitor.state.tally import score_rows


class ScoreSums(NamedTuple):
    """Fields of `Tally` that scores give."""

    top_k: torch.Tensor
    score_events: torch.Tensor
    score_sum: torch.Tensor
    squared_error: torch.Tensor
    loss: torch.Tensor
    whole: torch.Tensor
    cells: torch.Tensor


def sum_scores(kind: Kind, events: Events, used: Grouping, unlabeled: Grouping, scores: Scores) -> ScoreSums:
    """Add up what scores give to each case.

    Parameters
    ----------
    events
        n events.
    used, unlabeled
        Cases of the events with scores that have a label, and of those that have none.
    scores
        Those of `used`, sorted.
    """
    true = scores.side & TRUE
    count, positives = scores.events, scores.events * true
    p = key_probability(scores.key & KEY_MASK, kind.temperature)
    p_units, square = units(p, PROBABILITY_UNIT), units(p.square(), PROBABILITY_UNIT)
    of_score = moments.of_scores(p, true == 1)
    by_cell = _ByCell(kind, scores, used.cases)
    summands = (count, count * p_units, count * square, positives, positives * p_units)
    cells = torch.stack([by_cell(summand) for summand in summands], dim=-1)
    of_classes = cells[:, : len(kind.scored)]

    def by_side(values: torch.Tensor) -> torch.Tensor:
        both, of_true = (by_cell(n * values)[:, : len(kind.scored)].sum(-1) for n in (count, positives))
        return torch.stack([both - of_true, of_true], dim=-1)

    if kind.task == "binary":  # an event is its only score
        whole = torch.stack([by_cell(count * values).sum((1, 2)) for values in _whole(of_score)], dim=-1)
    else:
        p, truth = probability(events.score.T, kind.temperature), true_classes(kind, events)
        whole = used.sum(torch.stack(_whole(moments.of_events(p, truth, mean=kind.task == "multilabel"))))
    unlabeled_events, unlabeled_sum = _unlabeled(kind, events, unlabeled)
    return ScoreSums(
        top_k=_top_k(kind, events, used),
        score_events=of_classes[:, 0, :, 0].sum(-1) + unlabeled_events,
        score_sum=of_classes[..., 1].sum(-1) + unlabeled_sum,
        squared_error=by_side(of_score.error),
        loss=by_side(of_score.loss),
        whole=whole.reshape(-1, 2, 2),
        cells=cells,
    )


class _ByCell:
    """Adds up a number of each of the sorted scores: int64, shape (cases, T, CELLS)."""

    def __init__(self, kind: Kind, scores: Scores, cases: int) -> None:
        self._shape = cases, score_rows(kind), CELLS
        device = scores.key.device
        rows = torch.arange(cases * score_rows(kind), device=device) << KEY_BITS
        least = rows.unsqueeze(1) | cell_keys(kind.temperature, device)
        self._segments = Segments(torch.searchsorted(scores.key, least.flatten()), len(scores.key))

    def __call__(self, values: torch.Tensor) -> torch.Tensor:
        return self._segments.sum(values).reshape(self._shape)


def _whole(of: moments.Moments) -> list[torch.Tensor]:
    return [of.error, of.error_square, of.loss, of.loss_square]


def _unlabeled(kind: Kind, events: Events, unlabeled: Grouping) -> tuple[torch.Tensor, torch.Tensor]:
    """Return how many events have scores and no label, and the sums of their probabilities."""
    p = probability(events.score.index_select(0, unlabeled.row), kind.temperature)
    sums = unlabeled.case.new_zeros((unlabeled.cases, p.shape[1]))
    sums.index_add_(0, unlabeled.case, units(p, PROBABILITY_UNIT))
    return torch.bincount(unlabeled.case, minlength=unlabeled.cases), sums


def _top_k(kind: Kind, events: Events, used: Grouping) -> torch.Tensor:
    if not kind.top_k:
        return used.case.new_zeros((used.cases, 0))
    own = events.score.gather(1, events.label.long().clamp(min=0).unsqueeze(1))
    above, tied = (events.score > own).sum(1), (events.score == own).sum(1)
    chances = [torch.minimum((k - above).clamp(min=0), tied) for k in kind.top_k]
    return used.sum(torch.stack([fraction_units(chance, tied) for chance in chances]))
