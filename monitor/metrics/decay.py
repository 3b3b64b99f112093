"""Confidence decay: how good the decisions are among the events with the highest scores only."""

from __future__ import annotations

import torch

from monitor.metrics.sweep import Decided

EARLY = 10
"""Decay before this percentage of the events is worth a flag."""


def f1_decay(points: Decided, own: Decided) -> torch.Tensor:
    """Return F1 of a threshold's decisions among the k% highest scores, k = 1 to 100.

    Parameters
    ----------
    points
        What the scores as thresholds decide, shape (..., P).
    own
        What the model's threshold decides, shape (..., 1).

    Returns
    -------
    float64, shape (..., 100)
        Of the events that share a score at the limit, the expected numbers count. NaN where there are
        neither decisions nor positives.
    """
    highest = _highest(points)
    events, decided = highest.tp + highest.fp, own.tp + own.fp
    tp = torch.where(events <= decided, highest.tp, own.tp)
    return 2 * tp / (torch.minimum(events, decided) + highest.tp)


def accuracy_decay(points: Decided) -> torch.Tensor:
    """Return the share of positives among the k% highest scores, k = 1 to 100: as in `f1_decay`."""
    highest = _highest(points)
    return highest.tp / (highest.tp + highest.fp)


def falls(decay: torch.Tensor) -> torch.Tensor:
    """Return at which percentage before EARLY% a decay reaches half of its first defined value.

    Returns
    -------
    int64, shape (...)
        0 where it does not.
    """
    defined = (~decay.isnan()).max(-1, keepdim=True).indices
    first, early = decay.gather(-1, defined), decay[..., : EARLY - 1]
    fallen, at = ((early <= first / 2) & (early < first)).max(-1)
    return torch.where(fallen, at + 1, 0)


def _highest(points: Decided) -> Decided:
    """Return what a decision for the k% highest scores means, their number rounded up."""
    percent = torch.arange(1, 101, dtype=torch.float64, device=points.tp.device)
    return points.highest(((points.positives + points.negatives) * percent / 100).ceil())
