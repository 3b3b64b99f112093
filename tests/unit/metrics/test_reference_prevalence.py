from __future__ import annotations

import numpy as np
import pytest
import torch
from sklearn.metrics import average_precision_score

from monitor.metrics.context import Context
from monitor.metrics.outcome import REASONS
from monitor.metrics.reference_prevalence import (
    average_precision_at_reference_prevalence,
    precision_at_reference_prevalence,
)
from tests.support.counts import (
    batch,
    binary_counts,
    matrix_counts,
    multiclass_counts,
    multilabel_counts,
    parameters,
)
from tests.support.recipes import tied_recipe


def words(outcome) -> list[list[str]]:
    return [[REASONS[code] for code in row] for row in outcome.reason.tolist()]


def weighted(y_true, score, pi) -> float:
    share = np.mean(y_true)
    weights = np.where(np.asarray(y_true) == 1, pi / share, (1 - pi) / (1 - share))
    return average_precision_score(y_true, score, sample_weight=weights)


def test_precision_by_its_formula():
    # 80 of 100 found, 30 of 1000 false alarms.
    context = Context(matrix_counts([[970, 30], [20, 80]]), [parameters(reference_prevalence=(0.01,))])
    outcome = precision_at_reference_prevalence(context)
    assert outcome.value.item() == pytest.approx(0.008 / (0.008 + 0.99 * 0.03), abs=1e-15)
    assert outcome.interval is None


def test_own_prevalence_changes_nothing():
    y_true, score = tied_recipe()
    context = Context(binary_counts(y_true, score), [parameters(reference_prevalence=(79 / 200,))])
    assert precision_at_reference_prevalence(context).value.item() == pytest.approx(54 / 65, abs=1e-12)
    assert average_precision_at_reference_prevalence(context).value.item() == pytest.approx(
        0.835424479125, abs=1e-12
    )


@pytest.mark.parametrize("pi", [0.001, 0.2, 0.9])
def test_average_precision_is_that_of_weighted_events(pi):
    y_true, score = tied_recipe()
    context = Context(binary_counts(y_true, score), [parameters(reference_prevalence=(pi,))])
    found = average_precision_at_reference_prevalence(context)
    assert found.value.item() == pytest.approx(weighted(y_true, score, pi), abs=1e-12)
    assert found.resolution_error.item() == 0


@pytest.mark.parametrize("bins", [1, 5, 20])
def test_unbinned_average_precision_is_within_the_bound(bins):
    random = np.random.default_rng(0)
    y_true = (random.random(300) < 0.2).astype(int)
    score = random.normal(0.4 + 0.1 * y_true, 0.2).clip(0, 1)
    context = Context(binary_counts(y_true, score, bins=bins), [parameters(reference_prevalence=(0.02,))])
    found = average_precision_at_reference_prevalence(context)
    assert 0 < abs(found.value.item() - weighted(y_true, score, 0.02)) <= found.resolution_error.item()


def test_models_have_their_own_classes_and_prevalences():
    cases = [([0, 0, 1, 1, 1], [0.1, 0.6, 0.4, 0.7, 0.9]), ([1, 0, 0, 1], [0.4, 0.2, 0.8, 0.9])]
    counts = [binary_counts(*case) for case in cases]
    models = [parameters(reference_prevalence=(0.1,)), parameters(reference_prevalence=(0.3,))]
    flipped = parameters(reference_prevalence=(0.25,), positive=0)
    together = Context(batch([*counts, counts[0]]), [*models, flipped])
    precision = precision_at_reference_prevalence(together)
    expected = [
        0.1 * 2 / 3 / (0.1 * 2 / 3 + 0.9 / 2),
        0.3 / 2 / (0.3 / 2 + 0.7 / 2),
        0.25 / 2 / (0.25 / 2 + 0.75 / 3),
    ]
    assert precision.value[:, 0].tolist() == pytest.approx(expected, abs=1e-15)
    for row, model in enumerate(models):
        alone = average_precision_at_reference_prevalence(Context(counts[row], [model]))
        of_batch = average_precision_at_reference_prevalence(together)
        assert torch.allclose(of_batch.value[row], alone.value[0], rtol=0, atol=1e-15)


@pytest.mark.parametrize("task", ["multiclass", "multilabel"])
def test_each_class_against_the_rest(task):
    random = np.random.default_rng(2)
    score = random.dirichlet(np.ones(3), 200)
    if task == "multiclass":
        y_true = random.integers(0, 3, 200)
        counts, true = multiclass_counts(y_true, score, n_classes=3), np.eye(3)[y_true]
        decided = np.eye(3)[score.argmax(1)]
    else:
        true = random.random((200, 3)) < score
        counts, decided = multilabel_counts(true, score), score >= 0.5
    pis = (0.1, 0.02, 0.6)
    context = Context(counts, [parameters(3, task=task, reference_prevalence=pis)])
    precision = precision_at_reference_prevalence(context)
    average = average_precision_at_reference_prevalence(context)
    for c, pi in enumerate(pis):
        own = true[:, c] == 1
        tpr, fpr = decided[own, c].mean(), decided[~own, c].mean()
        expected = pi * tpr / (pi * tpr + (1 - pi) * fpr)
        assert precision.value[0, c].item() == pytest.approx(expected, abs=1e-12)
        expected = weighted(own.astype(int), score[:, c], pi)
        assert average.value[0, c].item() == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("y_true", "score", "precision", "average"),
    [
        ([], [], "no_events", "no_events"),
        ([-1], [0.5], "no_labels", "no_labels"),
        ([0, 0], [0.9, 0.1], "no_positives", "no_positives"),
        ([1, 1], [0.9, 0.1], "no_negatives", "no_negatives"),
        ([0, 1], [0.1, 0.2], "never_predicted", ""),
        ([0, 1], [np.nan, np.nan], "never_predicted", "no_scores"),
    ],
)
def test_reasons(y_true, score, precision, average):
    context = Context(binary_counts(y_true, score), [parameters(reference_prevalence=(0.1,))])
    assert words(precision_at_reference_prevalence(context)) == [[precision]]
    assert words(average_precision_at_reference_prevalence(context)) == [[average]]


def test_without_a_prevalence_there_is_nothing():
    context = Context(binary_counts([0, 1], [0.1, 0.9]), [parameters()])
    for metric in (precision_at_reference_prevalence, average_precision_at_reference_prevalence):
        outcome = metric(context)
        assert outcome.value.shape == (1, 0)
