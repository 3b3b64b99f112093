"""Confidence intervals, vectorised. They assume independent events."""

from __future__ import annotations

from statistics import NormalDist

import torch


def wilson(
    numerator: torch.Tensor, denominator: torch.Tensor, confidence_level: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return Wilson's score interval of a proportion.

    Parameters
    ----------
    numerator, denominator : shape (...)
        Counts; denominators may be effective ones, hence no integers.
    confidence_level
        Two-sided, in (0, 1).

    Returns
    -------
    lower, upper : float64, shape (...)
        NaN where the denominator is 0. They always enclose the proportion itself.

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
    return lower, upper
