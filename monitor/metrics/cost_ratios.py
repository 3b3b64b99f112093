"""The best threshold and its cost, over what a miss may cost in comparison with a false alarm."""

from __future__ import annotations

import torch

from monitor.metrics.sweep import Decided

COST_RATIOS = tuple(10 ** (k / 4) for k in range(-8, 9))
"""Cost of a false negative over that of a false positive, .01 to 100."""

NEARLY = 1.05
"""A threshold that costs at most so many times the least cost is nearly as good."""


def cheapest(
    points: Decided, ends: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return the best threshold at each of the COST_RATIOS.

    Parameters
    ----------
    points, ends : shape (..., P)
        What descending thresholds decide, and the thresholds; of neighbours that differ in false
        positives alone, the lower ones may be left out.

    Returns
    -------
    threshold : float64, shape (..., len(COST_RATIOS))
        The greatest with the least cost.
    cost : float64, same shape
        Its cost per event in false positives' costs.
    greatest : float64, same shape
        The greatest threshold that costs at most NEARLY times as much.
    events : int64, same shape
        What the least such threshold may decide for at most, also among those that were left out.
    """
    misses = points.positives - points.tp
    ordinal = torch.arange(misses.shape[-1], dtype=torch.int32, device=misses.device)
    cost = torch.empty_like(misses)
    columns = []
    for ratio in COST_RATIOS:
        torch.add(points.fp, misses, alpha=ratio, out=cost)
        least, best = cost.min(-1, keepdim=True)
        limit = NEARLY * least
        nearly = cost <= limit
        first = nearly.max(-1, keepdim=True).indices
        last = (nearly * ordinal).amax(-1, keepdim=True).long()
        affordable = (limit - cost.gather(-1, last)).floor()
        columns.append((best, least, first, last, affordable))
    best, least, first, last, affordable = (
        torch.cat(column, dim=-1) for column in zip(*columns, strict=True)
    )
    at_last = points.at(last)
    return (
        ends.gather(-1, best),
        least / (points.positives + points.negatives),
        ends.gather(-1, first),
        (at_last.tp + at_last.fp + affordable).long(),
    )
