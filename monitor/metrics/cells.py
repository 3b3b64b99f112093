"""Calibration from the cells of the score: how far mean probability and observed rate are apart."""

from __future__ import annotations

from math import pi

import torch

from monitor.metrics.counts import CELLS, SCORE_UNIT

BINS = 15
"""Equal cells that calibration errors are over."""

DECOMPOSITION_BINS = 10
"""Equal cells that the parts of the Brier score are over."""


def merge(cells: torch.Tensor, bins: int) -> torch.Tensor:
    """Merge `Counts.cells`, (..., CELLS, 5), to `bins` equal ones: float64 (..., bins, 5), in units of 1."""
    units = torch.tensor((1, SCORE_UNIT, SCORE_UNIT, 1, SCORE_UNIT), dtype=torch.float64, device=cells.device)
    return cells.view(*cells.shape[:-2], bins, CELLS // bins, 5).sum(-2) * units


def calibration_error(bins: torch.Tensor) -> torch.Tensor:
    """Return the mean over events of |mean probability - rate| of their bin ("ECE"), shape (...).

    Parameters
    ----------
    bins : float64, shape (..., bins, 5)
        Events, sum of p, of p**2, of y and of p y; here as below.
    """
    n, p, _, y, _ = bins.unbind(-1)
    return (p - y).abs().sum(-1) / n.sum(-1)


def calibration_error_debiased(bins: torch.Tensor) -> torch.Tensor:
    """Return the root of the mean square of the same without the part that is noise, at least 0: (...).

    A bin's rate has the estimated variance rate (1 - rate) / (n - 1), which is taken off its squared
    difference. Bins of a single event count as 0.

    References
    ----------
    Kumar, Liang and Ma, "Verified uncertainty calibration", NeurIPS (2019).
    """
    n, p, _, y, _ = bins.unbind(-1)
    rate = y / n
    square = ((p - y) / n).square() - rate * (1 - rate) / (n - 1)
    square = torch.where(n > 1, square * n, 0.0).sum(-1) / n.sum(-1)
    return square.clamp(min=0).sqrt()


def calibration_error_expected(bins: torch.Tensor) -> torch.Tensor:
    """Return about what `calibration_error` is on average if all probabilities are right, shape (...).

    Then the sum of p - y in a bin has variance v = sum of p (1 - p), and a mean absolute value near that
    of the normal distribution, sqrt(2 v / pi), and never above the sum over events, 2 v.
    """
    n, p, p2, _, _ = bins.unbind(-1)
    v = (p - p2).clamp(min=0)
    return torch.minimum((2 * v / pi).sqrt(), 2 * v).sum(-1) / n.sum(-1)


def reliability(bins: torch.Tensor) -> torch.Tensor:
    """Return the mean over events of (mean probability - rate)**2 of their bin, shape (...)."""
    n, p, _, y, _ = bins.unbind(-1)
    return ((p - y).square() / n.clamp(min=1)).sum(-1) / n.sum(-1)


def uncertainty(bins: torch.Tensor) -> torch.Tensor:
    """Return rate (1 - rate) over all events, the Brier score of the rate itself: shape (...)."""
    n, y = (bins[..., i].sum(-1) for i in (0, 3))
    return y / n * (1 - y / n)
