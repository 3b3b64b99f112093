"""One kernel for everything that ranks: float64 functions of a ROC curve kept in counts.

All functions are batched over leading dimensions, and groups without events may stand anywhere.
Where a class has no events the result means nothing; the callers give the reason instead.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

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

    def until(self, fp: torch.Tensor) -> Curve:
        """Return the curve without groups that begin beyond all of these numbers of false positives.

        `fp` has shape (..., M); the totals stay those of all groups.
        """
        if fp.numel() == 0:
            return self
        beyond = torch.searchsorted(self.fp, fp, right=True)
        groups = slice(int(beyond.max()) + 1)
        return replace(
            self,
            positives=self.positives[..., groups],
            negatives=self.negatives[..., groups],
            tp=self.tp[..., groups],
            fp=self.fp[..., groups],
        )

    def below(self, fp: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return how much of each segment lies left of each number of false positives.

        Parameters
        ----------
        fp : float64, shape (..., M)

        Returns
        -------
        width : float64, shape (..., M, G)
            In negatives.
        share : float64, shape (..., M, G)
            Of the segment; of vertical ones 1 up to the limit, the limit included.
        """
        limit, end, negatives = fp[..., None], self.fp[..., None, :], self.negatives[..., None, :]
        width = torch.minimum(end, limit) - torch.minimum(end - negatives, limit)
        return width, torch.where(negatives > 0, width / negatives, (end <= limit).double())


def roc_auc(curve: Curve) -> torch.Tensor:
    """Return P(score of a positive > of a negative) + P(equal) / 2, shape (...)."""
    below = curve.negatives * (curve.tp - curve.positives / 2)
    return below.sum(-1) / (curve.n_positives * curve.n_negatives)


def average_precision(curve: Curve) -> torch.Tensor:
    """Return the sum of precision x rise in recall over the groups, shape (...)."""
    precision = curve.tp / (curve.tp + curve.fp).clamp(min=1)
    return (curve.positives * precision).sum(-1) / curve.n_positives


def partial_roc_auc(curve: Curve, max_fpr: torch.Tensor) -> torch.Tensor:
    """Return the area under the ROC curve up to `max_fpr`, over `max_fpr`: both (..., M).

    The curve is interpolated linearly at max_fpr. A random ranking has max_fpr / 2.
    """
    limit = max_fpr * curve.n_negatives[..., None]
    curve = curve.until(limit)
    width, share = curve.below(limit)
    positives, tp = curve.positives[..., None, :], curve.tp[..., None, :]
    height = tp - positives * (1 - share / 2)
    return (width * height).sum(-1) / (curve.n_positives[..., None] * limit)


def mcclish(partial: torch.Tensor, max_fpr: torch.Tensor) -> torch.Tensor:
    """Put areas of `partial_roc_auc` on the scale where a random ranking has .5 and a perfect one 1.

    (1 + (area - chance) / (max_fpr - chance)) / 2, chance = max_fpr**2 / 2: McClish, "Analyzing a
    portion of the ROC curve" (1989), as in `sklearn.metrics.roc_auc_score`.
    """
    return (1 + (partial - max_fpr / 2) / (1 - max_fpr / 2)) / 2


def recall_at_fpr(curve: Curve, max_fpr: torch.Tensor) -> torch.Tensor:
    """Return the highest recall of a threshold with FPR <= `max_fpr`: both (..., M).

    Not interpolated: no threshold on these scores reaches a point between two of them.
    """
    return reached(curve, max_fpr)[0] / curve.n_positives[..., None]


def reached(curve: Curve, max_fpr: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the most true positives with FPR <= `max_fpr`, and those of the next group: (..., M)."""
    n = curve.n_negatives[..., None]
    # Compared as rates, as scikit-learn does: 29 <= .29 * 100 is false by rounding, 29 / 100 <= .29 true.
    most = (max_fpr * n).floor() + 1
    for _ in range(2):
        most = torch.where(most / n <= max_fpr, most, most - 1)
    groups = torch.searchsorted(curve.fp, most, right=True)
    last = curve.tp.gather(-1, (groups - 1).clamp(min=0)).masked_fill(groups == 0, 0)
    return last, curve.tp.gather(-1, groups.clamp(max=curve.tp.shape[-1] - 1))
