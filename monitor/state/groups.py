"""Groups of equal scores in descending order: tables of sorted keys as padded tensors."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from monitor.state.histogram import ScoreHistogram, row_starts
from monitor.state.keys import KEY_BITS, KEY_MASK, key_probability


@dataclass(frozen=True, slots=True)
class ScoreGroups:
    """Scores of S cases: T rows, G groups, H groups of all classes together.

    The meaning and, with S for B, the shape of each is that of the field of the same name in
    `monitor.metrics.counts.Counts`.
    """

    positives: torch.Tensor
    negatives: torch.Tensor
    older_positives: torch.Tensor
    older_negatives: torch.Tensor
    threshold: torch.Tensor
    probability: torch.Tensor
    exact: torch.Tensor
    micro_positives: torch.Tensor
    micro_negatives: torch.Tensor
    micro_exact: torch.Tensor


def score_groups(
    table: ScoreHistogram, micro: ScoreHistogram, rows: int, temperature: float | None
) -> ScoreGroups:
    """Return the groups of S cases.

    Parameters
    ----------
    table
        Row = case x T + row of scores.
    micro
        Row = case; without rows in binary tasks.
    rows
        T.
    temperature
        That of `monitor.events.spec.Kind`.
    """
    padded = _Padding(table, rows)
    negatives, positives, *older = map(padded.sum, table.count)
    older_negatives, older_positives = older or (torch.zeros_like(negatives), torch.zeros_like(positives))
    threshold, middle = bounds(table, temperature)
    cases = len(positives)
    if len(micro.shift):
        padded_micro = _Padding(micro, 1)
        micro_negatives, micro_positives = (padded_micro.sum(side).squeeze(1) for side in micro.count)
        micro_exact = micro.shift == 0
    else:
        micro_negatives, micro_positives = positives.new_zeros((2, cases, 0))
        micro_exact = torch.ones(cases, dtype=torch.bool, device=positives.device)
    return ScoreGroups(
        positives=positives,
        negatives=negatives,
        older_positives=older_positives,
        older_negatives=older_negatives,
        threshold=padded.put(threshold),
        probability=padded.put(middle),
        exact=(table.shift == 0).reshape(cases, rows),
        micro_positives=micro_positives,
        micro_negatives=micro_negatives,
        micro_exact=micro_exact,
    )


def bounds(table: ScoreHistogram, temperature: float | None) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the least probability of each key, and the middle of the least and the greatest."""
    key = table.key & KEY_MASK
    if not table.shift.any():
        exact = key_probability(key, temperature)
        return exact, exact
    shift = table.shift.index_select(0, table.key >> KEY_BITS)
    low, high = key << shift, ((key + 1) << shift) - 1
    least, greatest = key_probability(low, temperature), key_probability(high, temperature)
    return least, (least + greatest) / 2


def sizes_of_rows(table: ScoreHistogram) -> torch.Tensor:
    """Return the number of distinct keys of each row: int64, shape (rows,)."""
    return _Padding(table, 1).sizes


class _Padding:
    """Where values of the keys of a table, shape (K,), belong in (cases, rows, greatest size)."""

    def __init__(self, table: ScoreHistogram, rows: int) -> None:
        distinct, group = torch.unique_consecutive(table.key, return_inverse=True)
        starts = row_starts(distinct, len(table.shift))
        self.sizes = starts.diff()
        self._shape = len(table.shift) // rows, rows, int(self.sizes.max())
        # From the end of the row backwards: descending.
        last = torch.arange(1, len(table.shift) + 1, device=starts.device) * self._shape[2] - 1
        self._place = (starts[:-1] + last).index_select(0, table.key >> KEY_BITS) - group

    def sum(self, values: torch.Tensor) -> torch.Tensor:
        """Return the values, those of equal keys added up."""
        return self._empty(values).scatter_add_(0, self._place, values).reshape(self._shape)

    def put(self, values: torch.Tensor) -> torch.Tensor:
        """Return the values, which are the same for equal keys."""
        return self._empty(values).scatter_(0, self._place, values).reshape(self._shape)

    def _empty(self, values: torch.Tensor) -> torch.Tensor:
        return values.new_zeros(self._shape[0] * self._shape[1] * self._shape[2])
