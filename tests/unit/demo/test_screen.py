from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.console import Console

from monitor.demo.configuration import ALERT, BAD_VERSION, GOOD_VERSION
from monitor.demo.hook import Rollback
from monitor.demo.readings import MEASURES, Alert, Look, Reading, Window
from monitor.demo.screen import Situation, conclusion, line, screen, told, verdict
from monitor.demo.story import Story

GOOD, BAD = (
    Window(True, 115.0, dict.fromkeys(MEASURES, reading))
    for reading in (Reading(0.9, 0.86, 0.93), Reading(0.6, 0.55, 0.65))
)
LOOK = Look(
    consumed=5000,
    rejected=7,
    lag=3,
    windows={GOOD_VERSION: GOOD, BAD_VERSION: BAD},
    alerts=tuple(
        Alert(name, BAD_VERSION, "firing", "calibration is as bad as it can be; " * 6, 110.0)
        for name in (ALERT, "CalibrationDrift")
    ),
)
HEALTHY = Situation(
    "http://127.0.0.1:9464", "/tmp/x/monitor.yaml", "/tmp/x/act-token", 100, 109, 104, LOOK, rate=300
)
CHANGED = replace(HEALTHY, time=114, story=Story().change(109, LOOK))
FIRED = replace(CHANGED, story=CHANGED.story.follow(112, LOOK, None))
ROLLBACK = Rollback(113.0, ALERT, BAD_VERSION, GOOD_VERSION)
ENDED = Look(windows=LOOK.windows, alerts=(LOOK.alerts[0]._replace(state="no_data"),))
RECOVERED = replace(FIRED, story=FIRED.story.follow(119, ENDED, ROLLBACK), now=ENDED)


@pytest.mark.parametrize(
    ("now", "higher_is_better", "expected"),
    [
        (Reading(0.6, 0.55, 0.65), True, "worse"),
        (Reading(0.6, 0.55, 0.65), False, "better"),
        (Reading(0.98, 0.95, 0.99), True, "better"),
        (Reading(0.98, 0.95, 0.99), False, "worse"),
        (Reading(0.82, 0.78, 0.87), True, ""),
        (Reading(0.6), True, ""),
        (Reading(), True, ""),
    ],
)
def test_verdict_needs_intervals_apart(now, higher_is_better, expected):
    assert verdict(Reading(0.9, 0.86, 0.93), now, higher_is_better) == expected
    assert verdict(Reading(), now, higher_is_better) == ""


@pytest.mark.parametrize("at", [HEALTHY, CHANGED, FIRED, RECOVERED])
def test_the_screen_fits_a_small_terminal_and_says_everything(at):
    console = Console(file=io.StringIO(), width=80, height=24)
    console.print(screen(at))
    lines = console.file.getvalue().splitlines()
    assert len(lines) <= 23
    text = " ".join(" ".join(lines).split())
    assert at.address in text and at.config in text
    assert f"The live traffic is {at.phase}" in text
    assert f"{at.live} (live)" in text
    for each in at.story.happenings:
        assert each.what in text


def test_a_line_says_phase_counters_and_recall_of_the_live_version():
    assert line(CHANGED) == (
        "  14 s  WRONG for 5 s; 300/s, lag 3, rejected 7; "
        f"Recall of malignant by {BAD_VERSION} 0.600 [0.550, 0.650]"
    )
    assert f"by {GOOD_VERSION} 0.900" in line(RECOVERED)
    assert told(CHANGED, CHANGED.story.happenings[0]).startswith(f" 9.0 s  version {BAD_VERSION} takes over")


def test_the_conclusion_has_the_drop_and_the_recovery_or_what_is_lacking():
    assert (
        f"0.900 [0.860, 0.930] by {GOOD_VERSION}, 0.600 [0.550, 0.650] by {BAD_VERSION}, "
        "0.900 [0.860, 0.930] after the rollback." in conclusion(RECOVERED)
    )
    assert "Failed" not in conclusion(RECOVERED)
    refused = replace(FIRED, now=replace(LOOK, actions=(("refused", "somebody said no"),)))
    assert "Failed: no rollback" in conclusion(refused)
    assert "Action refused: somebody said no." in conclusion(refused)
