from __future__ import annotations

import numpy as np
import pytest

from monitor.metrics import support
from monitor.metrics.context import Context
from monitor.metrics.outcome import REASONS
from tests.support.counts import binary_counts, matrix_counts, parameters, values

NAN = float("nan")


def test_unlabeled_events_count_where_no_label_is_needed():
    # Two labeled events, two unlabeled ones, one of them without a score.
    counts = binary_counts([0, 1, -1, -1], [0.25, 0.75, 0.5, NAN], [0, 1, 1, -1])
    context = Context(counts, parameters())
    assert values(support.events(context)) == {(): 4}
    assert values(support.label_coverage(context)) == {(): 0.5}
    assert values(support.predicted_rate(context)) == {("0",): 0.25, ("1",): 0.5}
    assert values(support.score_mean(context)) == {("1",): 0.5}
    assert values(support.class_support(context)) == {("0",): 1, ("1",): 1}


def test_label_coverage_is_silent_where_every_event_is_labeled():
    outcome = support.label_coverage(Context(matrix_counts([[3, 0], [0, 1]]), parameters()))
    assert REASONS[outcome.reason.item()] == "no_unlabeled_events"


def test_prevalence_and_imbalance():
    context = Context(matrix_counts([[30, 0], [0, 10]]), parameters())
    assert values(support.prevalence(context)) == {("0",): 0.75, ("1",): 0.25}
    assert values(support.imbalance_ratio(context)) == {("0",): 3, ("1",): pytest.approx(1 / 3)}


def test_imbalance_needs_another_class():
    outcome = support.imbalance_ratio(Context(matrix_counts([[0, 0], [0, 10]]), parameters()))
    assert values(outcome)["0",] == 0
    assert [REASONS[code] for code in outcome.reason[0].tolist()] == ["", "no_negatives"]


def test_threshold_is_the_configured_one():
    context = Context(binary_counts([], []), parameters(threshold=0.9))
    assert values(support.threshold(context)) == {("1",): 0.9}


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
    context = Context(matrix_counts([[100, 0], [misses, hits]]), parameters())
    assert values(support.low_support(context))["1",] == low


def test_classes_defined_are_those_with_events():
    context = Context(matrix_counts([[3, 0, 1], [0, 2, 0], [0, 0, 0]]), parameters(3))
    assert values(support.classes_defined(context)) == {("macro",): 2, ("weighted",): 2}


def test_confusions_name_other():
    context = Context(binary_counts([0, 1, 1], [0.1, 0.2, 0.9], [0, -1, 1]), parameters())
    cells = values(support.window_confusions(context))
    assert cells["1", "other"] == cells["0", "0"] == cells["1", "1"] == 1
    assert np.sum(list(cells.values())) == 3


@pytest.mark.parametrize(
    ("classes", "name"),
    [(("a", "b"), "other"), (("a", "other"), "(other)"), (("(other)", "other"), "((other))")],
)
def test_name_of_other_is_no_class(classes, name):
    assert support.other_name(classes) == name
