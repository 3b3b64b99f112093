"""What people draw: curves and tables of a batch of cases, bounded in size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import nan

import torch

from monitor.metrics.cells import BINS, merge
from monitor.metrics.context import Context
from monitor.metrics.cost_ratios import COST_RATIOS, cheapest
from monitor.metrics.decay import accuracy_decay, f1_decay, falls
from monitor.metrics.intervals import wilson
from monitor.metrics.ladder import above_all, events_above, thresholds_at
from monitor.metrics.over_time import judged
from monitor.metrics.ranked import ranked
from monitor.metrics.rows import by_rows
from monitor.metrics.sweep import Decided, sweep
from monitor.metrics.thresholds import CRITERIA, Demands, criteria, demands

__all__ = ["COST_RATIOS", "CRITERIA", "Curves", "curves"]

_STEPS = 100


@dataclass(frozen=True, slots=True)
class Curves:
    """Of B cases: R scored classes, T rows of scores (see `Counts`), P points.

    Float64, NaN where undefined, unless said otherwise.

    Attributes
    ----------
    threshold : shape (B, R, P)
        Probabilities from high to low: the points of ROC and precision-recall curve and of the sweep. The
        first decides for nothing (the next float above the greatest score), the last for everything;
        neighbours may be equal.
    true_positives, false_positives : int64, shape (B, R, P)
        Decided from each threshold on.
    mean_probability : shape (B, R, P)
        Of the events that each threshold decides for and the one before it does not.
    positives, negatives : int64, shape (B, R)
        All.
    reliability : shape (B, T, 15, 5)
        By cell of the score: events, mean probability, rate of the class, its lower and upper bound
        (Wilson).
    decay : shape (B, D, 100)
        For k = 1 to 100% of the events, the highest scores first: F1 of the decisions by the model's
        threshold among them, for each scored class; in multiclass tasks (D is 1) the share of right ones
        among the k% with the greatest top-label scores. D is R else.
    decay_falls : int64, shape (B, D)
        At which percentage before 10% it falls to half of its first defined value, 0 where it does not.
    cost_threshold, cost, cost_from, cost_to : shape (B, R, len(COST_RATIOS))
        Best threshold at each cost ratio, its cost per event in false positives' costs, and the least
        and greatest threshold that cost at most 5% more.
    best : shape (B, R, len(CRITERIA), 4)
        Threshold that is best on all events; its value of the criterion there (cost per event, F1,
        false-positive rate); the value on the newer half of the threshold that is best on the older half;
        the value on the newer half of the model's own threshold.
    """

    threshold: torch.Tensor
    true_positives: torch.Tensor
    false_positives: torch.Tensor
    mean_probability: torch.Tensor
    positives: torch.Tensor
    negatives: torch.Tensor
    reliability: torch.Tensor
    decay: torch.Tensor
    decay_falls: torch.Tensor
    cost_threshold: torch.Tensor
    cost: torch.Tensor
    cost_from: torch.Tensor
    cost_to: torch.Tensor
    best: torch.Tensor


def curves(context: Context) -> Curves:
    """Return the curves of all cases."""
    counts, r = context.counts, context.scored
    groups, asks = context.shared(ranked), context.shared(demands)
    own = context.column(lambda p: p.thresholds or (nan,) * r).float().double()[..., None]
    reach, tp, decay, cost_threshold, cost, cost_to, within, best = by_rows(
        partial(_of_groups, criteria(context.parameters[0])),
        context.shared(above_all),
        *events_above(context, own),
        *(asks.false_negative, asks.false_positive, asks.min_recall),
        *(groups.threshold, groups.positives, groups.negatives),
        *(groups.older_positives, groups.older_negatives),
    )
    threshold, decided, mean_probability, cost_from = thresholds_at(context, reach, within)
    if context.task == "multiclass":
        best[..., -1] = nan  # there is no threshold of the model's own
        top_label = counts.positives[:, r:], counts.negatives[:, r:]
        (decay,) = by_rows(lambda *sides: (accuracy_decay(sweep(*sides)),), *top_label)
    negatives, positives = context.ranked.unbind(-1)
    empty = (positives + negatives == 0)[..., None]
    return Curves(
        threshold=threshold.masked_fill(empty, nan),
        true_positives=tp,
        false_positives=decided - tp,
        mean_probability=mean_probability,
        positives=positives,
        negatives=negatives,
        reliability=_reliability(counts.cells, context.confidence_level),
        decay=decay,
        decay_falls=falls(decay),
        cost_threshold=cost_threshold.masked_fill(empty, nan),
        cost=cost,
        cost_from=cost_from.masked_fill(empty, nan),
        cost_to=cost_to.masked_fill(empty, nan),
        best=best,
    )


def _of_groups(asked: Sequence[str], *columns: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Return what the merged groups of some cases tell."""
    nothing, above_own, older_above_own, above_older, *asks = columns[:7]
    threshold, positives, negatives, older_positives, older_negatives = columns[7:]
    whole, older = sweep(positives, negatives), sweep(older_positives, older_negatives)
    ends = torch.cat([nothing, threshold], dim=-1)
    # How many events are above a threshold tells which, wherever it stands: merged are negatives alone.
    own, unseen = whole.highest(above_own), whole.highest(above_older)
    own_newer = own.without(older.highest(older_above_own))
    return (
        *_evenly(whole),
        f1_decay(whole, own),
        *cheapest(whole, ends),
        judged(ends, whole, older, unseen, own_newer, Demands(*asks), asked),
    )


def _evenly(points: Decided) -> tuple[torch.Tensor, torch.Tensor]:
    """Choose _STEPS + 1 thresholds in equal steps of recall + false-positive rate, some of them equal.

    Returns
    -------
    reach : int64
        How many events they must decide for, from none to all.
    true_positives : int64
        How many of those are positives.
    """
    decided, positives, negatives = points.tp + points.fp, points.positives, points.negatives
    along = points.tp * negatives.clamp(min=1) + points.fp * positives.clamp(min=1)
    steps = torch.arange(_STEPS + 1, dtype=torch.float64, device=along.device)
    aim = along[..., -1:] * steps / _STEPS
    after = torch.searchsorted(along, aim)
    before = (after - 1).clamp(min=0)
    # Within merged groups, which are negatives alone, the aim may be reached before the end.
    low = decided.gather(-1, before)
    needed = ((aim - along.gather(-1, before)) / positives.clamp(min=1)).ceil().clamp(min=1)
    reach = low + torch.minimum(needed, decided.gather(-1, after) - low)
    return reach.long(), points.tp.gather(-1, after).long()


def _reliability(cells: torch.Tensor, confidence_level: float) -> torch.Tensor:
    """Return `Curves.reliability` from `Counts.cells`."""
    events, p, _, y, _ = merge(cells, BINS).unbind(-1)
    rate = wilson(y, events, confidence_level)
    return torch.stack((events, p / events, y / events, rate.lower, rate.upper), dim=-1)
