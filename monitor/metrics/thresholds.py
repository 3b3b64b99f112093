"""The threshold that would have been the best, by each criterion that a model is configured for."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan

import torch

from monitor.metrics.context import Context
from monitor.metrics.labels import SCORED, Axis
from monitor.metrics.ladder import above_all
from monitor.metrics.outcome import Outcome
from monitor.metrics.parameters import Parameters
from monitor.metrics.ranked import ranked
from monitor.metrics.rows import by_rows
from monitor.metrics.statement import MIN_SUPPORT, number
from monitor.metrics.sweep import Decided, sweep

CRITERIA = ("cost", "f1", "min_fpr_at_recall")
"""By which a threshold can be the best."""


def criteria(parameters: Parameters) -> tuple[str, ...]:
    """Return the criteria that a model is configured for."""
    configured = {
        "cost": parameters.pair_costs is not None,
        "f1": True,
        "min_fpr_at_recall": parameters.min_recall is not None,
    }
    return tuple(criterion for criterion in CRITERIA if configured[criterion])


CRITERION = Axis("criterion", criteria)


@dataclass(frozen=True, slots=True)
class Demands:
    """What the configuration of B models demands of a threshold: float64, (B, 1, 1); NaN where nothing.

    Attributes
    ----------
    false_negative, false_positive
        Costs, above 0.
    min_recall
        Recall to be reached, above 0.
    """

    false_negative: torch.Tensor
    false_positive: torch.Tensor
    min_recall: torch.Tensor


def demands(context: Context) -> Demands:
    """Return them; see `Context.shared`."""
    rows = context.column(lambda p: (*(p.pair_costs or (nan, nan)), p.min_recall or nan))
    return Demands(*rows[:, :, None, None].unbind(1))


def value(criterion: str, decided: Decided, demands: Demands) -> torch.Tensor:
    """Return what a criterion says of thresholds: cost per event, F1, or false-positive rate.

    Parameters
    ----------
    criterion
        One of CRITERIA.
    decided
        Of shape (B, R, P).
    demands
        Of the models.

    Returns
    -------
    float64, shape (B, R, P)
        NaN where it is undefined.
    """
    if criterion == "cost":
        return _cost(decided, demands) / (decided.positives + decided.negatives)
    if criterion == "f1":
        return 2 * _half_f1(decided)
    return decided.fp / decided.negatives


def best(criterion: str, decided: Decided, demands: Demands) -> torch.Tensor:
    """Return the first, hence greatest, threshold that is best by a criterion.

    Parameters
    ----------
    criterion, decided, demands
        As in `value`, thresholds in descending order.

    Returns
    -------
    int64, shape (B, R, 1)
        Index of the point; it means nothing where there is no positive, or (cost) no event.
    """
    # The documentation of torch.max and torch.min promises the first of equal ones.
    if criterion == "cost":
        return _cost(decided, demands).min(-1, keepdim=True).indices
    if criterion == "f1":
        return _half_f1(decided).max(-1, keepdim=True).indices
    return (decided.tp / decided.positives >= demands.min_recall).max(-1, keepdim=True).indices


def _cost(decided: Decided, demands: Demands) -> torch.Tensor:
    misses = decided.positives - decided.tp
    return demands.false_negative * misses + demands.false_positive * decided.fp


def _half_f1(decided: Decided) -> torch.Tensor:
    return decided.tp / (decided.tp + decided.fp + decided.positives)


def best_threshold(context: Context) -> Outcome:
    """State the greatest threshold that is best on the events, for each scored class and criterion.

    It is an observed score, or the next float32 above the greatest one where deciding for nothing costs
    least. The ends of bins are real thresholds, so binned scores give no wrong one.
    """
    asked = criteria(context.parameters[0])
    groups, asks = context.shared(ranked), context.shared(demands)

    def some(nothing: torch.Tensor, *columns: torch.Tensor) -> tuple[torch.Tensor]:
        threshold, positives, negatives, *of_models = columns
        ends, points = torch.cat([nothing, threshold], dim=-1), sweep(positives, negatives)
        found = [ends.gather(-1, best(criterion, points, Demands(*of_models))) for criterion in asked]
        return (torch.cat(found, dim=-1),)

    (value,) = by_rows(
        some,
        context.shared(above_all),
        *(groups.threshold, groups.positives, groups.negatives),
        *(asks.false_negative, asks.false_positive, asks.min_recall),
    )
    reason = torch.stack(
        [context.without_scores if c == "cost" else context.without_positives for c in asked], dim=-1
    )
    low = context.ranked.amin(-1, keepdim=True) < MIN_SUPPORT
    return number(
        ((SCORED, CRITERION),),
        value.flatten(1),
        reason.flatten(1),
        context.ranked.sum(-1, keepdim=True).expand_as(reason).flatten(1),
        low_support=low.expand_as(reason).flatten(1),
    )
