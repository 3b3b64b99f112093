"""How much data there is, and of what kind: what the other numbers have to be read with."""

from __future__ import annotations

import torch

from monitor.metrics import confusion
from monitor.metrics.calibration import SCORE_UNIT
from monitor.metrics.context import Context
from monitor.metrics.outcome import Outcome
from monitor.metrics.statement import label_sets, number, ratio, undefined

MIN_POSITIVES = 20
"""Below this many events of a class its numbers are marked as of low support."""

MAX_WIDTH = 0.2
"""Above this width of the interval of its recall, too."""


def events(context: Context) -> Outcome:
    """State the number of valid events, unlabeled ones included."""
    count = context.counts.events[:, None]
    return number(label_sets(), count, torch.zeros_like(count), count)


def class_support(context: Context) -> Outcome:
    """State the number of labeled events of each class."""
    count = context.support
    return number(label_sets(("class", context.classes)), count, torch.zeros_like(count), count)


def prevalence(context: Context) -> Outcome:
    """State the share of each class in the labeled events."""
    labeled = context.labeled[:, None].expand_as(context.support)
    reason = context.without_labels[:, None].expand_as(labeled)
    return ratio(label_sets(("class", context.classes)), context.support, labeled, reason)


def imbalance_ratio(context: Context) -> Outcome:
    """State labeled events of each class over those of all others."""
    others = context.labeled[:, None] - context.support
    reason = undefined(context.without_labels[:, None], no_negatives=others == 0)
    return ratio(label_sets(("class", context.classes)), context.support, others, reason)


def predicted_rate(context: Context) -> Outcome:
    """State the share of each class in the decisions, unlabeled events included."""
    decided = context.counts.decisions
    total = decided.sum(1, keepdim=True).expand_as(decided[:, :-1])
    reason = undefined(context.without_events[:, None], no_events=total == 0)
    return ratio(label_sets(("class", context.classes)), decided[:, :-1], total, reason)


def score_mean(context: Context) -> Outcome:
    """State the mean score of each scored class, unlabeled events included."""
    sums, count = context.counts.score_sum, context.counts.score_events[:, None]
    reason = undefined(context.without_events[:, None], no_scores=count == 0)
    return number(
        label_sets(("class", context.scored)),
        sums.double() * SCORE_UNIT / count,
        reason.expand_as(sums),
        count,
    )


def label_coverage(context: Context) -> Outcome:
    """State the share of labeled events, where there are unlabeled ones at all."""
    total, labeled = context.counts.events[:, None], context.labeled[:, None]
    reason = undefined(context.without_events[:, None], no_unlabeled_events=labeled == total)
    return ratio(label_sets(), labeled, total, reason)


def threshold(context: Context) -> Outcome:
    """State the score from which on an event is decided as positive."""
    total = context.counts.events[:, None]
    value = torch.full_like(total, context.parameters.threshold, dtype=torch.float64)
    return number(label_sets(("class", context.scored)), value, torch.zeros_like(total), total)


def low_support(context: Context) -> Outcome:
    """State 1 for a class with too few events to be judged, else 0."""
    recall = context.shared(confusion.recall).intervals[0]
    narrow = recall.upper - recall.lower <= MAX_WIDTH  # false where undefined
    low = (context.support < MIN_POSITIVES) | ~narrow
    labels = label_sets(("class", context.classes))
    return number(labels, low, torch.zeros_like(context.support), context.support)


def classes_defined(context: Context) -> Outcome:
    """State how many classes have labeled events: those that averages of recall and of scores are over.

    Macro averages of precision and F1 also take in a class without events that was predicted (as 0).
    """
    count = (context.support > 0).sum(1, keepdim=True).expand(-1, 2)
    labels = label_sets(("average", ("macro", "weighted")))
    return number(labels, count, torch.zeros_like(count), context.labeled[:, None])


def window_confusions(context: Context) -> Outcome:
    """State the labeled events by true class and decision."""
    cells = context.counts.confusion
    support = context.support[..., None].expand_as(cells).flatten(1)
    decisions = (*context.classes, other_name(context.classes))
    labels = label_sets(("true", context.classes), ("predicted", decisions))
    return number(labels, cells.flatten(1), torch.zeros_like(support), support)


def other_name(classes: tuple[str, ...]) -> str:
    """Return the name for decisions for none of the classes: "other", in parentheses if it is taken."""
    name = "other"
    while name in classes:
        name = f"({name})"
    return name
