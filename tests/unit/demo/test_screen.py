from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.console import Console

from monitor.demo.readings import RECALL, Look, Reading
from monitor.demo.screen import Situation, conclusion, line, screen, verdict


def look(value, lower, upper):
    return Look(
        consumed=5000, rejected=7, lag=3, complete=True, readings={RECALL: Reading(value, lower, upper)}
    )


GOOD, BAD = look(0.9, 0.86, 0.93), look(0.6, 0.55, 0.65)
HEALTHY = Situation("http://127.0.0.1:9464/", "127.0.0.1:1", "/x/monitor.yaml", 9, GOOD, elapsed=4, rate=300)
WRONG = replace(HEALTHY, before=GOOD, now=BAD, elapsed=14)


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


def test_the_demo_succeeds_only_where_the_damage_shows():
    seen, sentence = conclusion(WRONG)
    assert seen
    assert "fell: 0.900 [0.860, 0.930] before the change, 0.600 [0.550, 0.650] now" in sentence
    assert not conclusion(replace(WRONG, now=GOOD))[0]
    assert not conclusion(replace(WRONG, before=None))[0]


def test_the_screen_fits_a_small_terminal_and_says_everything():
    for at in (HEALTHY, WRONG):
        console = Console(file=io.StringIO(), width=80, height=24)
        console.print(screen(at))
        lines = console.file.getvalue().splitlines()
        assert len(lines) <= 22
        text = " ".join(" ".join(lines).split())
        assert at.page in text and at.broker in text and at.config in text
        assert "300/s, lag 3, rejected 7" in text
        assert ("healthy; goes wrong in 5 s" if at.before is None else "WRONG for 5 s") in text


def test_a_line_says_phase_counters_and_recall():
    assert line(WRONG) == (
        "  14 s  WRONG for 5 s; 300/s, lag 3, rejected 7; Recall of malignant 0.600 [0.550, 0.650]"
    )
