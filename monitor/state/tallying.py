"""Counting of events: the one way by which windows and the cumulative state come about."""

from __future__ import annotations

from typing import NamedTuple

import torch

from monitor.events.spec import Kind
from monitor.state.columns import Events
from monitor.state.decisions import count_decisions
from monitor.state.grouping import Grouping
from monitor.state.ordering import sort
from monitor.state.scores import Scores, sort_scores
from monitor.state.sums import sum_scores
from monitor.state.tally import Tally


class Counts(NamedTuple):
    """Sums by case, the scores sorted, and the cases of the labeled events with scores."""

    tally: Tally
    scores: Scores
    used: Grouping


def count_events(kind: Kind, events: Events, grouping: Grouping, *, halves: bool) -> Counts:
    """Count n events by case.

    Parameters
    ----------
    kind
        How they are counted.
    events
        The events; with halves, those of a case in order.
    grouping
        What is counted where.
    halves
        Whether the labeled events with scores are told apart by the half of their case that they are in.
    """
    labeled, scored = events.labeled, events.scored
    used = grouping.of(labeled & scored)
    older = None
    if halves:
        if events.segments.shape[1]:  # else the pairs are in this order
            used = _by_case(used)
        older = _older(used)
    scores = sort_scores(kind, events, used, older)
    decisions = count_decisions(kind, events, grouping, labeled)
    sums = sum_scores(kind, events, used, grouping.of(scored & ~labeled), scores)
    return Counts(Tally(*decisions, *sums), scores, used)


def _by_case(used: Grouping) -> Grouping:
    """Order the pairs by case, and within it as the events are."""
    packed = sort((used.case << 32) | used.row)
    return Grouping(packed & 0xFFFFFFFF, packed >> 32, used.cases)


def _older(used: Grouping) -> torch.Tensor:
    """Return which of the ordered pairs are among the first half of their case."""
    sizes = torch.bincount(used.case, minlength=used.cases)
    last = sizes.cumsum(0) - sizes + sizes // 2
    return torch.arange(len(used.case), device=sizes.device) < last.index_select(0, used.case)
