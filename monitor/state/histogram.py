"""Scores of unlimited events in bounded space: a sparse histogram over the bits of float32 scores.

It starts at the full resolution of float32, where it is exact, and drops one bit of the key whenever
a row holds more than `cap` distinct keys. The final resolution is the finest that fits, hence
independent of the order of events and of sharding. The idea of collapsing neighbouring keys is that
of DDSketch (Masson, Rim and Lee, 2019).
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from monitor.state.ordering import sort, stable_argsort

CAP = 16384
"""Most distinct keys a row keeps."""

_ROW_BITS = 32
_HALF = 0x3F000000  # the bits of float32 0.5


def fold(score: torch.Tensor) -> torch.Tensor:
    """Return int64 keys that grow with the score, as fine near 1 as near 0.

    Parameters
    ----------
    score : float32
        Probabilities. 1 - p is exact in float32 for p >= 0.5 (Sterbenz), so nothing is rounded.
    """
    score = score + 0.0  # the bits of -0.0 would be negative
    low = score.view(torch.int32).long()
    high = 2 * _HALF - (1 - score).contiguous().view(torch.int32).long()
    return torch.where(score < 0.5, low, high)


@dataclass(frozen=True, slots=True)
class ScoreHistogram:
    """Counts of scores for many rows (group x scored class) in one sorted table.

    Attributes
    ----------
    key : int64, shape (K,)
        row << 32 | folded score >> shift[row], ascending.
    count : int64, shape (K, 2)
        Events that are not (0) and are (1) of the row's class.
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
            count=torch.empty((0, 2), dtype=torch.int64, device=device),
            shift=torch.zeros(rows, dtype=torch.int64, device=device),
        )

    def add(self, row: torch.Tensor, score: torch.Tensor, truth: torch.Tensor, rows: int) -> ScoreHistogram:
        """Return this with n scores more.

        Parameters
        ----------
        row : int64, shape (n,)
            Where each is counted, below `rows`.
        score : float32, shape (n,)
            Probabilities.
        truth : bool, shape (n,)
            Whether the event is of the row's class.
        rows
            Number of rows from now on, not fewer than before.
        """
        shift = torch.cat([self.shift, self.shift.new_zeros(rows - self.shift.shape[0])])
        arrived = (row << _ROW_BITS) | (fold(score) >> shift.index_select(0, row))
        sides, counts = torch.unique_consecutive(sort(arrived * 2 + truth), return_counts=True)
        fresh = counts.new_zeros((sides.shape[0], 2))
        fresh.scatter_(1, (sides & 1).unsqueeze(1), counts.unsqueeze(1))
        key, count = torch.cat([self.key, sides >> 1]), torch.cat([self.count, fresh])
        order = stable_argsort(key)
        return _collapsed(*_merged(key.index_select(0, order), count.index_select(0, order)), shift)

    def row(self, row: int) -> torch.Tensor:
        """Return the counts of one row by descending score: int64, shape (G, 2)."""
        bounds = torch.tensor([row << _ROW_BITS, (row + 1) << _ROW_BITS], device=self.key.device)
        first, last = torch.searchsorted(self.key, bounds).tolist()
        return self.count[first:last].flip(0)

    def nbytes(self) -> int:
        """Return the bytes held."""
        return self.key.nbytes + self.count.nbytes + self.shift.nbytes


def _merged(key: torch.Tensor, count: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Add up the counts of equal, adjacent keys."""
    distinct, place = torch.unique_consecutive(key, return_inverse=True)
    return distinct, count.new_zeros((distinct.shape[0], 2)).index_add_(0, place, count)


def _collapsed(key: torch.Tensor, count: torch.Tensor, shift: torch.Tensor) -> ScoreHistogram:
    """Drop bits of the rows that hold too many keys. Order survives, since >> is monotone."""
    while True:
        starts = torch.arange(shift.shape[0] + 1, device=key.device) << _ROW_BITS
        over = torch.searchsorted(key, starts).diff() > CAP
        if not over.any():
            return ScoreHistogram(key, count, shift)
        row = key >> _ROW_BITS
        coarser = (row << _ROW_BITS) | ((key & ((1 << _ROW_BITS) - 1)) >> 1)
        key, count = _merged(torch.where(over[row], coarser, key), count)
        shift = shift + over
