"""The score histogram: exact while it can be, bounded always, the same whatever the order."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from monitor.state import histogram
from monitor.state.histogram import CAP, ScoreHistogram, fold

CPU = torch.device("cpu")


def add(table: ScoreHistogram, score, truth, row=None, rows: int = 1) -> ScoreHistogram:
    score = torch.as_tensor(np.asarray(score, np.float32))
    row = torch.zeros(len(score), dtype=torch.int64) if row is None else torch.as_tensor(row)
    return table.add(row, score, torch.as_tensor(np.asarray(truth, bool)), rows)


def test_keys_grow_with_the_score_and_tell_all_floats_apart() -> None:
    edge = np.float32([0, 1e-45, 1e-30, 0.1, np.nextafter(np.float32(0.5), np.float32(0)), 0.5])
    above = np.float32([np.nextafter(np.float32(0.5), np.float32(1)), 0.9, 1 - 2**-24, 1])
    keys = fold(torch.as_tensor(np.concatenate([edge, above])))
    assert (keys.diff() > 0).all()
    assert int(keys.max()) < 2**31
    assert fold(torch.tensor([-0.0])) == fold(torch.tensor([0.0]))


def test_few_scores_are_kept_exactly() -> None:
    table = add(ScoreHistogram.empty(1, CPU), [0.25, 0.75, 0.25, 0.75, 1.0], [0, 1, 1, 1, 0])
    assert int(table.shift[0]) == 0
    assert table.row(0).tolist() == [[1, 0], [0, 2], [1, 1]]  # descending: 1, .75, .25


@pytest.fixture
def scores() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    score = rng.random(5 * CAP).astype(np.float32)
    return score, rng.random(len(score)) < score


def test_many_scores_stay_within_the_bound_of_memory(scores) -> None:
    table = add(ScoreHistogram.empty(1, CPU), *scores)
    assert len(table.key) <= CAP
    assert table.nbytes() <= 420_000
    assert table.row(0).sum(0).tolist() == [int((~scores[1]).sum()), int(scores[1].sum())]


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
    assert table.row(1).tolist() == [[1, 1]]


def test_neighbours_are_merged_only(monkeypatch) -> None:
    monkeypatch.setattr(histogram, "CAP", 2)
    close = np.nextafter(np.float32(0.25), np.float32(1))
    table = add(ScoreHistogram.empty(1, CPU), [0.25, close, 0.75], [1, 0, 0])
    assert table.row(0).tolist() == [[1, 0], [1, 1]]
