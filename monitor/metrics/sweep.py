"""What each threshold on the scores decides.

Functions are batched over leading dimensions; groups of equal score, or points, lie along the last one.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch


@dataclass(frozen=True, slots=True)
class Decided:
    """What P thresholds decide for a class: float64.

    Attributes
    ----------
    tp, fp : shape (..., P)
        True and false positives of each threshold.
    positives, negatives : shape (..., 1)
        All events of the class, and of the others.
    """

    tp: torch.Tensor
    fp: torch.Tensor
    positives: torch.Tensor
    negatives: torch.Tensor

    def at(self, index: torch.Tensor) -> Decided:
        """Return the points of these indices (..., K)."""
        return Decided(self.tp.gather(-1, index), self.fp.gather(-1, index), self.positives, self.negatives)

    def highest(self, events: torch.Tensor) -> Decided:
        """Return what a decision for the events with the highest scores means, whatever their number.

        Parameters
        ----------
        events : float64, shape (..., K)
            How many. Of those that share a score at the limit, the expected numbers count.
        """
        decided = self.tp + self.fp
        after = torch.searchsorted(decided, events)
        before = (after - 1).clamp(min=0)
        (low, high), (tp_low, tp_high) = (
            (side.gather(-1, before), side.gather(-1, after)) for side in (decided, self.tp)
        )
        tp = tp_low + (tp_high - tp_low) * (events - low) / (high - low).clamp(min=1)
        return Decided(tp, events - tp, self.positives, self.negatives)

    def without(self, part: Decided) -> Decided:
        """Return what the same thresholds decide of the events that are not in `part`."""
        return Decided(
            self.tp - part.tp,
            self.fp - part.fp,
            self.positives - part.positives,
            self.negatives - part.negatives,
        )


def sweep(positives: torch.Tensor, negatives: torch.Tensor) -> Decided:
    """Return what the least score of each group, as a threshold, decides.

    Parameters
    ----------
    positives, negatives : int64, shape (..., G)
        Events of groups in descending order of score; groups without events may stand anywhere.

    Returns
    -------
    Decided
        G + 1 points: the first is a threshold above all scores, which decides for nothing.
    """

    def cumulative(side: torch.Tensor) -> torch.Tensor:
        sums = side.new_zeros((*side.shape[:-1], side.shape[-1] + 1), dtype=torch.float64)
        sums[..., 1:] = side
        return sums.cumsum_(-1)

    tp, fp = cumulative(positives), cumulative(negatives)
    return Decided(tp, fp, tp[..., -1:], fp[..., -1:])
