"""What the decisions cost, in the unit of the configured costs."""

from __future__ import annotations

import torch

from monitor.metrics.confusion import rarest
from monitor.metrics.context import Context
from monitor.metrics.labels import CLASS, SCORED, WHOLE, LabelSets
from monitor.metrics.outcome import Outcome
from monitor.metrics.statement import MIN_SUPPORT, nothing, number


def expected_cost(context: Context) -> Outcome:
    """State the mean cost of an event of the decisions taken; nothing without costs.

    Binary: of the positive class. Multilabel: of each label, and the sum over the labels. Multiclass: of
    the whole, by the matrix of costs; a decision for none of the classes costs the most of its row.
    """
    if not context.has_costs:
        return nothing(context.without_labels)
    of_any = context.shared(rarest)[:, None]
    if context.task == "binary":
        positive = context.column(lambda p: p.positive).long()[:, None]
        labels: LabelSets = ((SCORED,),)
        cost = _by_pair(context).take_along_dim(positive, dim=1)
        fewest = context.support.take_along_dim(positive, dim=1)
    elif context.task == "multilabel":
        labels = ((CLASS,), (WHOLE,))
        cost = _by_pair(context)
        cost = torch.cat([cost, cost.sum(1, keepdim=True)], dim=1)
        fewest = torch.cat([context.support, of_any], dim=1)
    else:
        labels, cost, fewest = ((WHOLE,),), _by_matrix(context), of_any
    labeled = context.labeled[:, None]
    return number(
        labels,
        cost / labeled,
        context.without_labels[:, None].expand_as(cost),
        labeled,
        low_support=fewest < MIN_SUPPORT,
    )


def _by_pair(context: Context) -> torch.Tensor:
    """Return the cost of each class's false negatives and false positives, float64 (B, C)."""
    false_negative, false_positive = context.column(lambda p: p.pair_costs)[:, :, None].unbind(1)
    misses, false_alarms = context.support - context.correct, context.predicted - context.correct
    return false_negative * misses + false_positive * false_alarms


def _by_matrix(context: Context) -> torch.Tensor:
    """Return the cost of all decisions, float64 (B, 1)."""
    costs = context.column(lambda p: p.costs)
    costs = torch.cat([costs, costs.amax(2, keepdim=True)], dim=2)
    return (costs * context.counts.confusion).sum((1, 2))[:, None]
