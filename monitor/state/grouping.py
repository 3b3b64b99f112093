"""Groups of events that are counted apart: all of them, and one a segment value."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from monitor.events.vocabulary import MISSING
from monitor.state.columns import Events

Group = tuple[int, int]
"""Index of the segment key, and code of its value."""

ALL: Group = (-1, MISSING)
"""The group of all events."""


@dataclass(frozen=True, slots=True)
class Grouping:
    """Which events are counted where: event `row[j]` belongs to group number `group[j]`.

    An event belongs to several groups: to ALL, and to one a segment key that it carries.
    """

    row: torch.Tensor
    group: torch.Tensor
    groups: int


def everything(events: Events) -> Grouping:
    """Return one group of all events."""
    row = torch.arange(len(events), device=events.timestamp.device)
    return Grouping(row, torch.zeros_like(row), 1)


def group_by_segment(events: Events, known: tuple[Group, ...] = (ALL,)) -> tuple[tuple[Group, ...], Grouping]:
    """Say which groups each event counts in.

    Parameters
    ----------
    events
        n events with K segment keys.
    known
        Groups that have a number already, in the order of their numbers; ALL is the first.

    Returns
    -------
    groups, grouping
        The known groups followed by the new ones, and who belongs to them.
    """
    numbers = {group: number for number, group in enumerate(known)}
    whole = everything(events)
    rows, groups = [whole.row], [whole.group]
    for key in range(events.segments.shape[1]):
        code = events.segments[:, key].long()
        present = [c for c in torch.bincount(code).nonzero().flatten().tolist() if c != MISSING]
        if not present:
            continue
        table = torch.full((present[-1] + 1,), -1, dtype=torch.int64)
        for c in present:
            table[c] = numbers.setdefault((key, c), len(numbers))
        group = table.to(code.device).index_select(0, code)
        row = torch.nonzero(group >= 0).squeeze(1)
        rows.append(row)
        groups.append(group.index_select(0, row))
    return tuple(numbers), Grouping(torch.cat(rows), torch.cat(groups), len(numbers))
