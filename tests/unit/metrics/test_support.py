from __future__ import annotations

import numpy as np
import pytest

from monitor.metrics import support
from monitor.metrics.context import Context
from monitor.metrics.outcome import REASONS
from tests.support.counts import batch, binary_counts, matrix_counts, multilabel_counts, parameters, values

NAN = float("nan")


def context_of(matrix) -> Context:
    return Context(matrix_counts(matrix), [parameters(len(matrix))])


def read(metric, context) -> dict[tuple[str, ...], float]:
    return values(metric(context), context.parameters[0])


def test_unlabeled_events_count_where_no_label_is_needed():
    # Two labeled events, two unlabeled ones, one of them without a score.
    counts = binary_counts([0, 1, -1, -1], [0.25, 0.75, 0.5, NAN], [0, 1, 1, -1])
    context = Context(counts, [parameters()])
    assert read(support.events, context) == {(): 4}
    assert read(support.label_coverage, context) == {(): 0.5}
    assert read(support.predicted_rate, context) == {("0",): 0.25, ("1",): 0.5}
    assert read(support.score_mean, context) == {("1",): 0.5}
    assert read(support.class_support, context) == {("0",): 1, ("1",): 1}


def test_rates_of_labels_are_shares_of_events():
    true = [[1, 1, 0], [1, 0, 0], [0, 0, 0], [-1, -1, -1]]
    decided = [[1, 1, 0], [1, 1, 0], [0, 0, 0], [1, 1, 0]]
    context = Context(multilabel_counts(true, decided), [parameters(3, task="multilabel")])
    assert read(support.predicted_rate, context) == {("0",): 0.75, ("1",): 0.75, ("2",): 0}
    assert read(support.score_mean, context) == {("0",): 0.75, ("1",): 0.75, ("2",): 0}
    assert read(support.class_support, context) == {("0",): 2, ("1",): 1, ("2",): 0}
    assert read(support.prevalence, context) == pytest.approx({("0",): 2 / 3, ("1",): 1 / 3, ("2",): 0})
    assert read(support.imbalance_ratio, context) == {("0",): 2, ("1",): 0.5, ("2",): 0}
    assert read(support.label_coverage, context) == {(): 0.75}
    assert read(support.classes_defined, context) == {("macro",): 2, ("weighted",): 2}


def test_label_coverage_is_silent_where_every_event_is_labeled():
    outcome = support.label_coverage(context_of([[3, 0], [0, 1]]))
    assert REASONS[outcome.reason.item()] == "no_unlabeled_events"


def test_prevalence_and_imbalance():
    context = context_of([[30, 0], [0, 10]])
    assert read(support.prevalence, context) == {("0",): 0.75, ("1",): 0.25}
    assert read(support.imbalance_ratio, context) == {("0",): 3, ("1",): pytest.approx(1 / 3)}


def test_imbalance_needs_another_class():
    outcome = support.imbalance_ratio(context_of([[0, 0], [0, 10]]))
    assert [REASONS[code] for code in outcome.reason[0].tolist()] == ["", "no_negatives"]
    assert outcome.value[0, 0] == 0


@pytest.mark.parametrize(
    ("task", "thresholds"), [("binary", [(0.9,), (0.2,)]), ("multilabel", [(0.9, 0.5), (0.2, 0.1)])]
)
def test_threshold_is_the_models_own(task, thresholds):
    p = [parameters(task=task, thresholds=of_model) for of_model in thresholds]
    counts = binary_counts([], []) if task == "binary" else multilabel_counts([[1, 0]], [[0.7, 0.1]])
    outcome = support.threshold(Context(batch([counts] * 2), p))
    assert outcome.value.tolist() == [list(of_model) for of_model in thresholds]
    assert list(values(outcome, p[0])) == ([("1",)] if task == "binary" else [("0",), ("1",)])


@pytest.mark.parametrize(
    ("misses", "hits", "low"),
    [
        (0, 19, 1),  # few
        (0, 20, 0),  # Wilson's interval is [.839, 1]
        (10, 10, 1),  # wide
        (60, 60, 0),
        (0, 0, 1),  # undefined
    ],
)
def test_low_support(misses, hits, low):
    assert read(support.low_support, context_of([[100, 0], [misses, hits]]))["1",] == low


def test_classes_defined_are_those_with_events():
    context = context_of([[3, 0, 1], [0, 2, 0], [0, 0, 0]])
    assert read(support.classes_defined, context) == {("macro",): 2, ("weighted",): 2}


def test_confusions_name_other():
    context = Context(binary_counts([0, 1, 1], [0.1, 0.2, 0.9], [0, -1, 1]), [parameters()])
    cells = read(support.window_confusions, context)
    assert cells["1", "other"] == cells["0", "0"] == cells["1", "1"] == 1
    assert np.sum(list(cells.values())) == 3
    assert support.window_confusions(context).support.tolist() == [[1] * 3 + [2] * 3]


def test_confusions_of_labels_are_two_by_two():
    true, decided = [[1, 0], [1, 1], [0, 0]], [[1, 1], [0, 1], [0, 0]]
    context = Context(multilabel_counts(true, decided), [parameters(2, task="multilabel")])
    cells = read(support.window_confusions, context)
    assert cells == {
        ("0", "0", "0"): 1,
        ("0", "0", "1"): 0,
        ("0", "1", "0"): 1,
        ("0", "1", "1"): 1,
        ("1", "0", "0"): 1,
        ("1", "0", "1"): 1,
        ("1", "1", "0"): 0,
        ("1", "1", "1"): 1,
    }
