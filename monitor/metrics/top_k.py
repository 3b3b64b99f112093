"""Top-k accuracy: whether the true class is among the k greatest scores."""

from __future__ import annotations

from monitor.metrics.context import Context
from monitor.metrics.counts import SCORE_UNIT
from monitor.metrics.labels import TOP_K
from monitor.metrics.outcome import Outcome
from monitor.metrics.statement import ratio, undefined


def top_k_accuracy(context: Context) -> Outcome:
    """State the share of events whose true class is among the k greatest scores, for each k.

    Of scores that tie at k, each takes the place with the same chance: the numerator is an expectation.
    """
    hits = context.counts.top_k.double() * SCORE_UNIT
    reason = undefined(
        context.without_scores[:, :1],
        k_not_below_classes=context.column(lambda p: p.top_k) >= context.classes,
    )
    return ratio(
        ((TOP_K,),),
        hits,
        context.ranked[:, 0].sum(-1, keepdim=True),
        reason,
        confidence_level=context.confidence_level,
    )
