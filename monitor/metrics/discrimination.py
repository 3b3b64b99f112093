"""Metrics of how well scores rank the events of a class above the others."""

from __future__ import annotations

from collections.abc import Callable

import torch

from monitor.metrics import influence, ranking, resolution
from monitor.metrics.context import Context
from monitor.metrics.intervals import effective_n
from monitor.metrics.labels import MAX_FPR, SCORED, LabelSets
from monitor.metrics.outcome import Interval, Outcome
from monitor.metrics.statement import MIN_FOR_INTERVAL, MIN_SUPPORT, number, undefined

OF_SCORED: LabelSets = ((SCORED,),)
OF_RATES: LabelSets = ((SCORED, MAX_FPR),)

MIN_NEGATIVES_FOR_INTERVAL = 10
"""Fewer negatives up to max_fpr leave a metric of that part of the curve without an interval."""


def roc_auc(context: Context) -> Outcome:
    """State the area under the ROC curve of each scored class."""
    value, fewest = ranking.roc_auc(context.curve), context.ranked.amin(-1)
    few = fewest < MIN_FOR_INTERVAL
    return number(
        OF_SCORED,
        value,
        context.without_one_side,
        context.ranked.sum(-1),
        interval=effective_n(value, influence.roc_auc_se(context.curve), fewest, context.confidence_level),
        no_interval=undefined(torch.zeros_like(fewest), low_support=few),
        low_support=few,
        resolution_error=error_of_bins(context, lambda: resolution.roc_auc_error(context.curve)),
    )


def average_precision(context: Context) -> Outcome:
    """State the average precision of each scored class; it is 1 where there are no negatives."""
    value, fewest = ranking.average_precision(context.curve), context.ranked.amin(-1)
    standard_error = influence.average_precision_se(context.curve)
    negatives, positives = context.ranked.unbind(-1)
    return number(
        OF_SCORED,
        value,
        context.without_positives,
        context.ranked.sum(-1),
        interval=effective_n(value, standard_error, fewest, context.confidence_level),
        no_interval=undefined(
            torch.zeros_like(fewest),
            low_support=positives < MIN_FOR_INTERVAL,
            no_negatives=negatives == 0,
        ),
        low_support=(positives < MIN_SUPPORT) | (negatives == 0),
        resolution_error=error_of_bins(context, lambda: resolution.average_precision_error(context.curve)),
    )


def partial_roc_auc(context: Context) -> Outcome:
    """State the area under the ROC curve up to max_fpr, over max_fpr (random: max_fpr / 2)."""
    curve, max_fpr = context.curve, context.max_fpr
    value = ranking.partial_roc_auc(curve, max_fpr)
    standard_error = influence.partial_roc_auc_se(curve, max_fpr)
    fewest = context.ranked.amin(-1, keepdim=True)
    below = context.ranked[..., :1] * max_fpr
    interval = effective_n(value, standard_error, fewest, context.confidence_level)
    no_interval = undefined(
        torch.zeros_like(below, dtype=torch.int64),
        low_support=context.ranked[..., 1:] < MIN_FOR_INTERVAL,
        too_few_negatives=below < MIN_NEGATIVES_FOR_INTERVAL,
    )
    return number(
        OF_RATES,
        value.flatten(1),
        _up_to_max_fpr(context),
        _to_rates(context, context.ranked.sum(-1)),
        interval=Interval(
            interval.method,
            interval.lower.flatten(1),
            interval.upper.flatten(1),
            interval.standard_error.flatten(1),
        ),
        no_interval=no_interval.flatten(1),
        low_support=_few_up_to_max_fpr(context),
        resolution_error=error_of_bins(context, lambda: resolution.partial_roc_auc_error(curve, max_fpr)),
    )


def partial_roc_auc_mcclish(context: Context) -> Outcome:
    """State the area under the ROC curve up to max_fpr on McClish's scale (random: .5)."""
    area = context.shared(partial_roc_auc)
    max_fpr = context.max_fpr.expand(-1, context.scored, -1).flatten(1)
    assert area.interval is not None
    assert area.resolution_error is not None
    return number(
        area.labels,
        ranking.mcclish(area.value, max_fpr),
        area.reason,
        area.support,
        interval=Interval(
            area.interval.method,
            ranking.mcclish(area.interval.lower, max_fpr),
            ranking.mcclish(area.interval.upper, max_fpr),
            area.interval.standard_error / (2 - max_fpr),
        ),
        no_interval=area.no_interval,
        low_support=_few_up_to_max_fpr(context),
        resolution_error=resolution.mcclish_error(area.resolution_error, max_fpr),
    )


def recall_at_fpr(context: Context) -> Outcome:
    """State the highest recall of a threshold whose false-positive rate is at most max_fpr."""
    curve, max_fpr = context.curve, context.max_fpr
    few = (context.ranked[..., 1:] < MIN_SUPPORT) | (context.ranked[..., :1] * max_fpr < MIN_SUPPORT)
    return number(
        OF_RATES,
        ranking.recall_at_fpr(curve, max_fpr).flatten(1),
        _up_to_max_fpr(context),
        _to_rates(context, context.ranked[..., 1]),
        low_support=few.flatten(1),
        resolution_error=error_of_bins(context, lambda: resolution.recall_at_fpr_error(curve, max_fpr)),
    )


def error_of_bins(context: Context, bound: Callable[[], torch.Tensor]) -> torch.Tensor:
    """Return the resolution error of a metric of scored classes, 0 where each group is one score: (B, X).

    `bound` has shape (B, R) or (B, R, anything); it is not computed where nothing was binned.
    """
    return where_binned(context.counts.exact[:, : context.scored], bound)


def where_binned(exact: torch.Tensor, bound: Callable[[], torch.Tensor]) -> torch.Tensor:
    """Return a bound of shape (B, R, ...) as (B, X), 0 where `exact` (B, R); (B, 1) if all is exact."""
    if exact.all():
        return torch.zeros_like(exact[:, :1], dtype=torch.float64)
    error = bound()
    return error.masked_fill(exact.view(*exact.shape, *[1] * (error.ndim - 2)), 0.0).flatten(1)


def _to_rates(context: Context, values: torch.Tensor) -> torch.Tensor:
    """Repeat a number of each scored class, (B, R), for each max_fpr: (B, R x M)."""
    return values.repeat_interleave(context.max_fpr.shape[-1], dim=1)


def _up_to_max_fpr(context: Context) -> torch.Tensor:
    """Return the reason of everything up to max_fpr, int64 (B, R x M)."""
    negatives = context.ranked[..., :1].double()
    reason = undefined(context.without_one_side[..., None], too_few_negatives=1 / negatives > context.max_fpr)
    return reason.flatten(1)


def _few_up_to_max_fpr(context: Context) -> torch.Tensor:
    """Return whether there are too few events for an area up to max_fpr, bool (B, R x M)."""
    negatives, positives = context.ranked[..., :1], context.ranked[..., 1:]
    return ((positives < MIN_FOR_INTERVAL) | (negatives * context.max_fpr < MIN_SUPPORT)).flatten(1)
