"""Metrics of decisions, from the confusion matrix.

Every class is taken one-vs-rest; a decision for none of the classes ("other") is a miss of the true
class and a rejection of every class. Names and undefined values are scikit-learn's with
zero_division=nan, except where docs/metrics.md says otherwise.
"""

from __future__ import annotations

import torch

from monitor.metrics.context import Context
from monitor.metrics.outcome import Outcome
from monitor.metrics.statement import label_sets, number, ratio, undefined

_LIMB = 20  # bits: products of counts below 2**40 and 2**42 stay within int64


def accuracy(context: Context) -> Outcome:
    """State the share of labeled events that were decided rightly."""
    return ratio(
        label_sets(),
        context.correct.sum(1, keepdim=True),
        context.labeled[:, None],
        context.without_labels[:, None],
        confidence_level=context.parameters.confidence_level,
    )


def balanced_accuracy(context: Context) -> Outcome:
    """State the mean recall of the classes that have labeled events."""
    recalls = context.correct.double() / context.support.double()
    return number(
        label_sets(),
        recalls.nanmean(1, keepdim=True),
        context.without_labels[:, None],
        context.labeled[:, None],
    )


def matthews_corrcoef(context: Context) -> Outcome:
    """State the correlation of true and decided classes (Gorodkin's R_K, "other" being one more decision).

    Undefined (0 / 0) if all labels or all decisions are of one class.
    """
    true = context.support
    decided = context.predicted
    total = context.labeled[:, None]
    both = _covariance(context.correct, total, true, decided[:, :-1])
    spread = _covariance(true, total, true, true) * _covariance(decided, total, decided, decided)
    reason = undefined(context.without_labels, one_class=spread == 0)
    return number(label_sets(), (both / spread.sqrt())[:, None], reason[:, None], total)


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


def recall(context: Context) -> Outcome:
    """State the share of a class's events that were decided so (true-positive rate)."""
    return _class_ratio(context, context.correct, context.support, "no_positives")


def precision(context: Context) -> Outcome:
    """State the share of the decisions for a class that were right."""
    return _class_ratio(context, context.correct, context.predicted[:, :-1], "never_predicted")


def specificity(context: Context) -> Outcome:
    """State the share of the other classes' events that were not decided so (true-negative rate)."""
    negatives = context.labeled[:, None] - context.support
    return _class_ratio(context, _true_negatives(context), negatives, "no_negatives")


def npv(context: Context) -> Outcome:
    """State the share of the decisions against a class that were right (negative predictive value)."""
    rejected = context.labeled[:, None] - context.predicted[:, :-1]
    return _class_ratio(context, _true_negatives(context), rejected, "never_rejected")


def f1(context: Context) -> Outcome:
    """State the harmonic mean of precision and recall, 2 TP / (2 TP + FP + FN)."""
    involved = context.support + context.predicted[:, :-1]
    return ratio(
        label_sets(("class", context.classes)),
        2 * context.correct,
        involved,
        undefined(context.without_labels[:, None], no_decisions_or_positives=involved == 0),
        support=involved - context.correct,
    )


def fbeta(context: Context) -> Outcome:
    """State F-beta, (1 + beta^2) TP / ((1 + beta^2) TP + beta^2 FN + FP); no label sets without a beta."""
    beta = context.parameters.beta
    involved = context.support + context.predicted[:, :-1] - context.correct
    reason = undefined(context.without_labels[:, None], no_decisions_or_positives=involved == 0)
    if beta is None:
        return number((), involved[:, :0], reason[:, :0], involved[:, :0])
    hits = (1 + beta**2) * context.correct.double()
    # The denominator is beta^2 (TP + FN) + (TP + FP).
    weighed = beta**2 * context.support.double() + context.predicted[:, :-1].double()
    labels = label_sets(("class", context.classes), ("beta", (repr(float(beta)),)))
    return number(labels, hits / weighed, reason, involved)


def _true_negatives(context: Context) -> torch.Tensor:
    """Return the other classes' events that were not decided so, int64 (B, C)."""
    return context.labeled[:, None] - context.support - context.predicted[:, :-1] + context.correct


def _class_ratio(
    context: Context, numerator: torch.Tensor, denominator: torch.Tensor, reason: str
) -> Outcome:
    """State a ratio of counts for each class, undefined for `reason` where there is nothing to count."""
    return ratio(
        label_sets(("class", context.classes)),
        numerator,
        denominator,
        undefined(context.without_labels[:, None], **{reason: denominator == 0}),
        confidence_level=context.parameters.confidence_level,
    )
