"""Reports from their objects: the same tables and the same objects again."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from monitor.report import WindowReport
from monitor.report_csv import report_csv
from monitor.report_json import report_object
from monitor.report_parse import window_report
from tests.support.reports import empty_window, example, multilabel_window

WINDOWS = [*example().windows, empty_window(), multilabel_window()]


def objects(*windows: WindowReport) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(json.dumps(report_object(example(), windows)))["reports"]
    return found


@pytest.mark.parametrize("window", WINDOWS, ids=lambda w: f"{w.model} {w.window} {w.segment}")
def test_a_window_comes_back_from_its_object(window: WindowReport) -> None:
    [found] = objects(window)
    parsed = window_report(found)
    assert parsed == replace(window, curves=None, costs=None)
    assert report_csv([parsed]) == report_csv([window])
    assert objects(parsed) == [found]
