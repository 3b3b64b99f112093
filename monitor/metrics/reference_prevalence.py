"""Precision and average precision as they would be at a given prevalence of the class.

Both fall with the prevalence while the model is the same; true and false positive rates do not. These
can be compared where the prevalence differs.
"""

from __future__ import annotations

from dataclasses import replace

import torch

from monitor.metrics import ranking, resolution
from monitor.metrics.context import Context
from monitor.metrics.discrimination import OF_SCORED, error_of_bins
from monitor.metrics.outcome import Outcome
from monitor.metrics.ranking import Curve
from monitor.metrics.statement import MIN_SUPPORT, nothing, number, undefined


def precision_at_reference_prevalence(context: Context) -> Outcome:
    """State pi TPR / (pi TPR + (1 - pi) FPR) of the decisions for each scored class."""
    if context.parameters[0].reference_prevalence is None:
        return nothing(context.without_labels)
    support, predicted, hits = (
        _of_scored(context, of_class) for of_class in (context.support, context.predicted, context.correct)
    )
    others, pi = context.labeled[:, None] - support, _prevalence(context)
    right, wrong = pi * hits / support, (1 - pi) * (predicted - hits) / others
    reason = undefined(
        context.without_labels[:, None],
        no_positives=support == 0,
        no_negatives=others == 0,
        never_predicted=predicted == 0,
    )
    return number(
        OF_SCORED,
        right / (right + wrong),
        reason,
        predicted,
        low_support=torch.minimum(predicted, support) < MIN_SUPPORT,
    )


def average_precision_at_reference_prevalence(context: Context) -> Outcome:
    """State the average precision of each scored class if its negatives counted more, or less, each."""
    if context.parameters[0].reference_prevalence is None:
        return nothing(context.without_labels)
    curve = context.shared(_reweighted)
    return number(
        OF_SCORED,
        ranking.average_precision(curve),
        context.without_one_side,
        context.ranked.sum(-1),
        low_support=context.ranked.amin(-1) < MIN_SUPPORT,
        resolution_error=error_of_bins(context, lambda: resolution.average_precision_error(curve)),
    )


def _reweighted(context: Context) -> Curve:
    """Return the ROC curves with negatives weighted so that positives are the reference share."""
    curve, pi = context.curve, _prevalence(context)
    weight = (1 - pi) / pi * curve.n_positives / curve.n_negatives
    return replace(
        curve,
        negatives=curve.negatives * weight[..., None],
        fp=curve.fp * weight[..., None],
        n_negatives=curve.n_negatives * weight,
    )


def _prevalence(context: Context) -> torch.Tensor:
    """Return the reference, float64 (B, R)."""
    return context.column(lambda p: p.reference_prevalence)


def _of_scored(context: Context, of_classes: torch.Tensor) -> torch.Tensor:
    """Return of a number of each class, (B, C), those of the scored ones, (B, R)."""
    if context.task != "binary":
        return of_classes
    return of_classes.gather(1, context.column(lambda p: [p.positive]).long())
