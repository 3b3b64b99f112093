"""Metrics of decisions, from the confusion matrix.

Every class is taken one-vs-rest; a decision for none of the classes ("other") is a miss of the true
class and a rejection of every class. Names and undefined values are scikit-learn's with
zero_division=nan, except where docs/metrics.md says otherwise.
"""

from __future__ import annotations

import torch

from monitor.metrics.context import Context
from monitor.metrics.labels import CLASS
from monitor.metrics.outcome import Outcome
from monitor.metrics.statement import MIN_SUPPORT, number, ratio, undefined

_LIMB = 20  # bits: products of counts below 2**40 and 2**42 stay within int64


def accuracy(context: Context) -> Outcome:
    """State the share of labeled events that were decided rightly (multilabel: in every label)."""
    return ratio(
        ((),),
        context.counts.right[:, None],
        context.labeled[:, None],
        context.without_labels[:, None],
        confidence_level=context.confidence_level,
    )


def balanced_accuracy(context: Context) -> Outcome:
    """State the mean recall of the classes that have labeled events; not for multilabel tasks."""
    recalls = context.correct.double() / context.support.double()
    return _of_one_label(context, recalls.nanmean(1), context.without_labels)


def matthews_corrcoef(context: Context) -> Outcome:
    """State the correlation of true and decided classes (Gorodkin's R_K, "other" being one more decision).

    Undefined (0 / 0) if all labels or all decisions are of one class, and in multilabel tasks.
    """
    if context.task == "multilabel":
        return _of_one_label(context, context.labeled, context.without_labels)
    true = context.support
    decided = context.counts.confusion.sum(1)
    total = context.labeled[:, None]
    both = _covariance(context.correct, total, true, decided[:, :-1])
    spread = _covariance(true, total, true, true) * _covariance(decided, total, decided, decided)
    return _of_one_label(
        context, both / spread.sqrt(), undefined(context.without_labels, one_class=spread == 0)
    )


def _of_one_label(context: Context, value: torch.Tensor, reason: torch.Tensor) -> Outcome:
    """State a value (B,) of the whole that only events with one label have."""
    multilabel = torch.full_like(reason, context.task == "multilabel", dtype=torch.bool)
    return number(
        ((),),
        value[:, None],
        undefined(reason, not_for_multilabel=multilabel)[:, None],
        context.labeled[:, None],
        low_support=(context.shared(rarest) < MIN_SUPPORT)[:, None],
    )


def _covariance(
    joint: torch.Tensor, total: torch.Tensor, left: torch.Tensor, right: torch.Tensor
) -> torch.Tensor:
    """Return sum(joint * total - left * right) over the last dimension, over total**2, float64.

    The products overflow int64 from totals of 3e9 on and cancel where classes are rare: one factor
    of each is split in two, both halves are summed exactly, and floats come last.
    """
    mask = (1 << _LIMB) - 1
    high = ((joint >> _LIMB) * total - (left >> _LIMB) * right).sum(-1)
    low = ((joint & mask) * total - (left & mask) * right).sum(-1)
    scale = total[..., 0].double()
    return (high.double() * (mask + 1) + low.double()) / (scale * scale)


def rarest(context: Context) -> torch.Tensor:
    """Return the labeled events of the rarest class that has any, int64 (B,): averages rest on it."""
    support = context.support
    return torch.where(support > 0, support, context.labeled[:, None]).amin(1)


def recall(context: Context) -> Outcome:
    """State the share of a class's events that were decided so (true-positive rate)."""
    return _class_ratio(context, context.correct, context.support, "no_positives")


def precision(context: Context) -> Outcome:
    """State the share of the decisions for a class that were right."""
    return _class_ratio(context, context.correct, context.predicted, "never_predicted")


def specificity(context: Context) -> Outcome:
    """State the share of the other classes' events that were not decided so (true-negative rate)."""
    negatives = context.labeled[:, None] - context.support
    return _class_ratio(context, _true_negatives(context), negatives, "no_negatives")


def npv(context: Context) -> Outcome:
    """State the share of the decisions against a class that were right (negative predictive value)."""
    rejected = context.labeled[:, None] - context.predicted
    return _class_ratio(context, _true_negatives(context), rejected, "never_rejected")


def lift(context: Context) -> Outcome:
    """State recall over the rate of decisions for the class, which is precision over prevalence."""
    labeled, support, predicted = context.labeled[:, None], context.support, context.predicted
    recalls = context.correct.double() / support.double()
    return number(
        ((CLASS,),),
        recalls * labeled.double() / predicted.double(),
        undefined(context.without_labels[:, None], no_positives=support == 0, never_predicted=predicted == 0),
        torch.minimum(support, predicted),
    )


def _true_negatives(context: Context) -> torch.Tensor:
    """Return the other classes' events that were not decided so, int64 (B, C)."""
    return context.labeled[:, None] - context.support - context.predicted + context.correct


def _class_ratio(
    context: Context, numerator: torch.Tensor, denominator: torch.Tensor, reason: str
) -> Outcome:
    """State a ratio of counts for each class, undefined for `reason` where there is nothing to count."""
    return ratio(
        ((CLASS,),),
        numerator,
        denominator,
        undefined(context.without_labels[:, None], **{reason: denominator == 0}),
        confidence_level=context.confidence_level,
    )
