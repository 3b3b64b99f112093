"""Scores of unlimited events in bounded space: a sparse histogram over the keys of float32 scores.

It starts at the full resolution of float32, where it is exact, and drops one bit of the key whenever
a row holds more than `CAP` distinct keys. The final resolution is the finest that fits, hence
independent of the order of events and of sharding. The idea of collapsing neighbouring keys is that
of DDSketch (Masson, Rim and Lee, 2019).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from monitor.state.keys import KEY_BITS, KEY_MASK
from monitor.state.ordering import stable_argsort

CAP = 16384
"""Most distinct keys a row keeps."""


@dataclass(frozen=True, slots=True)
class ScoreHistogram:
    """Counts of scores for many rows (case x row of scores) in one sorted table.

    Attributes
    ----------
    key : int64, shape (K,)
        row << 32 | key of the score (`monitor.state.keys`) >> shift[row], ascending; in a window, where it is
        exact, a key may occur more than once.
    count : int64, shape (sides, K)
        Events that are not (0) and are (1) of the row's class; in a window then those of them that are in
        its older half.
    shift : int64, shape (rows,)
        Bits dropped; 0 means that each key is one score.
    """

    key: torch.Tensor
    count: torch.Tensor
    shift: torch.Tensor

    @staticmethod
    def empty(rows: int, device: torch.device) -> ScoreHistogram:
        """Return a histogram without events."""
        return ScoreHistogram(
            key=torch.empty(0, dtype=torch.int64, device=device),
            count=torch.empty((2, 0), dtype=torch.int64, device=device),
            shift=torch.zeros(rows, dtype=torch.int64, device=device),
        )

    def grown(self, rows: int) -> ScoreHistogram:
        """Return this with empty rows appended up to `rows`."""
        lacking = rows - len(self.shift)
        if lacking <= 0:
            return self
        return ScoreHistogram(self.key, self.count, torch.cat([self.shift, self.shift.new_zeros(lacking)]))

    def add(self, key: torch.Tensor, count: torch.Tensor) -> ScoreHistogram:
        """Return this with further scores.

        Parameters
        ----------
        key : int64, shape (M,)
            row << 32 | key of the score, ascending.
        count : int64, shape (2, M)
            Events at each.
        """
        row = key >> KEY_BITS
        coarse = (row << KEY_BITS) | ((key & KEY_MASK) >> self.shift.index_select(0, row))
        return _collapsed(*_inserted(self.key, self.count, *merged(coarse, count)), self.shift)

    def starts(self) -> torch.Tensor:
        """Return where each row begins, and the end of the last: int64, shape (rows + 1,)."""
        return row_starts(self.key, len(self.shift))

    def split(self, rows: Sequence[int]) -> list[ScoreHistogram]:
        """Return copies of parts with so many rows each."""
        ends = torch.tensor(list(rows)).cumsum(0)
        bounds = [0, *self.starts()[ends.to(self.key.device)].tolist()]
        parts = []
        for number, (size, end) in enumerate(zip(rows, ends.tolist(), strict=True)):
            of_part = slice(bounds[number], bounds[number + 1])
            key = self.key[of_part] - ((end - size) << KEY_BITS)
            parts.append(
                ScoreHistogram(key, self.count[:, of_part].clone(), self.shift[end - size : end].clone())
            )
        return parts

    def take(self, rows: torch.Tensor) -> ScoreHistogram:
        """Return copies of some rows, int64 (m,), in this order."""
        starts = self.starts()
        first = starts.index_select(0, rows)
        sizes = starts.index_select(0, rows + 1) - first
        new = torch.arange(len(rows), device=rows.device).repeat_interleave(sizes)
        index = torch.arange(len(new), device=rows.device) + (first - sizes.cumsum(0) + sizes)[new]
        key = (new << KEY_BITS) | (self.key[index] & KEY_MASK)
        return ScoreHistogram(key, self.count.index_select(1, index), self.shift[rows])

    def to(self, device: torch.device) -> ScoreHistogram:
        """Return this on a device."""
        return ScoreHistogram(self.key.to(device), self.count.to(device), self.shift.to(device))

    def nbytes(self) -> int:
        """Return the bytes held."""
        return self.key.nbytes + self.count.nbytes + self.shift.nbytes


def joined(parts: Sequence[ScoreHistogram]) -> ScoreHistogram:
    """Return the rows of all parts, one part after the other."""
    first, keys = 0, []
    for part in parts:
        keys.append(part.key + (first << KEY_BITS))
        first += len(part.shift)
    return ScoreHistogram(
        torch.cat(keys), torch.cat([p.count for p in parts], dim=1), torch.cat([p.shift for p in parts])
    )


def pooled(table: ScoreHistogram, row: torch.Tensor, rows: int) -> ScoreHistogram:
    """Return rows added up, at the coarsest resolution among those that are added.

    Parameters
    ----------
    table
        A histogram.
    row : int64, shape (rows of the table,)
        Which of the `rows` new rows each is added to; -1: none.
    """
    used = row >= 0
    shift = table.shift.new_zeros(rows).scatter_reduce_(0, row[used], table.shift[used], "amax")
    old = table.key >> KEY_BITS
    new = row.index_select(0, old)
    kept = new >= 0
    old, new = old.masked_select(kept), new.masked_select(kept)
    dropped = shift.index_select(0, new) - table.shift.index_select(0, old)
    key = (new << KEY_BITS) | ((table.key.masked_select(kept) & KEY_MASK) >> dropped)
    order = stable_argsort(key)
    count = torch.stack([side.masked_select(kept).index_select(0, order) for side in table.count])
    return ScoreHistogram(*merged(key.index_select(0, order), count), shift)


def merged(key: torch.Tensor, count: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Add up the counts of equal, adjacent keys."""
    distinct, place = torch.unique_consecutive(key, return_inverse=True)
    if len(distinct) == len(key):
        return key, count
    sums = count.new_zeros((len(count), len(distinct)))
    return distinct, sums.scatter_add_(1, place.expand_as(count), count)


