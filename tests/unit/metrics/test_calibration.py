from __future__ import annotations

import math

import numpy as np
import pytest

from monitor.events.batch import LOSS_UNIT, PROBABILITY_UNIT
from monitor.metrics import calibration
from monitor.metrics.context import Context
from monitor.metrics.outcome import REASONS
from tests.support.counts import binary_counts, multiclass_counts, parameters, values
from tests.support.recipes import recipe, tied_recipe

# Scores are rounded to float32 first: half an ulp moves a mean squared error by up to 6e-8.
FLOAT32 = 6e-8


def context_of(y_true, y_score) -> Context:
    return Context(binary_counts(y_true, y_score), parameters())


def reasons(outcome) -> list[str]:
    return [REASONS[code] for code in outcome.reason[0].tolist()]


def test_units_are_those_of_decoded_events():
    assert calibration.SCORE_UNIT == PROBABILITY_UNIT
    assert calibration.LOSS_UNIT == LOSS_UNIT


@pytest.mark.parametrize(
    ("data", "expected", "loss"),
    [
        (recipe, (0.132679424739, 0.239354813214, 0.0630318570576), 0.40800982576),
        (tied_recipe, (0.1333, 0.239367088608, 0.0640495867769), 0.47058144946),
    ],
)
def test_reference_numbers(data, expected, loss):
    context = context_of(*data())
    brier = values(calibration.brier_score(context))
    subsets = [brier["1", subset] for subset in ("all", "positive", "negative")]
    assert subsets == pytest.approx(expected, abs=FLOAT32)
    assert values(calibration.log_loss(context))["",] == pytest.approx(loss, abs=1e-7)


def test_whole_of_a_binary_task_is_its_positive_class():
    context = context_of(*recipe())
    brier, loss = (values(f(context)) for f in (calibration.brier_score, calibration.log_loss))
    assert brier["", "all"] == brier["1", "all"]
    assert loss["",] == loss["1",]


def test_whole_of_a_multiclass_task():
    y_true = np.array([0, 1, 2, 2])
    score = np.array([[0.5, 0.25, 0.25], [0.5, 0.5, 0], [0, 0, 1], [0.25, 0.5, 0.25]])
    context = Context(multiclass_counts(y_true, score, n_classes=3), parameters(3))
    brier, loss = (values(f(context)) for f in (calibration.brier_score, calibration.log_loss))
    assert brier["", "all"] == ((np.eye(3)[y_true] - score) ** 2).sum() / 4
    assert loss["",] == pytest.approx(-np.log([0.5, 0.5, 1, 0.25]).mean(), abs=1e-7)


def test_certain_and_wrong_is_clipped():
    assert values(calibration.log_loss(context_of([1], [0.0])))["",] == pytest.approx(24 * math.log(2))


def test_one_class_is_defined_except_for_the_other_subset():
    context = context_of([1, 1], [0.5, 0.25])
    assert values(calibration.log_loss(context))["1",] == pytest.approx(1.5 * math.log(2), abs=1e-7)
    outcome = calibration.brier_score(context)
    assert values(outcome)["1", "positive"] == (0.25 + 0.5625) / 2
    assert reasons(outcome) == ["", "", "", "no_negatives"]


def test_labels_without_scores_have_a_reason():
    context = Context(binary_counts([0, 1], [np.nan, np.nan], [0, 1]), parameters())
    assert set(reasons(calibration.brier_score(context))) == {"no_scores"}
