"""Brier score and log loss: values from exact fixed-point sums, with intervals.

The whole (class "") of a binary task is about its positive class, so that it has the same value.
"""

from __future__ import annotations

import torch
from torch.linalg import vecdot

from monitor.metrics.context import Context
from monitor.metrics.counts import LOSS_UNIT, SCORE_UNIT
from monitor.metrics.cox import EPSILON
from monitor.metrics.intervals import effective_n, logit_t, wald_t
from monitor.metrics.labels import SCORED, WHOLE, constant
from monitor.metrics.outcome import Interval, Method, Outcome
from monitor.metrics.rows import by_rows
from monitor.metrics.statement import MIN_FOR_INTERVAL, number, undefined

MIN_RARER = 20
"""Below this many events of the rarer side the mean over other events has none: t covers too rarely."""


def brier_score(context: Context) -> Outcome:
    """State the mean squared error of the probabilities.

    For each scored class over all events, over those of the class (positive) and over the others
    (negative); the whole is the sum over the classes, in multilabel tasks the mean.
    """
    before, support = context.without_scores, _by_subset(context.ranked)
    value = _by_subset(context.counts.squared_error).double() * SCORE_UNIT / support
    reason = torch.stack(
        (
            before,
            undefined(before, no_positives=support[..., 1] == 0),
            undefined(before, no_negatives=support[..., 2] == 0),
        ),
        dim=-1,
    )
    moments = _by_subset(context.shared(_moments)[..., 0, :])
    support = after_whole(support[:, 0, 0], support)
    value = after_whole(whole(context, value[..., 0]), value)
    standard_error = _standard_errors(context, 0, moments, support)
    return number(
        ((WHOLE, constant("subset", "all")), (SCORED, constant("subset", "all", "positive", "negative"))),
        value,
        after_whole(before[:, 0], reason),
        support,
        interval=_brier_interval(context, value, standard_error, support),
        no_interval=_too_few_for_brier(context, support),
    )


def _brier_interval(
    context: Context, value: torch.Tensor, standard_error: torch.Tensor, support: torch.Tensor
) -> Interval:
    """Return intervals of the whole, and for each class of all events, the class's and the others.

    A good model makes few large errors on a class's events. A sample without one shows hardly any
    variance, and t on it covers 74 to 90%: there the size of the sample decides.
    """
    # A sum over classes is at most 2, the logit needs a mean in (0, 1).
    most = torch.ones_like(value)
    most[:, 0] = 2 if context.task == "multiclass" else 1
    level = context.confidence_level
    by_t = logit_t(value / most, standard_error / most, support, level)
    by_size = effective_n(value, standard_error, support, level)
    of_class = torch.tensor((False, True, False), device=value.device).repeat(context.scored)
    is_positive = torch.cat((of_class.new_zeros(1), of_class))
    lower, upper = (
        torch.where(is_positive, size, t * most)
        for size, t in ((by_size.lower, by_t.lower), (by_size.upper, by_t.upper))
    )
    of_classes: tuple[Method, ...] = ("logit_t", "effective_n", "logit_t") * context.scored
    return Interval(("logit_t", *of_classes), lower, upper, standard_error)


def log_loss(context: Context) -> Outcome:
    """State the mean of -log(probability of the true class), and one-vs-rest for each scored class.

    The whole of a multilabel task is the mean over the classes.
    """
    loss, before = context.counts.loss, context.without_scores
    support = context.ranked.sum(-1)
    of_classes = loss.sum(-1).double() * LOSS_UNIT / support
    if context.task == "multiclass":
        of_all = loss[..., 1].sum(-1).double() * LOSS_UNIT / support[:, 0]
    else:
        of_all = of_classes.mean(-1)
    moments = context.shared(_moments)[..., 1, :].sum(2, keepdim=True)
    support, value = after_whole(support[:, 0], support), after_whole(of_all, of_classes)
    standard_error = _standard_errors(context, 1, moments, support)
    return number(
        ((WHOLE,), (SCORED,)),
        value,
        after_whole(before[:, 0], before),
        support,
        interval=wald_t(value, standard_error, support, context.confidence_level, least=0),
        no_interval=_too_few(context),
    )


def brier_of_classes(context: Context) -> torch.Tensor:
    """Return the Brier score of each scored class, (B, R)."""
    return context.counts.squared_error.sum(-1).double() * SCORE_UNIT / context.ranked.sum(-1)


