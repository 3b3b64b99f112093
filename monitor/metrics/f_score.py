"""F1 and F-beta of each class."""

from __future__ import annotations

from dataclasses import replace

import torch

from monitor.metrics.context import Context
from monitor.metrics.intervals import effective_n
from monitor.metrics.labels import BETA, CLASS, LabelSets
from monitor.metrics.outcome import Outcome
from monitor.metrics.statement import MIN_FOR_INTERVAL, MIN_SUPPORT, nothing, number, undefined


def f1(context: Context) -> Outcome:
    """State the harmonic mean of precision and recall, 2 TP / (2 TP + FP + FN)."""
    return replace(
        _f_score(context, ((CLASS,),), torch.ones_like(context.labeled[:, None], dtype=torch.float64)),
        numerator=2 * context.correct,
        denominator=context.support + context.predicted,
    )


def fbeta(context: Context) -> Outcome:
    """State F-beta of the models' costs, (1 + beta^2) TP / ((1 + beta^2) TP + beta^2 FN + FP)."""
    if context.parameters[0].beta is None:
        return nothing(context.without_labels)
    beta = context.column(lambda p: p.beta)[:, None]
    return _f_score(context, ((CLASS, BETA),), beta * beta)


def _f_score(context: Context, labels: LabelSets, weight: torch.Tensor) -> Outcome:
    """State F-beta with its interval of effective sample size.

    Parameters
    ----------
    context
        With the counts.
    labels
        Of the values.
    weight : float64, shape (B, 1)
        beta**2.
    """
    positives, hits = context.support, context.correct
    negatives = context.labeled[:, None] - positives
    involved = positives + context.predicted - hits
    # The denominator is beta^2 (TP + FN) + (TP + FP).
    score = (1 + weight) * hits.double() / (weight * positives.double() + context.predicted.double())
    return number(
        labels,
        score,
        undefined(context.without_labels[:, None], no_decisions_or_positives=involved == 0),
        involved,
        interval=effective_n(
            score,
            _standard_error(context, score, weight),
            torch.minimum(positives, negatives),
            context.confidence_level,
        ),
        no_interval=undefined(
            torch.zeros_like(positives), low_support=positives < MIN_FOR_INTERVAL, no_negatives=negatives == 0
        ),
        low_support=positives < MIN_SUPPORT,
    )


def _standard_error(context: Context, score: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """Return the standard error of F-beta by the delta method for multinomial counts, float64 (B, C).

    The derivatives of F are (1 + beta^2)(1 - F) by TP, -F by FP and -beta^2 F by FN, over the
    denominator of F; their mean over the events is 0.
    """
    hits = context.correct.double()
    misses = context.support.double() - hits
    false_alarms = context.predicted.double() - hits
    squares = (
        hits * ((1 + weight) * (1 - score)).square()
        + false_alarms * score.square()
        + misses * (weight * score).square()
    )
    return squares.sqrt() / ((1 + weight) * hits + weight * misses + false_alarms)
