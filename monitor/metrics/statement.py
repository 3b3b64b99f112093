"""How a metric states its result: values, intervals, and the reason where there is none.

Everything is broadcast to the shape of `reason`, (B, X).
"""

from __future__ import annotations

from dataclasses import replace

import torch

from monitor.metrics.intervals import wilson
from monitor.metrics.labels import LabelSets
from monitor.metrics.outcome import REASONS, Interval, Outcome

MIN_SUPPORT = 20
"""Below this many events a value is marked as of low support."""

MAX_WIDTH = 0.2
"""Above this width of its interval, too."""

MIN_FOR_INTERVAL = 5
"""Below this many events of the class its ranking, its F scores and its mean error have no interval."""

_CODES = {reason: code for code, reason in enumerate(REASONS)}


def undefined(before: torch.Tensor, **checks: torch.Tensor) -> torch.Tensor:
    """Return codes of the first reason that holds: those of `before`, then of `checks` in order.

    Parameters
    ----------
    before : int64
        Codes found so far.
    **checks : bool
        Reason to where it holds; shapes are broadcast.
    """
    for reason, holds in checks.items():
        before = torch.where((before == 0) & holds, _CODES[reason], before)
    return before


def number(
    labels: LabelSets,
    value: torch.Tensor,
    reason: torch.Tensor,
    support: torch.Tensor,
    *,
    interval: Interval | None = None,
    no_interval: torch.Tensor | None = None,
    low_support: torch.Tensor | None = None,
    resolution_error: torch.Tensor | None = None,
) -> Outcome:
    """State values, NaN where there is a reason.

    Parameters
    ----------
    labels
        Of the X values.
    value, support, resolution_error : shape (B, X)
        As in `Outcome`.
    reason : int64, shape (B, X)
        As in `Outcome`.
    interval
        Bounds; what they hold where `reason` or `no_interval` is not 0 does not matter.
    no_interval : int64, shape (B, X)
        Why there is no interval; by default that the family has none, or that its bounds are NaN.
    low_support : bool, shape (B, X)
        Whether there are too few events; by default fewer than MIN_SUPPORT. Wide intervals are added.
    """
    missing = reason != 0
    support = support.expand_as(reason)
    low = support < MIN_SUPPORT if low_support is None else low_support.expand_as(reason)
    why = torch.zeros_like(reason) if no_interval is None else no_interval.expand_as(reason)
    if interval is None:
        why = undefined(why, no_interval_method=~missing)
    else:
        why = undefined(why, no_variance=interval.lower.isnan().expand_as(reason))
        without = missing | (why != 0)
        masked = (
            bound.expand_as(reason).masked_fill(without, torch.nan)
            for bound in (interval.lower, interval.upper, interval.standard_error)
        )
        interval = Interval(interval.method, *masked)
        low = low | (interval.upper - interval.lower > MAX_WIDTH)
    if resolution_error is not None:
        resolution_error = resolution_error.expand_as(reason).masked_fill(missing, torch.nan)
    return Outcome(
        labels=labels,
        value=value.double().expand_as(reason).masked_fill(missing, torch.nan),
        reason=reason,
        support=support,
        low_support=low,
        no_interval=why.masked_fill(missing, 0),
        interval=interval,
        resolution_error=resolution_error,
    )


def ratio(
    labels: LabelSets,
    numerator: torch.Tensor,
    denominator: torch.Tensor,
    reason: torch.Tensor,
    *,
    support: torch.Tensor | None = None,
    confidence_level: float | None = None,
    interval: Interval | None = None,
    no_interval: torch.Tensor | None = None,
    resolution_error: torch.Tensor | None = None,
) -> Outcome:
    """State ratios of counts, with Wilson's interval where a confidence level is given.

    `support` is the denominator unless it is given; the rest is as in `number`.
    """
    numerator, denominator = numerator.expand_as(reason), denominator.expand_as(reason)
    if confidence_level is not None:
        interval = wilson(numerator, denominator, confidence_level)
    outcome = number(
        labels,
        numerator.double() / denominator.double(),
        reason,
        denominator if support is None else support,
        interval=interval,
        no_interval=no_interval,
        resolution_error=resolution_error,
    )
    return replace(outcome, numerator=numerator, denominator=denominator)


def nothing(reason: torch.Tensor) -> Outcome:
    """State a family that the models' configuration does not ask for: no label sets; `reason` is (B, ...)."""
    empty = reason.new_zeros((reason.shape[0], 0))
    return number((), empty, empty, empty)
