"""Metrics of probabilities, from exact fixed-point sums.

The whole (class "") of a binary task is about its positive class, so that it has the same value.
"""

from __future__ import annotations

import torch

from monitor.metrics.context import Context
from monitor.metrics.outcome import Outcome
from monitor.metrics.statement import label_sets, number, undefined

SCORE_UNIT = 2.0**-30
"""One unit in the sums of scores and squared errors."""

LOSS_UNIT = 2.0**-26
"""One unit in the sums of log losses."""


def brier_score(context: Context) -> Outcome:
    """State the mean squared error of the probabilities.

    For each scored class over all events, over those of the class (positive) and over the others
    (negative); the whole is the sum over the classes.
    """
    sums, events, before = context.counts.squared_error, context.ranked, context.without_scores
    by_subset = torch.cat([sums.sum(-1, keepdim=True), sums.flip(-1)], dim=-1)
    events_by_subset = torch.cat([events.sum(-1, keepdim=True), events.flip(-1)], dim=-1)
    reason = torch.stack(
        [
            before,
            undefined(before, no_positives=events[..., 1] == 0),
            undefined(before, no_negatives=events[..., 0] == 0),
        ],
        dim=-1,
    )
    support = _after_whole(events[:, 0].sum(-1), events_by_subset)
    return number(
        label_sets(("class", ("",)), ("subset", ("all",)))
        + label_sets(("class", context.scored), ("subset", ("all", "positive", "negative"))),
        _after_whole(sums.sum((1, 2)), by_subset).double() * SCORE_UNIT / support,
        _after_whole(before[:, 0], reason),
        support,
    )


def log_loss(context: Context) -> Outcome:
    """State the mean of -log(probability of the true class), and one-vs-rest for each scored class."""
    loss, events, before = context.counts.loss, context.ranked, context.without_scores
    binary = context.parameters.positive is not None
    whole = loss.sum((1, 2)) if binary else loss[..., 1].sum(1)
    support = _after_whole(events[:, 0].sum(-1), events.sum(-1))
    return number(
        label_sets(("class", ("", *context.scored))),
        _after_whole(whole, loss.sum(-1)).double() * LOSS_UNIT / support,
        _after_whole(before[:, 0], before),
        support,
    )


def _after_whole(whole: torch.Tensor, classes: torch.Tensor) -> torch.Tensor:
    """Join numbers of the whole, (B,), and of the classes, (B, R, ...), to (B, X)."""
    return torch.cat([whole[:, None], classes.flatten(1)], dim=1)
