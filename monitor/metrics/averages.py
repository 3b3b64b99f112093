"""Averages over the classes of metrics of decisions."""

from __future__ import annotations

import torch

from monitor.metrics import confusion, f_score
from monitor.metrics.context import Context
from monitor.metrics.counts import SCORE_UNIT
from monitor.metrics.labels import constant
from monitor.metrics.outcome import Outcome
from monitor.metrics.statement import MIN_SUPPORT, number, undefined


def precision_average(context: Context) -> Outcome:
    """State average precisions; macro needs every class with events to be predicted, weighted one."""
    missed = (context.support > 0) & (context.predicted == 0)
    per_class, decisions = context.shared(confusion.precision), context.predicted.sum(1)
    return _of_decisions(context, per_class, 0, decisions, "never_predicted", missed.any(1))


def recall_average(context: Context) -> Outcome:
    """State average recalls."""
    per_class, events = context.shared(confusion.recall), context.support.sum(1)
    return _of_decisions(context, per_class, 1, events, "no_positives")


def f1_average(context: Context) -> Outcome:
    """State average F1 scores."""
    # Of all classes together, 2 TP / (2 TP + FP + FN) is TP over the mean of labels and decisions.
    involved = (context.support + context.predicted).sum(1).double() / 2
    return _of_decisions(context, context.shared(f_score.f1), 2, involved, "no_decisions_or_positives")


def _of_decisions(
    context: Context,
    per_class: Outcome,
    row: int,
    micro_events: torch.Tensor,
    nothing: str,
    missed: torch.Tensor | None = None,
) -> Outcome:
    """State macro, weighted and micro average of a metric of decisions; multilabel: samples, too.

    Parameters
    ----------
    context
        With the numbers of right decisions.
    per_class
        The metric.
    row
        Its place in `Counts.samples`.
    micro_events : shape (B,)
        What the right decisions of all classes are divided by for the micro average.
    nothing
        Reason where there is nothing to average.
    missed : bool, shape (B,)
        Whether a class is without a value that would have made the average worse; by default none.
    """
    before, labeled = context.without_labels, context.labeled
    missed = torch.zeros_like(before, dtype=torch.bool) if missed is None else missed
    macro, weighted = over_classes(per_class.value, context.support)
    micro = context.correct.sum(1).double() / micro_events
    no_weight = weighted.isnan()
    columns = [
        (
            macro,
            undefined(before, class_never_predicted=missed, **{nothing: macro.isnan()}),
            context.shared(confusion.rarest),
        ),
        (
            weighted,
            undefined(before, class_never_predicted=missed & no_weight, no_positives=no_weight),
            labeled,
        ),
        (micro, undefined(before, **{nothing: micro_events == 0}), labeled),
    ]
    names = ["macro", "weighted", "micro"]
    if context.task == "multilabel":
        total, defined = context.counts.samples[:, row].unbind(1)
        samples = total.double() * SCORE_UNIT / defined
        columns.append((samples, undefined(before, **{nothing: defined == 0}), defined))
        names.append("samples")
    value, reason, fewest = (torch.stack(column, dim=1) for column in zip(*columns, strict=True))
    return number(
        ((constant("average", *names),),),
        value,
        reason,
        labeled[:, None],
        low_support=fewest < MIN_SUPPORT,
    )


def over_classes(values: torch.Tensor, weights: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return macro and weighted mean over the classes where a value is defined.

    Parameters
    ----------
    values : float64, shape (B, C)
        NaN where undefined.
    weights : int64, shape (B, C)

    Returns
    -------
    macro, weighted : float64, shape (B,)
        NaN where no class has a value, or none with a weight.
    """
    used = weights * ~values.isnan()
    return values.nanmean(1), (values.nan_to_num() * used).sum(1) / used.sum(1)
