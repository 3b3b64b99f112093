from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from monitor.metrics.context import Context
from monitor.metrics.costs import expected_cost
from monitor.metrics.outcome import REASONS
from tests.support.counts import batch, matrix_counts, multilabel_counts, parameters, values
from tests.support.recipes import RARE

MATRIX = ((0.0, 1.0, 4.0), (2.0, 0.0, 3.0), (9.0, 5.0, 0.0))


def costs_of(counts, p) -> dict[tuple[str, ...], float]:
    return values(expected_cost(Context(counts, [p])), p)


def test_binary_costs_are_those_of_the_positive_class():
    assert costs_of(matrix_counts(RARE), parameters(costs=(2000.0, 50.0))) == {
        ("1",): pytest.approx((2 * 2000 + 30 * 50) / 1000)
    }


def test_none_of_the_classes_is_a_miss_of_the_positive_and_no_cost_of_the_negative():
    assert costs_of(matrix_counts([[3, 0, 4], [0, 1, 2]]), parameters(costs=(7.0, 5.0))) == {("1",): 1.4}


def test_models_of_a_batch_have_their_own_costs_and_positive_class():
    p = [parameters(costs=(10.0, 1.0)), parameters(costs=(10.0, 1.0), positive=0)]
    outcome = expected_cost(Context(batch([matrix_counts(RARE)] * 2), p))
    assert outcome.value.tolist() == [[pytest.approx(0.05)], [pytest.approx(0.302)]]
    assert [list(values(outcome, model)) for model in p] == [[("1",)], [("0",)]]
    assert outcome.low_support.tolist() == [[True], [False]]


def test_multilabel_costs_are_summed_over_the_labels():
    true = [[1, 0, 1], [0, 1, 1], [0, 0, 0], [1, 1, 0]]
    decided = [[1, 1, 0], [0, 1, 0], [0, 0, 1], [0, 1, 0]]
    got = costs_of(multilabel_counts(true, decided), parameters(3, task="multilabel", costs=(8.0, 1.0)))
    assert got == {("0",): 2, ("1",): 0.25, ("2",): 4.25, ("",): 6.5}


def test_multiclass_costs_are_by_the_matrix():
    confusion = np.random.default_rng(2).integers(0, 9, (3, 4))
    cost = np.hstack([MATRIX, [[4], [3], [9]]])  # none of the classes: the most of the row
    got = costs_of(matrix_counts(confusion), parameters(3, costs=MATRIX))
    assert got == {("",): pytest.approx((cost * confusion).sum() / confusion.sum())}


def test_models_of_a_batch_have_their_own_matrix():
    counts = matrix_counts([[1, 2, 0], [0, 1, 0], [0, 0, 1]])
    doubled = tuple(tuple(2 * cost for cost in row) for row in MATRIX)
    p = [parameters(3, costs=costs) for costs in (MATRIX, doubled)]
    assert expected_cost(Context(batch([counts] * 2), p)).value.tolist() == [[0.4], [0.8]]


@pytest.mark.parametrize("p", [parameters(costs=None), parameters(3)])
def test_no_costs_no_values(p):
    outcome = expected_cost(Context(matrix_counts(np.eye(len(p.classes), dtype=int)), [p]))
    assert values(outcome, p) == {}


def test_no_labels_no_cost():
    counts = matrix_counts(np.zeros((2, 2), int))
    outcome = expected_cost(Context(counts, [parameters()]))
    assert REASONS[outcome.reason.item()] == "no_events"
    unlabeled = replace(counts, events=torch.tensor([3]))
    assert REASONS[expected_cost(Context(unlabeled, [parameters()])).reason.item()] == "no_labels"
