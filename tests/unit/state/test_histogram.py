"""The score histogram: exact while it can be, bounded always, the same whatever the order."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from monitor.state import histogram
from monitor.state.histogram import CAP, ScoreHistogram, joined, merged, pooled
from monitor.state.keys import fold

CPU = torch.device("cpu")


def add(table: ScoreHistogram, score, truth, row=None, rows: int = 1) -> ScoreHistogram:
    score = torch.as_tensor(np.asarray(score, np.float32))
    row = torch.zeros(len(score), dtype=torch.int64) if row is None else torch.as_tensor(row)
    key, order = ((row << 32) | fold(score)).sort()
    truth = torch.as_tensor(np.asarray(truth, np.int64))[order]
    return table.grown(rows).add(*merged(key, torch.stack([1 - truth, truth])))


def of_row(table: ScoreHistogram, row: int) -> torch.Tensor:
    """Counts of one row by descending score."""
    first, last = table.starts()[row : row + 2].tolist()
    return table.count[:, first:last].T.flip(0)


def test_few_scores_are_kept_exactly() -> None:
    table = add(ScoreHistogram.empty(1, CPU), [0.25, 0.75, 0.25, 0.75, 1.0], [0, 1, 1, 1, 0])
    assert int(table.shift[0]) == 0
    assert of_row(table, 0).tolist() == [[1, 0], [0, 2], [1, 1]]  # descending: 1, .75, .25


@pytest.fixture
def scores() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    score = rng.random(5 * CAP).astype(np.float32)
    return score, rng.random(len(score)) < score


def test_many_scores_stay_within_the_bound_of_memory(scores) -> None:
    table = add(ScoreHistogram.empty(1, CPU), *scores)
    assert len(table.key) <= CAP
    assert table.nbytes() <= 420_000
    assert of_row(table, 0).sum(0).tolist() == [int((~scores[1]).sum()), int(scores[1].sum())]


def test_the_resolution_is_the_finest_that_fits_whatever_the_order(scores) -> None:
    score, truth = scores
    at_once = add(ScoreHistogram.empty(1, CPU), score, truth)
    order = np.random.default_rng(4).permutation(len(score))
    step_by_step = ScoreHistogram.empty(1, CPU)
    for part in np.array_split(order, 7):
        step_by_step = add(step_by_step, score[part], truth[part])
    assert torch.equal(at_once.key, step_by_step.key)
    assert torch.equal(at_once.count, step_by_step.count)
    finer = int(at_once.shift[0]) - 1
    assert len(np.unique(fold(torch.as_tensor(score)).numpy() >> finer)) > CAP


def test_each_row_has_a_resolution_of_its_own(scores) -> None:
    score, truth = scores
    rows = np.r_[np.zeros(len(score), int), 1, 1]
    table = add(ScoreHistogram.empty(1, CPU), np.r_[score, 0.5, 0.5], np.r_[truth, 0, 1], rows, rows=2)
    assert table.shift[0] > 0
    assert table.shift[1] == 0
    assert of_row(table, 1).tolist() == [[1, 1]]


def test_neighbours_are_merged_only(monkeypatch) -> None:
    monkeypatch.setattr(histogram, "CAP", 2)
    close = np.nextafter(np.float32(0.25), np.float32(1))
    table = add(ScoreHistogram.empty(1, CPU), [0.25, close, 0.75], [1, 0, 0])
    assert of_row(table, 0).tolist() == [[1, 0], [1, 1]]


def test_one_table_of_many_histograms_comes_apart_again(scores) -> None:
    parts = [
        add(ScoreHistogram.empty(1, CPU), [0.5], [1]),
        add(ScoreHistogram.empty(2, CPU), *scores, np.ones(len(scores[0]), int), rows=2),
        ScoreHistogram.empty(1, CPU),
    ]
    table = joined(parts)
    assert (table.key.diff() > 0).all()
    for part, again in zip(parts, table.split([1, 2, 1]), strict=True):
        assert torch.equal(part.key, again.key)
        assert torch.equal(part.count, again.count)
        assert torch.equal(part.shift, again.shift)


def test_rows_are_taken_in_any_order() -> None:
    table = add(ScoreHistogram.empty(3, CPU), [0.1, 0.2, 0.3, 0.4], [0, 1, 1, 1], [0, 2, 2, 1], rows=3)
    taken = table.take(torch.tensor([2, 0]))
    assert of_row(taken, 0).tolist() == of_row(table, 2).tolist() == [[0, 1], [0, 1]]
    assert of_row(taken, 1).tolist() == of_row(table, 0).tolist() == [[1, 0]]
    assert (taken.key.diff() > 0).all()


def test_rows_of_different_resolution_are_added_up_at_the_coarsest(scores) -> None:
    rows = np.r_[np.zeros(len(scores[0]), int), 1, 1, 2]
    score, truth = np.r_[scores[0], scores[0][:2], 0.5], np.r_[scores[1], 0, 1, 1]
    table = add(ScoreHistogram.empty(3, CPU), score, truth, rows, rows=3)
    both = pooled(table, torch.tensor([0, 0, -1]), 1)
    assert int(both.shift[0]) == int(table.shift[0]) > 0
    assert both.count.sum(1).tolist() == (table.count.sum(1) - torch.tensor([0, 1])).tolist()
    first, last = table.starts()[:2].tolist()
    assert torch.equal(both.key, table.key[first:last])  # the two of row 1 are in bins that row 0 has
    assert (both.key.diff() > 0).all()
