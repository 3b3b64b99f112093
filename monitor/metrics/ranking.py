"""One kernel for everything that ranks: float64 functions of a ROC curve kept in counts.

All functions are batched over leading dimensions, and groups without events may stand anywhere.
Where a class has no events the result means nothing; the callers give the reason instead.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch.nn.functional import pad


@dataclass(frozen=True, slots=True)
class Curve:
    """A ROC curve in counts, one point at the end of each group (float64 holds counts below 2**53).

    Attributes
    ----------
    positives, negatives : float64, shape (..., G)
        Events in each group, in descending order of score; G >= 1.
    tp, fp : float64, shape (..., G)
        True and false positives when everything down to and including the group is accepted.
    n_positives, n_negatives : float64, shape (...)
        Totals.
    """

    positives: torch.Tensor
    negatives: torch.Tensor
    tp: torch.Tensor
    fp: torch.Tensor
    n_positives: torch.Tensor
    n_negatives: torch.Tensor

    @classmethod
    def from_groups(cls, positives: torch.Tensor, negatives: torch.Tensor) -> Curve:
        """Accumulate counts of shape (..., G), in descending order of score."""
        if positives.shape[-1] == 0:
            positives, negatives = pad(positives, (0, 1)), pad(negatives, (0, 1))
        positives, negatives = positives.double(), negatives.double()
        tp, fp = positives.cumsum(-1), negatives.cumsum(-1)
        return cls(positives, negatives, tp, fp, tp[..., -1], fp[..., -1])

    def widths_below(self, max_fpr: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return how much of each segment lies left of each false-positive rate.

        Parameters
        ----------
        max_fpr : float64, shape (M,)

        Returns
        -------
        width : float64, shape (..., M, G)
            In negatives.
        share : float64, shape (..., M, G)
            Of the segment's own width; 0 for vertical segments.
        """
        limit = (max_fpr * self.n_negatives[..., None])[..., None]
        negatives, fp = self.negatives[..., None, :], self.fp[..., None, :]
        width = torch.minimum(fp, limit) - torch.minimum(fp - negatives, limit)
        return width, width / negatives.clamp(min=1)

    def area_unit(self, max_fpr: torch.Tensor) -> torch.Tensor:
        """Return the area, in positives x negatives, of the strip left of each rate: (..., M)."""
        return self.n_positives[..., None] * self.n_negatives[..., None] * max_fpr


def roc_auc(curve: Curve) -> torch.Tensor:
    """Return P(score of a positive > of a negative) + P(equal) / 2, shape (...)."""
    below = curve.negatives * (curve.tp - curve.positives / 2)
    return below.sum(-1) / (curve.n_positives * curve.n_negatives)


def average_precision(curve: Curve) -> torch.Tensor:
    """Return the sum of precision x rise in recall over the groups, shape (...)."""
    precision = curve.tp / (curve.tp + curve.fp).clamp(min=1)
    return (curve.positives * precision).sum(-1) / curve.n_positives


def partial_roc_auc(curve: Curve, max_fpr: torch.Tensor) -> torch.Tensor:
    """Return the area under the ROC curve up to each `max_fpr` (M,), over `max_fpr`: (..., M).

    The curve is interpolated linearly at max_fpr. A random ranking has max_fpr / 2.
    """
    width, share = curve.widths_below(max_fpr)
    positives, tp = curve.positives[..., None, :], curve.tp[..., None, :]
    height = tp - positives * (1 - share / 2)
    return (width * height).sum(-1) / curve.area_unit(max_fpr)


def mcclish(partial: torch.Tensor, max_fpr: torch.Tensor) -> torch.Tensor:
    """Put areas of `partial_roc_auc` on the scale where a random ranking has .5 and a perfect one 1.

    (1 + (area - chance) / (max_fpr - chance)) / 2, chance = max_fpr**2 / 2: McClish, "Analyzing a
    portion of the ROC curve" (1989), as in `sklearn.metrics.roc_auc_score`.
    """
    return (1 + (partial - max_fpr / 2) / (1 - max_fpr / 2)) / 2


def recall_at_fpr(curve: Curve, max_fpr: torch.Tensor) -> torch.Tensor:
    """Return the highest recall of a threshold with FPR <= each `max_fpr` (M,), shape (..., M).

    Not interpolated: no threshold on these scores reaches a point between two of them.
    """
    within = curve.fp[..., None, :] / curve.n_negatives[..., None, None] <= max_fpr[:, None]
    return torch.where(within, curve.tp[..., None, :], 0.0).amax(-1) / curve.n_positives[..., None]
