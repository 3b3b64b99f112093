from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from monitor.metrics.groups import group_scores


def group(score, positive, valid=None):
    score = torch.tensor(score, dtype=torch.float32)
    positive = torch.tensor(positive, dtype=torch.bool)
    valid = torch.ones_like(positive) if valid is None else torch.tensor(valid, dtype=torch.bool)
    return [counts.tolist() for counts in group_scores(score, positive, valid)]


def test_groups_are_in_descending_order_and_ties_share_one():
    assert group([[0.1, 0.9, 0.1, 0.5]], [[1, 1, 0, 0]]) == [[[1, 0, 1]], [[0, 1, 1]]]


def test_invalid_events_are_one_empty_group_whatever_they_hold():
    score = [[0.5, float("nan"), 2.0, float("-inf")]]
    positives, negatives = group(score, [[1, 1, 1, 0]], [[1, 0, 0, 0]])
    assert positives == [[1, 0]]
    assert negatives == [[0, 0]]


def test_rows_of_different_length_end_in_empty_groups():
    positives, negatives = group([[3, 2, 1], [1, 1, 1]], [[1, 0, 1], [1, 1, 0]])
    assert positives == [[1, 0, 1], [2, 0, 0]]
    assert negatives == [[0, 1, 0], [1, 0, 0]]


def test_both_zeros_are_one_score_and_infinities_are_scores():
    inf = float("inf")
    assert group([[0.0, -0.0, -inf, inf]], [[1, 0, 1, 1]]) == [[[1, 1, 1]], [[0, 1, 0]]]


@pytest.mark.parametrize(("rows", "n"), [(0, 0), (2, 0), (0, 3)])
def test_nothing_gives_no_groups(rows, n):
    empty = torch.zeros((rows, n))
    positives, negatives = group_scores(empty, empty > 1, empty > 1)
    assert positives.shape == negatives.shape == (rows, 0)


@given(st.lists(st.tuples(st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.booleans()), min_size=1), st.randoms())
def test_order_of_events_does_not_matter(events, random):
    shuffled = list(events)
    random.shuffle(shuffled)
    once, again = (group([[s for s, _ in e]], [[y for _, y in e]]) for e in (events, shuffled))
    assert once == again
    scores = sorted({s for s, _ in events}, reverse=True)
    assert once[0] == [[sum(y for s, y in events if s == score) for score in scores]]
