"""Averages over the classes of metrics of how scores rank."""

from __future__ import annotations

from collections.abc import Callable

import torch

from monitor.metrics import discrimination, ranking, resolution
from monitor.metrics.averages import over_classes
from monitor.metrics.context import Context
from monitor.metrics.discrimination import where_binned
from monitor.metrics.labels import constant
from monitor.metrics.outcome import Outcome
from monitor.metrics.ranking import Curve
from monitor.metrics.statement import MIN_SUPPORT, number, undefined

_OfCurve = Callable[[Curve], torch.Tensor]


def roc_auc_average(context: Context) -> Outcome:
    """State one-vs-rest averages of the ROC AUC; micro is that of all pairs of event and class."""
    pairs = context.shared(_pairs)
    micro_reason = undefined(
        context.without_scores[:, 0], no_positives=pairs.n_positives == 0, no_negatives=pairs.n_negatives == 0
    )
    per_class = context.shared(discrimination.roc_auc)
    return _average(context, per_class, ranking.roc_auc, resolution.roc_auc_error, micro_reason)


def average_precision_average(context: Context) -> Outcome:
    """State one-vs-rest averages of the average precision; micro is that of all pairs of event and class."""
    micro_reason = undefined(
        context.without_scores[:, 0], no_positives=context.shared(_pairs).n_positives == 0
    )
    per_class, bound = context.shared(discrimination.average_precision), resolution.average_precision_error
    return _average(context, per_class, ranking.average_precision, bound, micro_reason)


def _average(
    context: Context, per_class: Outcome, of_curve: _OfCurve, bound: _OfCurve, micro_reason: torch.Tensor
) -> Outcome:
    """State macro, weighted and micro average of a metric of scores, with its resolution error.

    Macro and weighted are over the classes where the metric is defined; weights are their events, as in
    scikit-learn.

    Parameters
    ----------
    context
        With the groups of scores.
    per_class
        The metric, with its resolution error.
    of_curve, bound
        The metric of a curve, and its resolution error.
    micro_reason : int64, shape (B,)
        Why the micro average is undefined.
    """
    events, scored = context.ranked[..., 1], context.ranked[:, 0].sum(-1)
    assert per_class.resolution_error is not None
    macro, weighted = over_classes(per_class.value, events)
    macro_error, weighted_error = over_classes(per_class.resolution_error, events)
    no_class = undefined(context.without_scores[:, 0], no_class_defined=macro.isnan())
    rarest = torch.where(events > 0, events, scored[:, None]).amin(1)
    return number(
        ((constant("average", "macro", "weighted", "micro"),),),
        torch.stack([macro, weighted, of_curve(context.shared(_pairs))], dim=1),
        torch.stack([no_class, no_class, micro_reason], dim=1),
        scored[:, None],
        low_support=torch.stack([rarest, scored, scored], dim=1) < MIN_SUPPORT,
        resolution_error=torch.stack([macro_error, weighted_error, _error_of_pairs(context, bound)], dim=1),
    )


def _pairs(context: Context) -> Curve:
    """Return the ROC curve of the pairs of event and class of all classes together, (B, H)."""
    return Curve.from_groups(context.counts.micro_positives, context.counts.micro_negatives)


def _error_of_pairs(context: Context, bound: _OfCurve) -> torch.Tensor:
    """Return the resolution error of the pairs, (B,): 0 where each group is one score."""
    exact = context.counts.micro_exact[:, None]
    return where_binned(exact, lambda: bound(context.shared(_pairs))[:, None])[:, 0]
