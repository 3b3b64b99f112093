"""Groups of equal scores: the form that exact samples, histograms and replicates share."""

from __future__ import annotations

import torch


def group_scores(
    score: torch.Tensor, positive: torch.Tensor, valid: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Count positives and negatives at each distinct score, in descending order of score.

    Parameters
    ----------
    score : float32, shape (rows, n)
        Not NaN where `valid`; -0.0 and 0.0 are one score.
    positive : bool, shape (rows, n)
        Whether the event is of the row's class.
    valid : bool, shape (rows, n)
        Whether the event counts; what the other two hold elsewhere does not matter.

    Returns
    -------
    positives, negatives : int64, shape (rows, G)
        G is the largest number of distinct scores in a row, one more where events are invalid;
        rows end in groups of 0.
        The sums are over integers, hence the same on every device and in any order.
    """
    rows, n = score.shape
    if n == 0:
        empty = score.new_zeros((rows, 0), dtype=torch.int64)
        return empty, empty.clone()
    ordered, order = score.masked_fill(~valid, -torch.inf).sort(dim=1, descending=True)
    group = torch.zeros_like(order)
    torch.cumsum(ordered[:, 1:] != ordered[:, :-1], dim=1, out=group[:, 1:])
    size = int(group[:, -1].max()) + 1 if rows else 0

    def count(chosen: torch.Tensor) -> torch.Tensor:
        zeros = group.new_zeros((rows, size))
        return zeros.scatter_add_(1, group, chosen.gather(1, order).to(torch.int64))

    return count(positive & valid), count(valid & ~positive)
