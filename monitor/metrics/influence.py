"""Standard errors of ranking metrics by their influence functions.

The influence of an event is how the metric would move if there were a little more of such events; the
variance of the influences over the number of events is the variance of the metric. All functions take
a `Curve` and are batched over its leading dimensions; tied scores stand at the middle of their group.
Merging neighbouring groups of no positives changes nothing.
"""

from __future__ import annotations

import torch

from monitor.metrics.ranking import Curve


def roc_auc_se(curve: Curve) -> torch.Tensor:
    """Return the standard error of `ranking.roc_auc`, shape (...).

    An event's influence is the share of the other class that it is ranked rightly against.

    References
    ----------
    DeLong, DeLong and Clarke-Pearson, "Comparing the areas under two or more correlated receiver
    operating characteristic curves", Biometrics 44 (1988).
    """
    above = (curve.fp - curve.negatives / 2).div_(curve.n_negatives[..., None])
    caught = (curve.tp - curve.positives / 2).div_(curve.n_positives[..., None])
    variance = _variance(above, curve.positives, curve.n_positives)
    return (variance + _variance(caught, curve.negatives, curve.n_negatives)).sqrt()


def partial_roc_auc_se(curve: Curve, max_fpr: torch.Tensor) -> torch.Tensor:
    """Return the standard error of `ranking.partial_roc_auc`, (..., M) as `max_fpr`.

    A positive's influence is the share of the strip left of max_fpr that it is above of. A negative's is
    the recall at its score less that at max_fpr, over max_fpr, if it is one of the negatives of the strip:
    max_fpr is estimated by them. At max_fpr 1 this is DeLong's.

    References
    ----------
    Dodd and Pepe, "Partial AUC estimation and regression", Biometrics 59 (2003); He and Escobar,
    "Nonparametric statistical inference method for partial areas under receiver operating
    characteristic curves", Statistics in Medicine 27 (2008).
    """
    limit = max_fpr * curve.n_negatives[..., None]
    curve = curve.until(limit)
    width, share = curve.below(limit)
    limit, n, rate = limit[..., None], curve.n_positives[..., None], max_fpr[..., None]
    positives, negatives = curve.positives[..., None, :], curve.negatives[..., None, :]
    tp, fp = curve.tp[..., None, :], curve.fp[..., None, :]
    strip = share * (limit - (fp - negatives) - width / 2) / limit
    recall = (tp - positives / 2 - (positives * share).sum(-1, keepdim=True)) / n[..., None]
    variance = _variance(strip, positives, n)
    return (variance + _variance(share * recall / rate, negatives, curve.n_negatives[..., None])).sqrt()


def average_precision_se(curve: Curve) -> torch.Tensor:
    """Return the standard error of `ranking.average_precision`, shape (...), prevalence random.

    With the precision p(s) at a score s, every event at or above s takes part in p(s). Of a positive at x,
    the influence is p(x) + sum of (1 - p(s)) / D(s) over the positives' scores s <= x, less the value;
    of a negative it is the same sum of -p(s) / D(s). D(s) is the number of events at or above s.
    """
    accepted = (curve.tp + curve.fp).clamp_(min=1)
    precision = curve.tp / accepted
    gain = curve.positives / accepted
    value = (curve.positives * precision).sum(-1, keepdim=True) / curve.n_positives[..., None]
    loss = _from_below(gain * precision)
    of_positives = _from_below(gain).add_(precision).sub_(loss).sub_(value)
    squares = of_positives.square_().mul_(curve.positives).add_(loss.square_().mul_(curve.negatives))
    return squares.sum(-1).sqrt() / curve.n_positives


def _from_below(values: torch.Tensor) -> torch.Tensor:
    """Return the sum of each group's and all lower groups' values."""
    sums = values.cumsum(-1)
    return (sums[..., -1:] - sums).add_(values)


def _variance(influence: torch.Tensor, events: torch.Tensor, total: torch.Tensor) -> torch.Tensor:
    """Return the variance of the mean influence of a class's events; NaN with fewer than 2.

    Parameters
    ----------
    influence, events : shape (..., G)
        Of an event of each group, and how many there are.
    total : shape (...)
        All events; those in no group have no influence.
    """
    mean = (events * influence).sum(-1) / total
    # In place: temporaries of this size cost more than the arithmetic.
    squares = (influence - mean[..., None]).square_().mul_(events).sum(-1)
    squares = squares + (total - events.sum(-1)) * mean.square()
    return squares / (total - 1) / total
