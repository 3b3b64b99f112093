"""What reports suggest: from the curves of a window, by scored class, in JSON and text."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest
from scipy.special import expit
from scipy.special import logit as logit_of

from monitor.metrics.context import Context
from monitor.metrics.curves import COST_RATIOS, CRITERIA, Curves, curves
from monitor.recalibration import apply, suggest, window_suggestion, window_suggestions
from monitor.recalibration.of_report import MOST_CLASSES, SEED
from monitor.recalibration.suggestion import Suggestion
from monitor.report import WindowCurves, WindowReport
from monitor.report_json import report_object
from monitor.text_report import classification_report
from tests.support.counts import binary_counts, parameters
from tests.support.reports import report, window_report


def sample(n: int = 4000, temperature: float = 1.5, decimals: int = 7) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    p = random.beta(1, 2, n)
    y = (random.random(n) < expit(logit_of(p) / temperature)).astype(int)
    return y, p.clip(1e-6, 1 - 1e-6).round(decimals).astype(np.float32).astype(float)


def window(y: np.ndarray, p: np.ndarray, bins: int | None = None) -> WindowReport:
    """Return a window with the curves of a binary sample."""
    counts = binary_counts(y, p) if bins is None else binary_counts(y, p, bins=bins)
    found = curves(Context(counts, [parameters()]))
    arrays = {field.name: getattr(found, field.name)[0].numpy() for field in fields(Curves)}
    return replace(window_report(), curves=WindowCurves(**arrays, cost_ratios=COST_RATIOS, criteria=CRITERIA))


def test_few_scores_are_known_exactly() -> None:
    y, p = sample(decimals=1)
    p = p.clip(0.1, 0.9).astype(np.float32).astype(float)
    scores, place = np.unique(p, return_inverse=True)
    positives, events = np.bincount(place, y).astype(np.int64), np.bincount(place)
    of = window(y, p)
    exact = suggest(scores, positives, events, SEED).plain()
    found = window_suggestion(of, of.scored[0])
    assert found is not None and exact["map"] is not None
    assert (found["map"], found["formula"]) == (exact["map"], exact["formula"])
    assert found["gain"] == pytest.approx(exact["gain"])


def test_the_hundred_groups_of_many_scores_will_do() -> None:
    y, p = sample(20_000, decimals=3)
    of = window(y, p)
    found = window_suggestion(of, of.scored[0])
    assert found is not None and found["map"] is not None
    at = np.linspace(0.01, 0.99, 99)
    mapped = apply(Suggestion(found["map"], found["parameters"]), at)
    assert mapped == pytest.approx(expit(logit_of(at) / 1.5), abs=0.02)


def test_grouping_alone_is_no_miscalibration() -> None:
    of = window(*sample(100_000, temperature=1.0, decimals=3))
    found = window_suggestion(of, of.scored[0])
    assert found is not None and found["map"] is None


def test_other_classes_segments_and_missing_curves_have_none() -> None:
    of = window(*sample())
    assert window_suggestion(of, "no such class") is None
    assert window_suggestion(replace(of, curves=None), of.scored[0]) is None
    assert window_suggestions(replace(of, curves=None)) == {}


def test_only_the_classes_of_most_events_are_looked_at() -> None:
    names = tuple(f"c{n:02}" for n in range(MOST_CLASSES + 5))
    of = window(*sample(200))
    assert of.curves is not None
    # One row of curves for all: they are not what is tested.
    many = WindowCurves(
        **{
            field.name: np.repeat(getattr(of.curves, field.name), len(names), 0)
            if isinstance(getattr(of.curves, field.name), np.ndarray)
            else getattr(of.curves, field.name)
            for field in fields(WindowCurves)
        }
    )
    size = len(names)
    confusion = tuple(tuple(n if n == m else 0 for m in range(size + 1)) for n in range(size))
    wide = replace(
        of, task="multiclass", classes=names, positive_class=None, confusions=(confusion,), curves=many
    )
    assert list(window_suggestions(wide)) == list(names[5:])


def test_json_and_text_carry_it() -> None:
    of = window(*sample())
    [object_] = report_object(report(of), [of], curves=True)["reports"]
    found = object_["recalibration"][of.scored[0]]
    assert found["map"] is not None and found["gain"] > 0
    assert "recalibration" not in report_object(report(of), [of])["reports"][0]
    text = classification_report(of)
    assert f"Suggested recalibration of {of.scored[0]}, {found['map']}: {found['formula']}; saves 0.0" in text


def test_none_is_said_with_its_reason_for_machines_alone() -> None:
    of = window(*sample(temperature=1.0))
    [object_] = report_object(report(of), [of], curves=True)["reports"]
    assert object_["recalibration"] == {
        of.scored[0]: {"map": None, "reason": "no map is certain to improve on the scores as they are"}
    }
    assert "recalibration" not in classification_report(of)
