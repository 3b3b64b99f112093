"""For whom a stored reference is good, and for which detectors."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from monitor.baseline import calibration_map, check_fit
from monitor.detection import CalibrationMap
from monitor.errors import ConfigurationError
from tests.support.baselines import SPEC, example


def test_the_model_that_it_was_made_of_fits() -> None:
    check_fit(example(), "reference", "fraud", SPEC)
    check_fit(example(), "reference", "*", replace(SPEC, name="*", segments=("region",), top_k=(1,)))


def test_another_model_does_not() -> None:
    with pytest.raises(
        ConfigurationError, match=r"^baselines\.reference: was made of model 'fraud', not of 'x'"
    ):
        check_fit(example(), "reference", "x", SPEC)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"classes": ("ok", "fraud")}, r"another classes \(classes: legit, fraud then, ok, fraud now\)"),
        ({"thresholds": (0.7,)}, r"another threshold \(threshold: 0.5 then, 0.7 now\)"),
        ({"positive": 0, "scores": "logit"}, r"another positive_class, scores \(positive_class: fraud then"),
    ],
)
def test_a_model_that_is_read_in_another_way_does_not(change: dict[str, Any], message: str) -> None:
    with pytest.raises(
        ConfigurationError, match=rf"^baselines\.reference: was made with {message}"
    ) as caught:
        check_fit(example(), "reference", "fraud", replace(SPEC, **change))
    assert str(caught.value).endswith("make it again with `monitor baseline`")


def test_the_map_is_that_of_the_stored_groups() -> None:
    baseline = example()
    found = calibration_map(baseline, "reference", "fraud")
    expected = CalibrationMap.fit(*baseline.groups("fraud"))
    assert np.array_equal(found.rates, expected.rates)
    assert found.rates[[0, -1]] == pytest.approx([100.5 / 1501, 900.5 / 1001])


def test_too_few_events_are_refused() -> None:
    groups = example().scored["fraud"]
    few = replace(example(), scored={"fraud": groups._replace(positives=groups.positives // 2)})
    with pytest.raises(ConfigurationError, match=r"^baselines\.reference: a calibration map needs 1000"):
        calibration_map(few, "reference", "fraud")


def test_a_class_without_scores_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="has no scores of class 'legit', only of 'fraud'"):
        calibration_map(example(), "reference", "legit")
