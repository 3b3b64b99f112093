"""Windows with too few positives, at the rate and the share of a sample."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.samples import FRAUD, IRIS, WINDOWS, binary, configured, multiclass, said

RARE = binary(1000, intercept=-7, slope=2)
BOTH = FRAUD.replace(WINDOWS, "windows: [{name: last_10k, events: 10000}, {name: 1h, duration: 1h}]")


def test_windows_that_hold_few_positives(tmp_path: Path) -> None:
    found = said(configured(tmp_path, BOTH), RARE)
    assert found["What is wrong"] == ["Nothing that these messages show."]
    assert found["Worth knowing"] == [
        "fraud: at 1.25 events/s and 0.4% fraud, windows hold few events of fraud: last_10k about 40 (at "
        "most 102), 1h about 18 (at most 46). Below 200, recall says little: 80% of 18 means ± 18 points.",
        "    fix: add {name: last_500_positives, positives: 500} to models.fraud.windows (about 200,000 "
        "events, 2 days at this rate).",
    ]
    assert found["Proposed configuration"][5:9] == [
        "    windows:",
        "    - {name: last_10k, events: 10000}",
        "    - {name: 1h, duration: 1h}",
        "    - {name: last_500_positives, positives: 500}",
    ]


def test_more_events_than_are_held(tmp_path: Path) -> None:
    found = said(configured(tmp_path, BOTH, "limits: {held_events: 50000}"), RARE)
    assert "limits.held_events is 50,000, raise it to 300,000" in found["Worth knowing"][1]


@pytest.mark.parametrize(
    "models",
    [
        FRAUD.replace("events: 10000", "events: 500000"),
        FRAUD.replace("events: 10000", "duration: 30d"),
        FRAUD.replace("}]", "}, {name: p, positives: 200}]"),
    ],
)
def test_windows_that_hold_enough(tmp_path: Path, models: str) -> None:
    found = said(configured(tmp_path, models, "limits: {held_events: 1000000}"), RARE)
    assert "Worth knowing" not in found


def test_20_messages_do_not_tell(tmp_path: Path) -> None:
    found = said(configured(tmp_path, BOTH), RARE[:20], more=5000)
    assert found["Too few messages to tell"] == [
        "fraud: whether windows hold enough events of fraud (200 or more).",
        "Look at more: --messages 1000.",
    ]


def test_a_window_below_200_events_is_small_whatever_the_share(tmp_path: Path) -> None:
    found = said(configured(tmp_path, FRAUD.replace("events: 10000", "events: 150")), binary(20))
    assert "windows hold few events of fraud: last_10k about " in found["Worth knowing"][0]


def test_without_a_rate_it_is_taken_from_event_times(tmp_path: Path) -> None:
    hour = FRAUD.replace("events: 10000", "duration: 1h")
    messages = [{**m, "timestamp": 1_764_400_000 + 30 * i} for i, m in enumerate(binary(60))]
    messages = [{**m, "timestamp": m["timestamp"] - 3600} for m in messages]
    found = said(configured(tmp_path, hour), messages, rate=0.0)
    assert "at 0.0333 events/s and " in found["Worth knowing"][0]
    assert "Worth knowing" not in said(configured(tmp_path, hour), binary(60), rate=5.0)


def test_the_rarest_of_many_classes(tmp_path: Path) -> None:
    messages = [m for m in multiclass(3000) if m["label"] != "b"] + [
        m for m in multiclass(30) if m["label"] == "b"
    ]
    found = said(configured(tmp_path, IRIS.replace("10000", "3000")), messages[-1000:])
    assert "windows hold few events of b: last_10k about " in found["Worth knowing"][0]
    assert "add {name: last_" in found["Worth knowing"][1]
    assert not any("windows" in line for line in found["Proposed configuration"])
