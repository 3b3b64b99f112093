"""How a metric states its result: labels, values, and the reason where there is none."""

from __future__ import annotations

from functools import lru_cache
from itertools import product

import torch

from monitor.metrics.intervals import wilson
from monitor.metrics.outcome import REASONS, Interval, Outcome

Labels = tuple[tuple[tuple[str, str], ...], ...]

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


@lru_cache(maxsize=1024)
def label_sets(*axes: tuple[str, tuple[str, ...]]) -> Labels:
    """Return the label sets of every combination of the axes' values, the last axis fastest."""
    names = [name for name, _ in axes]
    return tuple(
        tuple(zip(names, values, strict=True)) for values in product(*(values for _, values in axes))
    )


def number(
    labels: Labels,
    value: torch.Tensor,
    reason: torch.Tensor,
    support: torch.Tensor,
    resolution_error: torch.Tensor | None = None,
) -> Outcome:
    """State values, NaN where there is a reason.

    `value`, `support` and `resolution_error` are broadcast to the shape of `reason`, (B, X).
    """
    if resolution_error is not None:
        resolution_error = resolution_error.masked_fill(reason != 0, torch.nan)
    return Outcome(
        labels=labels,
        value=value.double().expand_as(reason).masked_fill(reason != 0, torch.nan),
        reason=reason,
        support=support.expand_as(reason),
        resolution_error=resolution_error,
    )


def ratio(
    labels: Labels,
    numerator: torch.Tensor,
    denominator: torch.Tensor,
    reason: torch.Tensor,
    support: torch.Tensor | None = None,
    confidence_level: float | None = None,
) -> Outcome:
    """State ratios of counts, with Wilson's interval where a confidence level is given.

    `support` is the denominator unless it is given.
    """
    intervals: tuple[Interval, ...] = ()
    if confidence_level is not None:
        bounds = wilson(numerator, denominator, confidence_level)
        lower, upper = (bound.masked_fill(reason != 0, torch.nan) for bound in bounds)
        intervals = (Interval("wilson", lower, upper),)
    return Outcome(
        labels=labels,
        value=(numerator.double() / denominator.double()).masked_fill(reason != 0, torch.nan),
        reason=reason,
        support=denominator if support is None else support,
        numerator=numerator,
        denominator=denominator,
        intervals=intervals,
    )
