"""Groups of events that are counted apart: all of them, and one a segment value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from monitor.events.vocabulary import MISSING

Group = tuple[int, int]
"""Index of the segment key, and code of its value."""

ALL: Group = (-1, MISSING)
"""The group of all events."""

Case = tuple[int, Group]
"""Number of a set of events (a window, a version's arrivals), and a group of these."""


@dataclass(frozen=True, slots=True)
class Grouping:
    """Which events are counted where: event `row[j]` belongs to case number `case[j]`, of `cases`.

    An event belongs to several cases of its set: to ALL, and to one a segment key that it carries.
    """

    row: torch.Tensor
    case: torch.Tensor
    cases: int

    def of(self, chosen: torch.Tensor) -> Grouping:
        """Return what this says of the events where `chosen`, bool (n,), is true."""
        if bool(chosen.all()):
            return self
        if not chosen.any():
            return Grouping(self.row[:0], self.case[:0], self.cases)
        pairs = self.select(chosen)
        return Grouping(self.row.masked_select(pairs), self.case.masked_select(pairs), self.cases)

    def select(self, values: torch.Tensor) -> torch.Tensor:
        """Return the values of events, shape (..., n), for the pairs: shape (..., pairs)."""
        return values.gather(-1, self.row.expand(*values.shape[:-1], -1))

    def sum(self, values: torch.Tensor) -> torch.Tensor:
        """Add up numbers of events, int64 (m, n), by case: int64, shape (cases, m)."""
        sums = values.new_zeros((len(values), self.cases))
        return sums.scatter_add_(1, self.case.expand(len(values), -1), self.select(values)).T

    def numbered(self, numbers: Sequence[int], cases: int) -> Grouping:
        """Return this with other numbers for the cases."""
        table = torch.tensor(numbers, dtype=torch.int64, device=self.case.device)
        return Grouping(self.row, table.index_select(0, self.case), cases)


def group_events(segments: torch.Tensor, part: torch.Tensor, parts: int) -> tuple[list[Case], Grouping]:
    """Say which cases the events of several sets count in.

    Parameters
    ----------
    segments : int16, shape (n, K)
        Codes of the segment values.
    part : int64, shape (n,)
        Number of the set that each event is in, ascending.
    parts
        Number of sets; some may be empty.

    Returns
    -------
    cases, grouping
        For each set ALL, then the segment values that occur in it; and who belongs to them.
    """
    n, keys = segments.shape
    rows = torch.arange(n, device=part.device)
    if not n or not keys:
        return [(number, ALL) for number in range(parts)], Grouping(rows, part, parts)
    codes = int(segments.max()) + 1
    places = part.unsqueeze(1) * keys + torch.arange(keys, device=part.device)
    places = (places * codes + segments).flatten()
    present = torch.bincount(places, minlength=parts * keys * codes).reshape(-1, codes) > 0
    present[:, MISSING] = False
    found = torch.nonzero(present.flatten()).squeeze(1)
    of_part = found // (keys * codes)
    numbers = torch.full((present.numel(),), -1, device=part.device)
    numbers[found] = torch.arange(len(found), device=part.device) + of_part + 1
    first = torch.arange(parts, device=part.device)
    first = first + torch.searchsorted(of_part, first)
    case = numbers.index_select(0, places)
    carried = case >= 0
    grouping = Grouping(
        torch.cat([rows, rows.repeat_interleave(keys).masked_select(carried)]),
        torch.cat([first.index_select(0, part), case.masked_select(carried)]),
        parts + len(found),
    )
    found_cases = zip(
        of_part.tolist(), (found // codes % keys).tolist(), (found % codes).tolist(), strict=True
    )
    cases: list[Case] = [(number, ALL) for number in range(parts)]
    cases += [(number, (key, code)) for number, key, code in found_cases]
    return sorted(cases), grouping
