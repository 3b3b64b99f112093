"""How much of a class is among the k highest-scored events: for reviews of limited capacity."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from monitor.metrics.context import Context
from monitor.metrics.discrimination import error_of_bins
from monitor.metrics.labels import AT_K, SCORED, LabelSets
from monitor.metrics.outcome import Outcome
from monitor.metrics.ranking import Curve
from monitor.metrics.statement import ratio, undefined

LABELS: LabelSets = ((SCORED, AT_K),)


@dataclass(frozen=True, slots=True)
class _Highest:
    """Of the k highest-scored events: shape (B, R, K).

    Attributes
    ----------
    events : int64
        k itself, or all events where there are fewer.
    too_few : bool
        Whether there are fewer.
    hits : float64
        Events of the class among them; of those that share a score at the limit the expected number.
    error : float64
        Bound on the distance to the hits of unbinned scores.
    """

    events: torch.Tensor
    too_few: torch.Tensor
    hits: torch.Tensor
    error: torch.Tensor


def precision_at_k(context: Context) -> Outcome:
    """State the share of each scored class in the k highest-scored events."""
    found = context.shared(_highest)
    return _state(context, found.events, context.without_scores)


def recall_at_k(context: Context) -> Outcome:
    """State the share of each scored class that is among the k highest-scored events."""
    return _state(context, context.ranked[..., 1:], context.without_positives)


def _state(context: Context, denominator: torch.Tensor, before: torch.Tensor) -> Outcome:
    """State hits over a number of events, int64 (B, R, K or 1); `before` has shape (B, R)."""
    found = context.shared(_highest)
    reason = undefined(before[..., None], too_few_events=found.too_few)
    return ratio(
        LABELS,
        found.hits.flatten(1),
        denominator.expand_as(reason).flatten(1),
        reason.flatten(1),
        confidence_level=context.confidence_level,
        resolution_error=error_of_bins(context, lambda: found.error / denominator),
    )


def _highest(context: Context) -> _Highest:
    asked, scored = _events(context), context.ranked.sum(-1, keepdim=True)
    events = torch.minimum(asked, scored)
    hits, error = expected_hits(context.curve, events.double())
    return _Highest(events, asked > scored, hits, error)


def _events(context: Context) -> torch.Tensor:
    """Return each k as a number of events, int64 (B, R, K): shares of the scored ones are rounded up."""
    given = context.column(lambda p: p.at_k)[:, None]
    is_share = context.column(lambda p: [isinstance(k, float) for k in p.at_k])[:, None] > 0
    # .07 * 100 is a little more than 7.
    share = (given * context.ranked.sum(-1, keepdim=True) * (1 - 2**-50)).ceil()
    return torch.where(is_share, share, given).long()


def expected_hits(curve: Curve, k: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return how many positives are expected in the first k events, ties broken at random.

    Parameters
    ----------
    curve
        Of shape (..., G).
    k : float64, shape (..., K)
        At most all events.

    Returns
    -------
    hits, error : float64, shape (..., K)
        If scores were binned, the number without is at most `error` away: from the group at the limit
        only the positives come first, or only the negatives.
    """
    at = torch.searchsorted(curve.tp + curve.fp, k).clamp(max=curve.tp.shape[-1] - 1)
    positives, negatives, tp, fp = (
        part.gather(-1, at) for part in (curve.positives, curve.negatives, curve.tp, curve.fp)
    )
    tied = positives + negatives
    drawn = k - (tp + fp - tied)
    hits = drawn * positives / tied.clamp(min=1)
    least, most = (drawn - negatives).clamp(min=0), torch.minimum(positives, drawn)
    return tp - positives + hits, torch.maximum(hits - least, most - hits)
