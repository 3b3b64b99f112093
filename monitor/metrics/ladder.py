"""Every threshold of the scores: what needs all groups, none of them merged.

These are passes over the largest arrays there are, hence few, and over integers.
"""

from __future__ import annotations

from math import nan

import torch
from torch.nn.functional import pad

from monitor.metrics.context import Context
from monitor.metrics.rows import by_rows


def above_all(context: Context) -> torch.Tensor:
    """Return the threshold that decides for nothing: the float32 next above the greatest score.

    Where that is not known, because groups are bins, it is the float32 next above 1. See
    `Context.shared`.

    Returns
    -------
    float64, shape (B, R, 1)
        Of any value without events.
    """
    threshold, positives, negatives = _groups(context, "threshold", "positives", "negatives")
    (first,) = by_rows(lambda p, n: (_first(p + n),), positives, negatives)
    inexact = ~context.counts.exact[:, : context.scored, None]
    greatest = threshold.gather(-1, first).masked_fill(inexact, 1.0).float()
    return greatest.nextafter(torch.full_like(greatest, torch.inf)).double()


def events_above(context: Context, own: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return how many events two thresholds decide for that need not be scores.

    Parameters
    ----------
    context
        B cases.
    own : float64, shape (B, R, 1)
        The model's threshold.

    Returns
    -------
    float64, shape (B, R, 1)
        Events from the model's threshold on; those of them in the older half; and events above all
        scores of the older half.
    """

    def some(own: torch.Tensor, threshold: torch.Tensor, *sides: torch.Tensor) -> tuple[torch.Tensor, ...]:
        positives, negatives, older_positives, older_negatives = sides
        events, older = positives + negatives, older_positives + older_negatives
        decided = threshold >= own
        above_older = torch.arange(events.shape[-1], device=events.device) < _first(older)
        counted = events * decided, older * decided, events * above_older
        return tuple(numbers.sum(-1, keepdim=True).double() for numbers in counted)

    names = "threshold", "positives", "negatives", "older_positives", "older_negatives"
    decided, older, above_older = by_rows(some, own, *_groups(context, *names))
    return decided, older, above_older


def thresholds_at(
    context: Context, reach: torch.Tensor, within: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return the thresholds that decide for certain numbers of events.

    Parameters
    ----------
    context
        B cases.
    reach : int64, shape (B, R, K)
        Numbers that the greatest threshold must reach that is sought, at most all events.
    within : int64, shape (B, R, L)
        Numbers that the least threshold must keep that is sought.

    Returns
    -------
    threshold : float64, shape (B, R, K)
        That reach the first ones.
    events : int64, shape (B, R, K)
        What they decide for.
    mean : float64, shape (B, R, K)
        Mean probability of the events that each decides for and the one before it does not; NaN without.
    threshold : float64, shape (B, R, L)
        That keep the others.
    """

    def some(
        threshold: torch.Tensor,
        positives: torch.Tensor,
        negatives: torch.Tensor,
        probability: torch.Tensor,
        nothing: torch.Tensor,
        reach: torch.Tensor,
        within: torch.Tensor,
    ) -> tuple[torch.Tensor, ...]:
        events = positives + negatives
        sums = (probability * events).cumsum_(-1)
        decided = pad(events.cumsum_(-1), (1, 0))
        kept = decided.gather(-1, torch.searchsorted(decided, within, right=True) - 1)
        aims = torch.cat([reach, kept], dim=-1)
        # The first that decides for so many is a group with events, or the one before all groups.
        index = torch.searchsorted(decided, aims)
        nowhere, place = index == 0, (index - 1).clamp(min=0)
        found = torch.where(nowhere, nothing, threshold.gather(-1, place))
        k = reach.shape[-1]
        reached = decided.gather(-1, index[..., :k])
        total = sums.gather(-1, place[..., :k]).masked_fill(nowhere[..., :k], 0)
        mean = pad(total.diff(dim=-1) / reached.diff(dim=-1), (1, 0), value=nan)
        return found[..., :k], reached, mean, found[..., k:]

    groups = _groups(context, "threshold", "positives", "negatives", "probability")
    threshold, events, mean, kept = by_rows(some, *groups, context.shared(above_all), reach, within)
    return threshold, events, mean, kept


def _groups(context: Context, *names: str) -> list[torch.Tensor]:
    """Return arrays of the scored classes, with at least one group."""
    arrays = [getattr(context.counts, name)[:, : context.scored] for name in names]
    return arrays if arrays[0].shape[-1] else [pad(array, (0, 1)) for array in arrays]


def _first(events: torch.Tensor) -> torch.Tensor:
    """Return the index of the first group with events, shape (..., 1); 0 without."""
    return (events > 0).max(-1, keepdim=True).indices
