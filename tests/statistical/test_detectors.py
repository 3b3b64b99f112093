"""Detectors raise as rarely as they promise, and as soon as docs/detectors.md says."""

from __future__ import annotations

import pytest

from tests.statistical.detectors import THRESHOLDS, cases, delays, false_alarms, first_alarm

BOUNDARIES = [
    ("recall, floor 0.75", "recall 0.75"),
    *(
        (f"calibration, prevalence {prevalence}", f"{which} tolerated")
        for prevalence in ("0.33", "0.029")
        for which in ("most", "least", "flattest", "steepest")
    ),
    ("calibration, prevalence 0.33", "shift +0.1"),
    ("calibration, prevalence 0.33", "shift -0.1"),
    ("calibration, prevalence 0.33", "healthy"),
    ("paired with the champion, margin 0.02", "recall 0.78"),
    ("unpaired, margin 0.02", "recall 0.78"),
]

PARTIAL_AUC = "partial AUC 0.831, 20,000 negatives"

RECALL, CALIBRATION, PAIRED = (
    "recall, floor 0.75",
    "calibration, prevalence 0.33",
    "paired with the champion, margin 0.02",
)
MEDIANS = {
    (RECALL, "recall 0.6"): {1e3: 54, 1e4: 100, 1e5: 145},
    (RECALL, "recall 0.7"): {1e3: 202, 1e4: 530, 1e5: 930},
    (RECALL, "recall 0.72"): {1e3: 310, 1e4: 1050, 1e5: 2100},
    (CALIBRATION, "shift +0.5"): {1e4: 368, 1e5: 576},
    (CALIBRATION, "shift -0.5"): {1e4: 375, 1e5: 579},
    (CALIBRATION, "temperature 1.5"): {1e4: 375, 1e5: 643},
    (CALIBRATION, "shift +0.2"): {1e4: 3692, 1e5: 7305},
    (PAIRED, "recall 0.6"): {1e4: 75, 1e5: 110},
    (PAIRED, "recall 0.72"): {1e4: 288, 1e5: 485},
    (PAIRED, "recall 0.76"): {1e4: 1056, 1e5: 2414},
}
"""Observations from a change to the alarm, found before by independent code with the formulas alone."""

DIRECTIONS = {
    (CALIBRATION, "shift +0.5"): "up",
    (CALIBRATION, "shift -0.5"): "down",
    (CALIBRATION, "temperature 1.5"): "overconfident",
    (CALIBRATION, "shift +0.2"): "up",
}
"""That must win in nine of ten runs."""

WITHIN = {RECALL: 0.15, CALIBRATION: 0.35, PAIRED: 0.35}

CHANGES = [(*change, threshold) for change, medians in MEDIANS.items() for threshold in medians]


@pytest.mark.parametrize(("title", "truth"), BOUNDARIES)
def test_false_alarms_are_as_rare_as_promised_at_a_low_threshold(title, truth):
    assert false_alarms(cases()[title], truth, 1e3, 2e5).allowed(1e3)


def test_the_first_false_alarm_of_partial_auc_is_as_late_as_promised_at_a_low_threshold():
    mean, error = first_alarm(cases()[PARTIAL_AUC], "at the floor", 1e3, 200)
    assert mean + 3 * error >= 1e3


@pytest.mark.parametrize(("title", "change", "threshold"), [case for case in CHANGES if case[2] == 1e4])
def test_a_change_is_raised_about_as_soon_as_known(title, change, threshold):
    """Few runs: half as far again from the known median as the long form allows."""
    found = delays(cases()[title], change, threshold, 100 if title == CALIBRATION else 400)
    assert found.median == pytest.approx(MEDIANS[title, change][threshold], rel=1.5 * WITHIN[title])
    direction = DIRECTIONS.get((title, change), "")
    assert found.directions[direction] >= 0.9 * sum(found.directions.values())


@pytest.mark.slow
@pytest.mark.parametrize("threshold", THRESHOLDS)
@pytest.mark.parametrize(("title", "truth"), BOUNDARIES)
def test_false_alarms_are_as_rare_as_promised(title, truth, threshold):
    times = 50 if title.startswith("calibration") else 200
    assert false_alarms(cases()[title], truth, threshold, max(2e6, times * threshold)).allowed(threshold)


@pytest.mark.slow
@pytest.mark.parametrize(("title", "change", "threshold"), CHANGES)
def test_a_change_is_raised_as_soon_as_known(title, change, threshold):
    found = delays(cases()[title], change, threshold, 2_000)
    assert found.median == pytest.approx(MEDIANS[title, change][threshold], rel=WITHIN[title])


@pytest.mark.slow
@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_the_first_false_alarm_of_partial_auc_is_as_late_as_promised(threshold):
    mean, error = first_alarm(cases()[PARTIAL_AUC], "at the floor", threshold, 100)
    assert mean + 3 * error >= threshold
