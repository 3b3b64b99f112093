"""How far a ranking metric of binned scores can be from that of the scores themselves.

Ends of bins are real thresholds, so the exact ROC curve passes through every point of the binned
one and is monotone between them. Each function returns a proven bound on |binned - exact|, in the
shape of the metric's value; with one score in each group the value is exact whatever the bound is.
"""

from __future__ import annotations

import torch

from monitor.metrics.ranking import Curve, reached


def roc_auc_error(curve: Curve) -> torch.Tensor:
    """Return half of the pairs that share a bin: each counts 1/2, the truth is in [0, 1]."""
    pairs = (curve.positives * curve.negatives).sum(-1)
    return pairs / (2 * curve.n_positives * curve.n_negatives)


def partial_roc_auc_error(curve: Curve, max_fpr: torch.Tensor) -> torch.Tensor:
    """Bound the area over `max_fpr`, (..., M): within a segment the curve is between its two ends.

    The height used is at or below the middle of the segment, so that the upper end is farther.
    """
    limit = max_fpr * curve.n_negatives[..., None]
    curve = curve.until(limit)
    width, share = curve.below(limit)
    missing = width * curve.positives[..., None, :] * (1 - share / 2)
    return missing.sum(-1) / (curve.n_positives[..., None] * limit)


def mcclish_error(partial_error: torch.Tensor, max_fpr: torch.Tensor) -> torch.Tensor:
    """Put a bound of `partial_roc_auc_error` on the scale of `ranking.mcclish`."""
    return partial_error / (2 - max_fpr)


def recall_at_fpr_error(curve: Curve, max_fpr: torch.Tensor) -> torch.Tensor:
    """Bound by the rise to the next end of a bin, the first beyond `max_fpr` (..., M)."""
    last, following = reached(curve, max_fpr)
    return (following - last) / curve.n_positives[..., None]


def average_precision_error(curve: Curve) -> torch.Tensor:
    """Bound by the best and the worst order within each bin.

    Best: the positives first. Worst: the negatives first, then the positives one by one, with
    precision (t + i) / (t + i + c) at the i-th; t true positives before the bin, c false positives
    after it. The sum over i = 1..p is p - c (digamma(t + p + c + 1) - digamma(t + c + 1)).
    """
    positives, tp, fp = curve.positives, curve.tp, curve.fp
    value = positives * tp / (tp + fp).clamp(min=1)
    best = positives * tp / (tp + fp - curve.negatives).clamp(min=1)
    last = torch.special.digamma(tp + fp + 1)
    first = torch.special.digamma(tp - positives + fp + 1)
    worst = positives - fp * (last - first)
    error = torch.maximum((best - value).sum(-1), (value - worst).sum(-1))
    return error / curve.n_positives
