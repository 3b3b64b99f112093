"""Counting of labels and decisions, without scores."""

from __future__ import annotations

from typing import NamedTuple

import torch

from monitor.events.batch import PROBABILITY_UNIT
from monitor.events.spec import Kind
from monitor.state.columns import Events
from monitor.state.grouping import Grouping
from monitor.state.moments import units


class Decisions(NamedTuple):
    """Fields of `Tally` that labels and decisions give."""

    events: torch.Tensor
    decisions: torch.Tensor
    confusion: torch.Tensor
    right: torch.Tensor
    samples: torch.Tensor


def count_decisions(kind: Kind, events: Events, grouping: Grouping, labeled: torch.Tensor) -> Decisions:
    """Count n events of one kind by case; `labeled`, bool (n,), have a label."""
    if kind.task == "multilabel":
        return _label_sets(kind, events, grouping, grouping.of(labeled))
    return _single_labels(kind, events, grouping)


def fraction_units(numerator: torch.Tensor, denominator: torch.Tensor) -> torch.Tensor:
    """Return the quotients in PROBABILITY_UNIT, of any value where the denominator is 0."""
    return units(numerator.double() / denominator.clamp(min=1), PROBABILITY_UNIT)


def _single_labels(kind: Kind, events: Events, grouping: Grouping) -> Decisions:
    # One contingency table of true class (first row: unlabeled) and decision (first column: OTHER).
    width, cases = kind.classes + 1, grouping.cases
    cell = ((events.label.int() + 1) * width + (events.decision + 1)).long()
    place = grouping.case * width**2 + grouping.select(cell)
    table = torch.bincount(place, minlength=cases * width**2).reshape(cases, width, width).roll(-1, dims=2)
    by_decision, confusion = table.sum(1), table[:, 1:]
    return Decisions(
        events=by_decision.sum(-1),
        decisions=by_decision,
        confusion=confusion,
        right=confusion[..., :-1].diagonal(dim1=1, dim2=2).sum(-1),
        samples=table.new_zeros((cases, 3, 2)),
    )


def _label_sets(kind: Kind, events: Events, grouping: Grouping, labeled: Grouping) -> Decisions:
    true, decided = events.label.T > 0, events.decision.T > 0
    known = decided[:-1]
    hits, of_true, of_decided = (true & known).sum(0), true.sum(0), decided.sum(0)

    # Of each class: the events that have it, are decided so, and both; hence a 2 x 2 table.
    n = torch.bincount(labeled.case, minlength=labeled.cases).unsqueeze(1)
    t, d, both = (labeled.sum(side.long()) for side in (true, known, true & known))
    table = torch.stack([n - t - d + both, d - both, t - both, both], dim=-1)

    # Precision, recall and F1 of each event, and whether each is defined.
    of = torch.stack([of_decided, of_true, of_true + of_decided])
    samples = fraction_units(torch.stack([hits, hits, 2 * hits]), of) * (of > 0)
    right = (known == true).all(0) & ~decided[-1]
    return Decisions(
        events=torch.bincount(grouping.case, minlength=grouping.cases),
        decisions=grouping.sum(decided.long()),
        confusion=table.reshape(-1, kind.classes, 2, 2),
        right=labeled.sum(right.long()[None])[:, 0],
        samples=torch.stack([labeled.sum(samples), labeled.sum((of > 0).long())], dim=-1),
    )
