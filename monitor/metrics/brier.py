"""Parts of the Brier score, of each scored class and of the whole: they add up as the score itself does.

Brier score = reliability - resolution + uncertainty, with 10 equal bins; the resolution includes what
probabilities tell within a bin, so that the sum is exact whatever the bins are.
"""

from __future__ import annotations

import torch

from monitor.metrics import cells, losses
from monitor.metrics.context import Context
from monitor.metrics.labels import SCORED, WHOLE
from monitor.metrics.outcome import Outcome
from monitor.metrics.statement import MIN_SUPPORT, number, undefined


def brier_reliability(context: Context) -> Outcome:
    """State the mean square of mean probability - rate of the bins."""
    return _state(context, cells.reliability(context.shared(_bins)))


def brier_resolution(context: Context) -> Outcome:
    """State by how much the probabilities beat the overall rate, calibration apart.

    References
    ----------
    Stephenson, Coelho and Jolliffe, "Two extra components in the Brier score decomposition", Weather and
    Forecasting 23 (2008): the components within bins that are included here.
    """
    bins = context.shared(_bins)
    score = losses.brier_of_classes(context)
    return _state(context, cells.reliability(bins) + cells.uncertainty(bins) - score)


def brier_uncertainty(context: Context) -> Outcome:
    """State the Brier score of the overall rate."""
    return _state(context, cells.uncertainty(context.shared(_bins)))


def brier_skill_score(context: Context) -> Outcome:
    """State 1 - Brier score / uncertainty."""
    score, reference = losses.brier_of_classes(context), cells.uncertainty(context.shared(_bins))
    of_whole = losses.whole(context, score), losses.whole(context, reference)
    if context.task == "binary":
        reason = context.without_one_side[:, 0]
        few = context.ranked.amin((1, 2))
    else:
        reason = undefined(context.without_scores[:, 0], one_class=of_whole[1] == 0)
        few = context.ranked[:, 0].sum(-1)
    return number(
        ((WHOLE,), (SCORED,)),
        losses.after_whole(1 - of_whole[0] / of_whole[1], 1 - score / reference),
        losses.after_whole(reason, context.without_one_side),
        losses.after_whole(context.ranked[:, 0].sum(-1), context.ranked.sum(-1)),
        low_support=losses.after_whole(few, context.ranked.amin(-1)) < MIN_SUPPORT,
    )


def _bins(context: Context) -> torch.Tensor:
    return cells.merge(context.counts.cells[:, : context.scored], cells.DECOMPOSITION_BINS)


def _state(context: Context, of_classes: torch.Tensor) -> Outcome:
    """State a part of the Brier score from that of the classes, (B, R)."""
    events = context.ranked.sum(-1)
    return number(
        ((WHOLE,), (SCORED,)),
        losses.after_whole(losses.whole(context, of_classes), of_classes),
        losses.after_whole(context.without_scores[:, 0], context.without_scores),
        losses.after_whole(events[:, 0], events),
    )
