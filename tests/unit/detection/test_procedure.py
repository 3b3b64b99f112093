"""What a detector is told, and what it remembers."""

from __future__ import annotations

import numpy as np
import pytest

from monitor.detection import Procedure, Statistic, calibration, proportion_floor, run


@pytest.mark.parametrize("threshold", [1.0, 0.0, -5.0, float("nan"), float("inf")])
def test_a_threshold_that_bounds_nothing_is_refused(threshold):
    with pytest.raises(ValueError, match="threshold must lie between 1 and inf"):
        proportion_floor(0.8, threshold)
    with pytest.raises(ValueError, match="threshold must lie between 1 and inf"):
        calibration(0.1, 1.1, threshold)


def test_what_can_be_raised_can_be_cleared():
    whole = calibration(0.1, 1.1, 1e5)
    with pytest.raises(ValueError, match="nothing clears the directions \\['up'\\]"):
        Procedure(whole.raising, {k: v for k, v in whole.clearing.items() if k != "up"}, 1e5)


def test_the_first_of_equal_directions_wins():
    assert calibration(0.1, 1.1, 1e5).winner(np.ones(12)) == "up"
    assert calibration(0.1, 1.1, 1e5).winner(np.arange(12.0)) == "underconfident"


@pytest.mark.parametrize("firing", [False, True])
def test_a_statistic_comes_back_from_its_tree(firing):
    detector = calibration(0.1, 1.1, 1e5)
    fresh = Statistic.fresh(detector, firing=firing, direction="down" if firing else "")
    (before,), _ = run([detector], [fresh], [np.array([[1.0, 1], [-1.0, 0], [0.3, 1]])])
    after = Statistic.from_tree(before.tree(), detector)
    assert after.wealth.tolist() == before.wealth.tolist()
    assert (after.firing, after.direction, after.observations) == (firing, fresh.direction, 3)
    assert after.value(detector) == before.value(detector) > 0


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"wealth": np.zeros(6)}, "6 components"),
        ({"direction": "up"}, "no direction 'up' here"),
        ({"firing": True, "direction": "sideways"}, "no direction 'sideways' here"),
        ({"wealth": np.full(12, np.nan)}, "not below 0 and not infinite"),
        ({"wealth": np.full(12, -1.0)}, "not below 0 and not infinite"),
    ],
)
def test_the_tree_of_another_procedure_is_refused(change, reason):
    detector = calibration(0.1, 1.1, 1e5)
    with pytest.raises(ValueError, match=reason):
        Statistic.from_tree(Statistic.fresh(detector).tree() | change, detector)