def row_starts(key: torch.Tensor, rows: int) -> torch.Tensor:
    """Return where each row begins among ascending keys, and where the last ends: int64 (rows + 1,)."""
    return torch.searchsorted(key, torch.arange(rows + 1, device=key.device) << KEY_BITS)


def _inserted(
    key: torch.Tensor, count: torch.Tensor, new_key: torch.Tensor, new_count: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Put counts at new keys, strictly ascending, among those that there are."""
    if not len(key):
        return new_key, new_count
    place = torch.searchsorted(key, new_key)
    known = key.index_select(0, place.clamp(max=len(key) - 1)) == new_key
    count = count.index_add(1, place[known], new_count[:, known])
    fresh = ~known
    if not fresh.any():
        return key, count
    place_of_new = place[fresh] + torch.arange(int(fresh.sum()), device=key.device)
    old = torch.ones(len(key) + len(place_of_new), dtype=torch.bool, device=key.device)
    old[place_of_new] = False

    def together(before: torch.Tensor, new: torch.Tensor) -> torch.Tensor:
        return before.new_empty(len(old)).masked_scatter_(old, before).scatter_(0, place_of_new, new[fresh])

    counts = torch.stack([together(*sides) for sides in zip(count, new_count, strict=True)])
    return together(key, new_key), counts


def _collapsed(key: torch.Tensor, count: torch.Tensor, shift: torch.Tensor) -> ScoreHistogram:
    """Drop bits of the rows that hold too many keys. Order survives, since >> is monotone."""
    while True:
        over = row_starts(key, len(shift)).diff() > CAP
        if not over.any():
            return ScoreHistogram(key, count, shift)
        row = key >> KEY_BITS
        coarser = (row << KEY_BITS) | ((key & KEY_MASK) >> 1)
        key, count = merged(torch.where(over[row], coarser, key), count)
        shift = shift + over
