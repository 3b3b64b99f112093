"""Metrics of how well scores rank the events of a class above the others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import torch

from monitor.metrics import ranking, resolution
from monitor.metrics.context import Context
from monitor.metrics.outcome import Outcome
from monitor.metrics.statement import Labels, label_sets, number, undefined


def roc_auc(context: Context) -> Outcome:
    """State the area under the ROC curve of each scored class."""
    return _ranked(
        context,
        label_sets(("class", context.scored)),
        ranking.roc_auc(context.curve),
        undefined(_without_positives(context), no_negatives=context.ranked[..., 0] == 0),
        context.ranked.sum(-1),
        lambda: resolution.roc_auc_error(context.curve),
    )


def average_precision(context: Context) -> Outcome:
    """State the average precision of each scored class; it is 1 where there are no negatives."""
    return _ranked(
        context,
        label_sets(("class", context.scored)),
        ranking.average_precision(context.curve),
        _without_positives(context),
        context.ranked.sum(-1),
        lambda: resolution.average_precision_error(context.curve),
    )


def partial_roc_auc(context: Context) -> Outcome:
    """State the area under the ROC curve up to max_fpr, over max_fpr (random: max_fpr / 2)."""
    return _up_to_max_fpr(
        context, ranking.partial_roc_auc, resolution.partial_roc_auc_error, context.ranked.sum(-1)
    )


def partial_roc_auc_mcclish(context: Context) -> Outcome:
    """State the area under the ROC curve up to max_fpr on McClish's scale (random: .5)."""
    outcome = context.shared(partial_roc_auc)
    error = outcome.resolution_error
    max_fpr = context.max_fpr.repeat(len(context.scored))
    return replace(
        outcome,
        value=ranking.mcclish(outcome.value, max_fpr),
        resolution_error=None if error is None else resolution.mcclish_error(error, max_fpr),
    )


def recall_at_fpr(context: Context) -> Outcome:
    """State the highest recall of a threshold whose false-positive rate is at most max_fpr."""
    return _up_to_max_fpr(
        context, ranking.recall_at_fpr, resolution.recall_at_fpr_error, context.ranked[..., 1]
    )


_AtFpr = Callable[[ranking.Curve, torch.Tensor], torch.Tensor]


def _up_to_max_fpr(context: Context, metric: _AtFpr, error: _AtFpr, support: torch.Tensor) -> Outcome:
    """State a metric for each scored class and max_fpr; `support` has shape (B, R)."""
    rates = tuple(repr(rate) for rate in context.parameters.max_fpr)
    negatives = context.ranked[..., :1]
    reason = undefined(
        _without_positives(context)[..., None],
        no_negatives=negatives == 0,
        too_few_negatives=1 / negatives.double() > context.max_fpr,
    )
    return _ranked(
        context,
        label_sets(("class", context.scored), ("max_fpr", rates)),
        metric(context.curve, context.max_fpr),
        reason.flatten(1),
        support[..., None].expand_as(reason).flatten(1),
        lambda: error(context.curve, context.max_fpr),
    )


def _without_positives(context: Context) -> torch.Tensor:
    """Return the reason of everything that needs a positive with scores, int64 (B, R)."""
    return undefined(context.without_scores, no_positives=context.ranked[..., 1] == 0)


def _ranked(
    context: Context,
    labels: Labels,
    value: torch.Tensor,
    reason: torch.Tensor,
    support: torch.Tensor,
    bound: Callable[[], torch.Tensor],
) -> Outcome:
    """State a metric with its resolution error, 0 where each group is one score.

    `value` and `bound` have shape (B, R) or (B, R, M); the rest has both flattened, (B, X).
    """
    exact = context.counts.exact
    exact = exact.repeat_interleave(reason.shape[1] // exact.shape[1], dim=1)
    if exact.all():
        error = torch.zeros_like(exact, dtype=torch.float64)
    else:
        error = bound().flatten(1).masked_fill(exact, 0.0)
    return number(labels, value.flatten(1), reason, support, error)
