"""Confidence intervals, vectorised. They assume independent events."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from statistics import NormalDist

import torch

from monitor.metrics.outcome import Interval, Method
from monitor.metrics.student import t_quantile


def wilson(numerator: torch.Tensor, denominator: torch.Tensor, confidence_level: float) -> Interval:
    """Return Wilson's score interval of a proportion.

    Parameters
    ----------
    numerator, denominator : shape (...)
        Counts, or expected or effective ones, hence no integers.
    confidence_level
        Two-sided, in (0, 1).

    Returns
    -------
    Interval
        NaN where the denominator is 0. The bounds always enclose the proportion itself.

    References
    ----------
    Wilson, "Probable inference, the law of succession, and statistical inference", JASA 22 (1927).
    """
    z = NormalDist().inv_cdf((1 + confidence_level) / 2)
    k, n = numerator.double(), denominator.double()
    estimate = k / n
    center = (k + z * z / 2) / (n + z * z)
    half = z * (k * (1 - estimate) + z * z / 4).sqrt() / (n + z * z)
    lower = torch.minimum((center - half).clamp(min=0), estimate)
    upper = torch.maximum((center + half).clamp(max=1), estimate)
    return Interval("wilson", lower, upper, (estimate * (1 - estimate) / n).sqrt())


def effective_n(
    value: torch.Tensor, standard_error: torch.Tensor, fewest: torch.Tensor, confidence_level: float
) -> Interval:
    """Return Wilson's interval of a value in [0, 1] at the sample size that its standard error implies.

    That size is value (1 - value) / standard_error**2, at least 1 and at most max(2, fewest / 200) *
    fewest: the cap keeps an interval where the sample shows no variance, at a value of 0 or 1.
    Narrower methods (delta, percentile bootstrap) cover far too rarely with few positives.

    Parameters
    ----------
    value, standard_error : float64, shape (...)
        Of the metric, in [0, 1], and by its influence function.
    fewest : shape (...)
        Events of the rarer class.
    confidence_level
        Two-sided, in (0, 1).

    Returns
    -------
    Interval
        Of method "effective_n", with the given standard error; NaN where `fewest` is 0 or the value NaN.

    References
    ----------
    Korn and Graubard, "Confidence intervals for proportions with small expected number of positive
    counts estimated from survey data", Survey Methodology 24 (1998): the same idea for surveys.
    """
    fewest = fewest.double()
    most = fewest * (fewest / 200).clamp(min=2)
    variance = value * (1 - value)
    constant = (variance <= 0) | (standard_error < 1e-9)
    size = torch.minimum((variance / standard_error.square()).clamp(min=1), most)
    size = torch.where(constant, most, size)
    return replace(
        wilson(value * size, size, confidence_level), method="effective_n", standard_error=standard_error
    )


def logit_t(
    value: torch.Tensor, standard_error: torch.Tensor, events: torch.Tensor, confidence_level: float
) -> Interval:
    """Return the interval of a mean in (0, 1): Student's t on its logit, which keeps it inside.

    Parameters
    ----------
    value, standard_error : float64, shape (...)
        Mean of the events' values, and its standard error; that of the logit is by the delta method.
    events : shape (...)
        That the mean is over: t has one degree of freedom less.
    confidence_level
        Two-sided, in (0, 1).

    Returns
    -------
    Interval
        NaN where the value is 0 or 1, the standard error 0, or there are fewer than 2 events.
    """
    inside = (value > 0) & (value < 1)
    slope = torch.where(inside, value * (1 - value), torch.nan)
    return _student(
        "logit_t", value.logit(), standard_error / slope, standard_error, events, confidence_level
    )


def wald_t(
    value: torch.Tensor,
    standard_error: torch.Tensor,
    events: torch.Tensor,
    confidence_level: float,
    *,
    least: float = -inf,
) -> Interval:
    """Return the interval of a mean by Student's t.

    Parameters
    ----------
    value, standard_error : float64, shape (...)
        Mean of the events' values, and its standard error.
    events : shape (...)
        That the mean is over: t has one degree of freedom less.
    confidence_level
        Two-sided, in (0, 1).
    least
        Possible value; the lower bound is not below.

    Returns
    -------
    Interval
        NaN where the standard error is 0 or there are fewer than 2 events.
    """
    interval = _student("wald_t", value, standard_error, standard_error, events, confidence_level)
    return replace(interval, lower=interval.lower.clamp(min=least))


def _student(
    method: Method,
    center: torch.Tensor,
    spread: torch.Tensor,
    standard_error: torch.Tensor,
    events: torch.Tensor,
    confidence_level: float,
) -> Interval:
    """Return center -+ t spread, NaN without variance; put back from logits for "logit_t"."""
    half = t_quantile(events.double() - 1, confidence_level) * spread
    half = half.masked_fill(~(standard_error > 0), torch.nan)
    lower, upper = center - half, center + half
    if method == "logit_t":
        lower, upper = lower.sigmoid(), upper.sigmoid()
    return Interval(method, lower, upper, standard_error)
