"""Averages over the classes of metrics that are about one class."""

from __future__ import annotations

import torch

from monitor.metrics import confusion, discrimination
from monitor.metrics.context import Context
from monitor.metrics.outcome import Outcome
from monitor.metrics.statement import label_sets, number, undefined

_OF_CLASSES = ("macro", "weighted")


def precision_average(context: Context) -> Outcome:
    """State average precisions; macro needs every class with events to be predicted, weighted one."""
    predicted = context.predicted[:, :-1]
    missed = (context.support > 0) & (predicted == 0)
    macro = undefined(context.without_labels, class_never_predicted=missed.any(1))
    weighted = undefined(
        context.without_labels, class_never_predicted=(missed | (context.support == 0)).all(1)
    )
    return _with_micro(context, context.shared(confusion.precision), predicted.sum(1), macro, weighted)


def recall_average(context: Context) -> Outcome:
    """State average recalls."""
    before = context.without_labels
    return _with_micro(context, context.shared(confusion.recall), context.labeled, before, before)


def f1_average(context: Context) -> Outcome:
    """State average F1 scores."""
    # Of all classes together, 2 TP / (2 TP + FP + FN) is TP over the mean of labels and decisions.
    events = (context.labeled + context.predicted[:, :-1].sum(1)).double() / 2
    before = context.without_labels
    return _with_micro(context, context.shared(confusion.f1), events, before, before)


def roc_auc_average(context: Context) -> Outcome:
    """State one-vs-rest averages of the ROC AUC."""
    return _of_scored(context, context.shared(discrimination.roc_auc))


def average_precision_average(context: Context) -> Outcome:
    """State one-vs-rest averages of the average precision."""
    return _of_scored(context, context.shared(discrimination.average_precision))


def _of_classes(values: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    """Return macro and weighted mean over the classes where a value is defined.

    Parameters
    ----------
    values : float64, shape (B, C)
        NaN where undefined.
    weights : int64, shape (B, C)

    Returns
    -------
    torch.Tensor, float64, shape (B, 2)
        NaN where no class has a value.
    """
    used = weights * ~values.isnan()
    weighted = (values.nan_to_num() * used).sum(1) / used.sum(1)
    return torch.stack([values.nanmean(1), weighted], dim=1)


def _with_micro(
    context: Context,
    per_class: Outcome,
    micro_events: torch.Tensor,
    macro_reason: torch.Tensor,
    weighted_reason: torch.Tensor,
) -> Outcome:
    """State macro, weighted and micro average of a metric of decisions.

    Parameters
    ----------
    context
        With the numbers of right decisions.
    per_class
        The metric.
    micro_events : shape (B,)
        What the right decisions of all classes are divided by for the micro average.
    macro_reason, weighted_reason : int64, shape (B,)
        Why these are undefined.
    """
    micro = context.correct.sum(1).double() / micro_events
    micro_reason = undefined(context.without_labels, never_predicted=micro_events == 0)
    averages = _of_classes(per_class.value, context.support)
    return number(
        label_sets(("average", (*_OF_CLASSES, "micro"))),
        torch.cat([averages, micro[:, None]], dim=1),
        torch.stack([macro_reason, weighted_reason, micro_reason], dim=1),
        context.labeled[:, None],
    )


def _of_scored(context: Context, per_class: Outcome) -> Outcome:
    """Average a metric of scores, and its resolution error, over the classes that have one."""
    weights = context.ranked[..., 1]
    reason = undefined(
        context.without_scores[:, :1], no_class_defined=(per_class.reason != 0).all(1, keepdim=True)
    )
    error = per_class.resolution_error
    return number(
        label_sets(("average", _OF_CLASSES)),
        _of_classes(per_class.value, weights),
        reason.expand(-1, 2),
        context.ranked[:, 0].sum(-1, keepdim=True),
        None if error is None else _of_classes(error, weights),
    )
