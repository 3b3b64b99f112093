"""How much data there is, and of what kind: what the other numbers have to be read with."""

from __future__ import annotations

import torch

from monitor.metrics import confusion
from monitor.metrics.context import Context
from monitor.metrics.counts import SCORE_UNIT
from monitor.metrics.labels import CLASS, PREDICTED, SCORED, TRUE, Axis, constant
from monitor.metrics.outcome import Outcome
from monitor.metrics.statement import number, ratio, undefined


def events(context: Context) -> Outcome:
    """State the number of valid events, unlabeled ones included."""
    count = context.counts.events[:, None]
    return number(((),), count, torch.zeros_like(count), count)


def class_support(context: Context) -> Outcome:
    """State the number of labeled events of each class."""
    count = context.support
    return number(((CLASS,),), count, torch.zeros_like(count), count)


def prevalence(context: Context) -> Outcome:
    """State the share of the labeled events that are of each class."""
    reason = context.without_labels[:, None].expand_as(context.support)
    return ratio(((CLASS,),), context.support, context.labeled[:, None], reason)


def imbalance_ratio(context: Context) -> Outcome:
    """State labeled events of each class over those of all others."""
    labeled = context.labeled[:, None]
    others = labeled - context.support
    reason = undefined(context.without_labels[:, None], no_negatives=others == 0)
    return ratio(((CLASS,),), context.support, others, reason, support=labeled)


def predicted_rate(context: Context) -> Outcome:
    """State the share of the events that were decided for each class, unlabeled events included."""
    decided = context.counts.decisions[:, :-1]
    reason = context.without_events[:, None].expand_as(decided)
    return ratio(((CLASS,),), decided, context.counts.events[:, None], reason)


def score_mean(context: Context) -> Outcome:
    """State the mean probability of each scored class, unlabeled events included."""
    sums, count = context.counts.score_sum, context.counts.score_events[:, None]
    reason = undefined(context.without_events[:, None], no_scores=count == 0)
    return number(((SCORED,),), sums.double() * SCORE_UNIT / count, reason.expand_as(sums), count)


def label_coverage(context: Context) -> Outcome:
    """State the share of labeled events, where there are unlabeled ones at all."""
    total, labeled = context.counts.events[:, None], context.labeled[:, None]
    reason = undefined(context.without_events[:, None], no_unlabeled_events=labeled == total)
    return ratio(((),), labeled, total, reason)


def threshold(context: Context) -> Outcome:
    """State the probability from which on each scored class is decided."""
    total = context.counts.events[:, None]
    value = context.column(lambda p: p.thresholds)
    return number(((SCORED,),), value, torch.zeros_like(total).expand(-1, context.scored), total)


def low_support(context: Context) -> Outcome:
    """State 1 for a class with too few events to be judged by its recall, else 0."""
    low = context.shared(confusion.recall).low_support
    return number(((CLASS,),), low, torch.zeros_like(context.support), context.support)


def classes_defined(context: Context) -> Outcome:
    """State how many classes have labeled events: those that averages of recall and of scores are over.

    Macro averages of precision and F1 also take in a class without events that was predicted (as 0).
    """
    count = (context.support > 0).sum(1, keepdim=True).expand(-1, 2)
    labels = ((constant("average", "macro", "weighted"),),)
    return number(labels, count, torch.zeros_like(count), context.labeled[:, None])


def window_confusions(context: Context) -> Outcome:
    """State the labeled events by true class and decision; multilabel: by both of each class."""
    cells = context.counts.confusion
    support = cells.sum(-1, keepdim=True).expand_as(cells).flatten(1)
    of_class: tuple[Axis, ...] = (CLASS,) if context.task == "multilabel" else ()
    labels = ((*of_class, TRUE, PREDICTED),)
    return number(labels, cells.flatten(1), torch.zeros_like(support), support)