def whole(context: Context, of_classes: torch.Tensor) -> torch.Tensor:
    """Return the Brier score, or a part of it, of the whole from those of the scored classes, (B, R)."""
    return of_classes.mean(-1) if context.task == "multilabel" else of_classes.sum(-1)


def after_whole(of_whole: torch.Tensor, of_classes: torch.Tensor) -> torch.Tensor:
    """Join numbers of the whole, (B,), and of the classes, (B, R, ...), to (B, X)."""
    return torch.cat([of_whole[:, None], of_classes.flatten(1)], dim=1)


def _standard_errors(
    context: Context, kind: int, moments: torch.Tensor, events: torch.Tensor
) -> torch.Tensor:
    """Return standard errors of the mean of one kind of loss, (B, 1 + R x S), of the whole and the classes.

    Parameters
    ----------
    kind
        0 of squared error, 1 of log loss.
    moments : float64, shape (B, R, S, 2)
        Sums over S subsets of the events, and of squares.
    events : int64, shape (B, 1 + R x S)
    """
    total, squares = moments.flatten(1, 2).unbind(-1)
    of_classes = _standard_error(total, squares, events[:, 1:], 1e-12 * squares / events[:, 1:])
    if context.task == "binary":
        return torch.cat((of_classes[:, :1], of_classes), dim=1)
    unit = (SCORE_UNIT, LOSS_UNIT)[kind]
    total, squares = torch.split(context.counts.whole[:, kind].double() * unit, 1, dim=-1)
    rounding = unit * (0.5 + total / events[:, :1])
    return torch.cat((_standard_error(total, squares, events[:, :1], rounding), of_classes), dim=1)


def _standard_error(
    total: torch.Tensor, squares: torch.Tensor, events: torch.Tensor, rounding: torch.Tensor
) -> torch.Tensor:
    """Return the standard error of a mean; 0 where the variance is no more than the error of the sums."""
    variance = (squares - total.square() / events) / (events - 1)
    return (variance.where(variance > rounding, 0.0) / events).sqrt()


def _moments(context: Context) -> torch.Tensor:
    """Return sums over the groups: float64, shape (B, R, 2, 2, 2).

    By side (the other classes' events, the class's), loss (squared error, log loss) and power (1, 2).
    """
    c = context.counts
    arrays = (a.flatten(0, -2) for a in (c.negatives, c.positives, c.probability))
    (moments,) = by_rows(_moments_of_rows, *arrays)
    return moments.view(*c.exact.shape, 2, 2, 2)[:, : context.scored]


def _moments_of_rows(
    negatives: torch.Tensor, positives: torch.Tensor, p: torch.Tensor
) -> tuple[torch.Tensor]:
    sums = []
    for events, right in ((negatives.double(), 1 - p), (positives.double(), p)):
        for loss in ((1 - right).square(), right.clamp(EPSILON, 1 - EPSILON).log().neg()):
            sums += [vecdot(events, loss), vecdot(events, loss * loss)]
    return (torch.stack(sums, dim=-1),)


def _too_few(context: Context) -> torch.Tensor:
    """Return why the whole and each class have no interval, int64 (B, 1 + R).

    The whole of several classes is a mean over all events, whichever class they are of.
    """
    rarer = context.ranked.amin(-1)
    whole = rarer if context.task == "binary" else context.ranked[:, :1].sum(-1)
    events = torch.cat((whole, rarer), dim=1)
    return undefined(torch.zeros_like(events), low_support=events < MIN_RARER)


def _too_few_for_brier(context: Context, support: torch.Tensor) -> torch.Tensor:
    """Return why a Brier score has no interval, in the shape of `support`."""
    reasons = _too_few(context)
    whole, rarer = reasons[:, 0], reasons[:, 1:]
    positives = support[:, 2::3]
    of_positives = undefined(torch.zeros_like(positives), low_support=positives < MIN_FOR_INTERVAL)
    return after_whole(whole, torch.stack((rarer, of_positives, rarer), dim=-1))


def _by_subset(sides: torch.Tensor) -> torch.Tensor:
    """Return numbers of all events, the class's and the others from those of the sides, (B, R, 2, ...)."""
    return torch.cat((sides.sum(2, keepdim=True), sides.flip(2)), dim=2)
