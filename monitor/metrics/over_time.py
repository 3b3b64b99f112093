"""What the best thresholds are worth: on the events they are chosen on, and on later ones."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from monitor.metrics.sweep import Decided
from monitor.metrics.thresholds import CRITERIA, Demands, best, value


def judged(
    ends: torch.Tensor,
    whole: Decided,
    older: Decided,
    unseen: Decided,
    own: Decided,
    demands: Demands,
    asked: Sequence[str],
) -> torch.Tensor:
    """Return what each criterion says of the thresholds that are best by it.

    Parameters
    ----------
    ends : float64, shape (B, R, P)
        Thresholds from high to low, the first above all scores.
    whole, older : shape (B, R, P)
        What they decide of all events, and of the older half.
    unseen, own : shape (B, R, 1)
        What a threshold above all scores of the older half, and the model's own, decide of the newer half.
    demands, asked
        Of the models, and the criteria that they are configured for.

    Returns
    -------
    float64, shape (B, R, len(CRITERIA), 4)
        As `Curves.best`.
    """
    newer = whole.without(older)
    newer.tp[..., :1], newer.fp[..., :1] = unseen.tp, unseen.fp
    no_halves = older.positives + older.negatives == 0
    found = ends.new_full((*ends.shape[:-1], len(CRITERIA), 4), torch.nan)
    for criterion in asked:
        chosen, chosen_earlier = best(criterion, whole, demands), best(criterion, older, demands)
        none, none_earlier = _none(criterion, whole), _none(criterion, older)
        columns = (
            (ends.gather(-1, chosen), none),
            (value(criterion, whole.at(chosen), demands), none),
            (value(criterion, newer.at(chosen_earlier), demands), none_earlier),
            (value(criterion, own, demands), no_halves),
        )
        filled = [column.masked_fill(missing, torch.nan) for column, missing in columns]
        found[..., CRITERIA.index(criterion), :] = torch.cat(filled, dim=-1)
    return found


def _none(criterion: str, points: Decided) -> torch.Tensor:
    """Return where no threshold is the best by a criterion: bool, shape (B, R, 1)."""
    return (points.positives + points.negatives if criterion == "cost" else points.positives) == 0
