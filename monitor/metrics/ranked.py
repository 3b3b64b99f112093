"""The groups of scores that ranking metrics and thresholds are computed from, as few as will do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from monitor.metrics.context import Context


@dataclass(frozen=True, slots=True)
class Ranked:
    """Groups of B cases and R scored classes in descending order of score.

    Neighbouring groups of no positives are merged into one: that changes no ranking metric or its
    influence function, no bound of binned scores, no expected number at k, and no best threshold. Groups
    without events may stand anywhere.

    Attributes
    ----------
    positives, negatives, older_positives, older_negatives : int64, shape (B, R, G)
        As in `Counts`.
    threshold : float64, shape (B, R, G)
        As in `Counts`: of merged groups that of the last one with events.
    """

    positives: torch.Tensor
    negatives: torch.Tensor
    older_positives: torch.Tensor
    older_negatives: torch.Tensor
    threshold: torch.Tensor


def ranked(context: Context) -> Ranked:
    """Return the groups of the scored classes; see `Context.shared`."""
    c, r = context.counts, context.scored
    parts = (c.positives, c.negatives, c.older_positives, c.older_negatives, c.threshold)
    return merge(Ranked(*(part[:, :r] for part in parts)))


def merge(groups: Ranked) -> Ranked:
    """Merge neighbouring groups of no positives where that at least halves the number of groups.

    Where positives are rare, n groups become about twice as many as there are positives.
    """
    g = groups.positives.shape[-1]
    # To sum is faster than to count what is not 0.
    most = int(groups.positives.clamp(max=1).sum(-1).max()) if groups.positives.numel() else 0
    size = 2 * most + 1
    if 2 * size > g:
        return groups
    positives = groups.positives.reshape(-1, g)
    at = positives.view(-1).nonzero().squeeze(1)
    row = at // g
    count = row.bincount(minlength=len(positives))
    nth = torch.arange(len(at), device=at.device) - (count.cumsum(0) - count)[row]
    # Merged groups are at even places, those of positives between them. Runs end at the next group of
    # positives; those after the last one at the end, the first with all that is left.
    place = row * size + 2 * nth + 1
    end = at.new_full((len(positives), most + 1), g)
    end[row, nth] = at - row * g

    def of_positives(part: torch.Tensor) -> torch.Tensor:
        target = part.new_zeros((len(positives), size))
        target.view(-1)[place] = part.reshape(-1)[at]
        return target

    def of_both(part: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return numbers of events, and their sums before each of the groups, (rows, g + 1)."""
        target, sums = of_positives(part), part.new_empty((len(positives), g + 1))
        sums[:, 0] = 0
        torch.cumsum(part.reshape(-1, g), 1, out=sums[:, 1:])
        until = sums.gather(1, end)
        target[:, 0] = until[:, 0]
        target[:, 2::2] = until[:, 1:] - until[:, :-1] - target[:, 1::2]
        return target, sums

    negatives, sums = of_both(groups.negatives)
    threshold = of_positives(groups.threshold)
    # The last group of a run with events is where the sums first are what they are at its end.
    last = torch.searchsorted(sums, sums.gather(1, end)).sub_(1).clamp_(min=0)
    threshold[:, ::2] = groups.threshold.reshape(-1, g).gather(1, last)
    merged = (
        of_positives(groups.positives),
        negatives,
        of_positives(groups.older_positives),
        of_both(groups.older_negatives)[0],
        threshold,
    )
    return Ranked(*(part.view(*groups.positives.shape[:-1], size) for part in merged))
