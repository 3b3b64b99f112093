"""The reliability diagram as series; the others are tested with the exporter."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from monitor.report import WindowCurves, WindowReport
from monitor.series import ExportOptions, Series, select_series
from tests.support.reports import example

WHOLE = ExportOptions(families=(), reliability="whole")


def with_bins(window: WindowReport, rows: int, row: int) -> WindowReport:
    """Return the window with curves that have two filled bins in one row."""
    bins = np.zeros((rows, 15, 5))
    bins[..., 1:] = np.nan
    bins[row, 0] = 10, 0.02, 0.1, 0.0, 0.2
    bins[row, 14] = 5, 0.95, 1.0, 0.5, 1.0
    curves = object.__new__(WindowCurves)
    object.__setattr__(curves, "reliability", bins)
    return replace(window, curves=curves)


def exported(window: WindowReport, options: ExportOptions = WHOLE) -> list[Series]:
    shown = replace(example(), windows=(window,))
    return [s for s in select_series(shown, (), options)[0] if "reliability" in s.family]


@pytest.fixture
def window() -> WindowReport:
    return next(each for each in example().windows if each.positive_class and not each.segment)


def test_filled_bins_of_the_positive_class(window: WindowReport) -> None:
    found = exported(with_bins(window, 1, 0))
    assert [(s.family.rpartition("y_")[2], s.labels["bin"], s.value) for s in found] == [
        ("events", "0.0", 10),
        ("mean_score", "0.0", 0.02),
        ("rate", "0.0", 0.1),
        ("events", "0.9333", 5),
        ("mean_score", "0.9333", 0.95),
        ("rate", "0.9333", 1.0),
    ]
    assert {s.labels["class"] for s in found} == {window.positive_class}


def test_of_several_classes_the_top_label(window: WindowReport) -> None:
    several = replace(window, task="multiclass", positive_class=None)
    rows = len(several.classes) + 1
    found = exported(with_bins(several, rows, rows - 1))
    assert len(found) == 6
    assert {s.labels["class"] for s in found} == {""}
    assert exported(replace(with_bins(several, rows, rows - 1), task="multilabel")) == []


def test_nothing_unless_asked_for(window: WindowReport) -> None:
    assert exported(with_bins(window, 1, 0), ExportOptions(families=())) == []
    assert exported(replace(window, curves=None)) == []
