"""The order of decisions: nothing overtakes a mark whose windows are still being evaluated."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from monitor.deciding import Deciding, at_once
from monitor.evaluation import Evaluation
from tests.support.alerting import DRIFT, RULES, START, Later, Reading, configured, happened, log_of, stream

BOTH = {name: RULES[name] for name in ("Recall", "Accuracy")}
VALUES = stream(*DRIFT)


def seconds(time: int | None) -> float | None:
    return None if time is None else round(time / 1e6 - START, 3)


@pytest.fixture(scope="module")
def expected() -> Reading:
    reading = Reading(configured(BOTH))
    reading.read_on(*VALUES)
    assert [name for name, *_ in happened(reading.transitions)] == ["Recall", "Accuracy"] * 2
    return reading


def test_nothing_is_decided_while_windows_are_evaluated(expected: Reading) -> None:
    later = Later()
    reading = Reading(configured(BOTH), later)
    deciding = reading.deciding
    reading.read_on(*VALUES[:200])
    assert deciding.waits
    assert deciding.until is None
    assert seconds(reading.alerting.decided) == 10, "the first mark, and no event after it"
    reading.read_on(*VALUES[200:])
    reading.decide()
    assert len(later) == 1
    assert reading.transitions == []
    while later.finish():
        reading.decide()
    assert reading.transitions == expected.transitions
    assert not deciding.waits
    assert deciding.until == reading.pipeline.state.clocks.frontier


def test_windows_are_those_of_the_mark_however_late_they_are_evaluated(expected: Reading) -> None:
    """What was read meanwhile, and settled for what is shown, is not in them; nothing is missing either."""
    later = Later()
    reading = Reading(configured(BOTH), later)
    for i in range(0, len(VALUES), 50):
        reading.read_on(*VALUES[i : i + 50])
        reading.evaluate()
        if i % 150 == 0:
            later.finish()
    reading.decide()
    while later.finish():
        reading.decide()
    assert reading.transitions == expected.transitions


def test_without_windows_nobody_evaluates() -> None:
    def never(_: Any) -> Any:
        raise AssertionError("something is evaluated")

    reading = Reading(configured({"Recall": {**RULES["Recall"], "undefined_for": "1m"}}), never)
    reading.read_on(*VALUES)
    assert ("Recall", "firing") in [(name, change) for name, change, _ in happened(reading.transitions)]
    assert seconds(reading.alerting.mark) == 460


@pytest.mark.parametrize(
    ("segment", "found"), [("", {""}), ("region=*", {"", "region=eu", "region=us"})], ids=["all", "segments"]
)
def test_only_windows_metrics_and_segments_of_rules_are_evaluated(segment: str, found: set[str]) -> None:
    seen: list[Evaluation] = []

    def run(evaluate: Any) -> Any:
        done = at_once(evaluate)
        seen.append(done.result())
        return done

    accuracy = RULES["Accuracy"] | ({"segment": segment} if segment else {})
    reading = Reading(configured(BOTH | {"Accuracy": accuracy}), run)
    reading.read_on(*VALUES[:60])
    windows = [window for evaluation in seen for window in evaluation.report.windows]
    assert {window.window for window in windows} == {"last_50"}
    assert {value.name for window in windows for value in window.values} == {"classifier_accuracy"}
    assert {window.segment for window in windows} == found


def test_a_mark_without_new_events_is_not_looked_at() -> None:
    marks: list[float | None] = []
    reading = Reading(configured(BOTH))

    def run(evaluate: Any) -> Any:
        done = at_once(evaluate)
        marks.append(seconds(done.result().report.frontier))
        return done

    reading = Reading(configured(BOTH), run)
    for value in [*VALUES[:12], *stream((3, 1.0), start=100), *stream((9, 1.0), start=300)]:
        reading.read_on(value)
    assert len(marks) == 3, "10, 20 and 110"
    assert seconds(reading.alerting.mark) == 110


def test_a_failing_evaluation_stops_nothing_else(
    expected: Reading, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    reading = Reading(configured(BOTH))

    def failing(_: object) -> Evaluation:
        raise RuntimeError("out of order")

    monkeypatch.setattr(reading.pipeline, "evaluate", failing)
    with caplog.at_level(logging.ERROR):
        reading.read_on(*VALUES[:300])
    monkeypatch.undo()
    assert reading.deciding.failed == 29
    assert {record.message for record in caplog.records} == {
        "the windows that alerts look at could not be evaluated"
    }
    reading.read_on(*VALUES[300:])
    recall = [t for t in expected.transitions if t.key.alert == "Recall"]
    assert [t for t in reading.transitions if t.key.alert == "Recall"] == recall


def test_before_the_first_event_and_without_rules_there_is_nothing_to_decide() -> None:
    reading = Reading(configured(BOTH))
    assert reading.decide() == []
    plain = Reading(configured({}))
    plain.read_all(log_of(VALUES[:50]))
    assert plain.pipeline.alerting is None
    assert plain.transitions == []
    assert Deciding(plain.pipeline).until is None
