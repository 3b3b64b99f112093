from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import top_k_accuracy_score

from monitor.metrics.context import Context
from monitor.metrics.outcome import REASONS
from monitor.metrics.top_k import top_k_accuracy
from tests.support.counts import batch, multiclass_counts, parameters, values


def reasons(outcome) -> list[list[str]]:
    return [[REASONS[code] for code in row] for row in outcome.reason.tolist()]


def test_scikit_learn_agrees():
    random = np.random.default_rng(5)
    y_true, score = random.integers(0, 5, 200), random.dirichlet(np.ones(5), 200)
    counts = multiclass_counts(y_true, score, n_classes=5, top_k=(1, 3))
    p = parameters(5, top_k=(1, 3))
    outcome = top_k_accuracy(Context(counts, [p]))
    expected = [top_k_accuracy_score(y_true, score, k=k, labels=range(5)) for k in (1, 3)]
    assert list(values(outcome, p)) == [("1",), ("3",)]
    assert outcome.value[0].tolist() == pytest.approx(expected, abs=1e-9)
    assert outcome.denominator.tolist() == outcome.support.tolist() == [[200, 200]]
    assert outcome.numerator[0].tolist() == pytest.approx([200 * share for share in expected])
    assert outcome.interval.method == "wilson"


def test_ties_count_by_their_chance():
    counts = multiclass_counts([0, 1, 2, 3], np.full((4, 4), 0.25), n_classes=4, top_k=(1, 2))
    outcome = top_k_accuracy(Context(counts, [parameters(4, top_k=(1, 2))]))
    assert outcome.value.tolist() == [[0.25, 0.5]]


def test_models_of_a_batch_have_their_own_k():
    y_true, score = [0, 1], np.array([[0.5, 0.3, 0.2], [0.5, 0.3, 0.2]])
    ks = [(1, 2), (2, 3)]
    outcome = top_k_accuracy(
        Context(
            batch([multiclass_counts(y_true, score, n_classes=3, top_k=k) for k in ks]),
            [parameters(3, top_k=k) for k in ks],
        )
    )
    assert outcome.value[:, 0].tolist() == [0.5, 1]
    assert reasons(outcome) == [["", ""], ["", "k_not_below_classes"]]


def test_events_without_scores_do_not_count():
    score = np.array([[0.5, 0.3, 0.2], [np.nan] * 3])
    counts = multiclass_counts([0, 1], score, [0, 0], n_classes=3, top_k=(1,))
    outcome = top_k_accuracy(Context(counts, [parameters(3, top_k=(1,))]))
    assert outcome.value.tolist() == [[1]]
    assert outcome.support.tolist() == [[1]]
    without = multiclass_counts([0, 1], np.full((2, 3), np.nan), [0, 0], n_classes=3, top_k=(1,))
    assert reasons(top_k_accuracy(Context(without, [parameters(3, top_k=(1,))]))) == [["no_scores"]]


def test_no_k_no_values():
    counts = multiclass_counts([0], np.eye(3)[[0]], n_classes=3)
    assert values(top_k_accuracy(Context(counts, [parameters(3)])), parameters(3)) == {}
