"""Which reports the evaluator shows, and how long bootstrap intervals stay in them."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from monitor.clock import ManualClock
from monitor.config import load_config
from monitor.evaluator import Evaluator
from monitor.history import Metric
from monitor.pipeline import Pipeline
from monitor.report import Report
from tests.support.records import RECORD_MS, batch

CONFIGURATION = """
kafka: {bootstrap_servers: [localhost:9092], topics: [t], group_id: g}
models:
  fraud: {task: binary, classes: [legit, fraud], windows: [{name: last_400, events: 400}], segments: [region]}
evaluation: {bootstrap: {replicates: 100, metrics: [recall, brier_score]}}
"""
START = RECORD_MS / 1000 - 3600


class Host:
    """What the daemon is to its evaluator."""

    def __init__(self, path: Path) -> None:
        path.write_text(CONFIGURATION)
        self.config = load_config(path, {})
        self.pipeline = self.new_pipeline()
        self.published: list[Report | None] = []
        self.stopping = False
        self.evaluator = Evaluator(
            lambda: self.pipeline,
            threading.Lock(),
            ManualClock(RECORD_MS * 1000),
            self.published.append,
            lambda: self.stopping,
        )

    def new_pipeline(self) -> Pipeline:
        return Pipeline(self.config, ["t"], ManualClock(RECORD_MS * 1000))

    def consume(self, n: int, first: int = 0) -> None:
        values = [
            {
                "timestamp": START + i,
                "label": ("legit", "fraud")[i % 2],
                "score": (i * 37 % 100) / 100,
                "segments": {"region": "eu"},
            }
            for i in range(first, first + n)
        ]
        self.pipeline.apply(self.pipeline.decode([batch(values, first)]))
        self.pipeline.advance([])

    def methods(self, window: str = "last_400", segment: str = "") -> list[str]:
        """Return the methods of the intervals of the positive class's recall that are shown."""
        report = self.published[-1]
        assert report is not None
        (found,) = report.select("fraud", "", window, segment)
        recall = found.find("classifier_recall", class_="fraud")
        assert recall is not None
        return [interval.method for interval in recall.intervals]


@pytest.fixture
def host(tmp_path: Path) -> Host:
    host = Host(tmp_path / "monitor.yaml")
    host.consume(500)
    return host


def test_bounds_are_shown_in_the_evaluation_that_they_belong_to_and_in_the_next(host: Host) -> None:
    host.evaluator.evaluate()
    assert host.methods() == ["wilson"]
    host.evaluator.resample()
    assert host.methods() == ["wilson", "bootstrap"]
    assert host.methods("all") == ["wilson", "bootstrap"]
    assert host.methods(segment="region=eu") == ["wilson"]
    host.evaluator.evaluate()
    assert host.methods() == ["wilson", "bootstrap"]
    host.evaluator.evaluate()
    assert host.methods() == ["wilson"]
    assert host.evaluator.report is host.published[-1]


def test_the_same_events_have_the_same_bounds(host: Host) -> None:
    shown = []
    for _ in range(2):
        host.evaluator.evaluate()
        host.evaluator.resample()
        (window,) = host.published[-1].select("fraud", "", "last_400")  # type: ignore[union-attr]
        shown.append(window.find("classifier_recall", class_="fraud"))
    assert shown[0] == shown[1]


def test_bounds_of_a_state_that_was_given_up_are_dropped(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    host.evaluator.evaluate()
    resample = host.pipeline.resample

    def lose(*arguments: object) -> object:
        bounds = resample(*arguments)  # type: ignore[arg-type]
        host.pipeline = host.new_pipeline()
        host.evaluator.forget()
        host.consume(500)
        host.evaluator.evaluate()
        return bounds

    monkeypatch.setattr(host.pipeline, "resample", lose)
    host.evaluator.resample()
    assert host.published[1] is None
    assert host.methods() == ["wilson"]


def test_bounds_do_not_outlive_their_state(host: Host) -> None:
    host.evaluator.evaluate()
    host.evaluator.resample()
    host.pipeline = host.new_pipeline()
    host.evaluator.forget()
    host.consume(500)
    host.evaluator.evaluate()
    assert host.methods() == ["wilson"]


def test_bounds_that_take_too_long_are_given_up_and_that_is_said(
    host: Host, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    host.evaluator.evaluate()
    resample = host.pipeline.resample

    def slowly(view: object, stop: object) -> object:
        host.evaluator.evaluate()
        host.evaluator.evaluate()
        return resample(view, stop)  # type: ignore[arg-type]

    monkeypatch.setattr(host.pipeline, "resample", slowly)
    host.evaluator.resample()
    assert host.methods() == ["wilson"]
    (record,) = caplog.records
    assert record.message.startswith("bootstrap intervals are not shown: they take longer")


def test_missing_bounds_have_a_reason(host: Host) -> None:
    host.evaluator.evaluate()
    host.evaluator.resample()
    (window,) = host.published[-1].select("fraud", "", "last_400")  # type: ignore[union-attr]
    assert window.find("classifier_brier_score", class_="", subset="all").no_bootstrap is None  # type: ignore[union-attr]
    host.pipeline = host.new_pipeline()
    host.evaluator.forget()
    host.consume(100)
    host.evaluator.evaluate()
    host.evaluator.resample()
    (window,) = host.published[-1].select("fraud", "", "last_400")  # type: ignore[union-attr]
    recall = window.find("classifier_recall", class_="fraud")
    assert recall is not None
    assert (recall.no_bootstrap, len(recall.intervals)) == ("low_support", 1)


def test_a_report_of_a_state_that_was_given_up_is_not_shown(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluate = host.pipeline.evaluate

    def lose(*arguments: object) -> object:
        evaluation = evaluate(*arguments)  # type: ignore[arg-type]
        host.pipeline = host.new_pipeline()
        return evaluation

    monkeypatch.setattr(host.pipeline, "evaluate", lose)
    host.evaluator.evaluate()
    assert host.published == []
    assert host.evaluator.report is None


def test_nothing_is_drawn_once_the_daemon_stops(host: Host) -> None:
    host.evaluator.evaluate()
    host.stopping = True
    host.evaluator.resample()
    assert len(host.published) == 1


def test_each_evaluation_is_remembered_once_and_resampling_adds_nothing(host: Host) -> None:
    assert host.evaluator.tracks == {}
    host.evaluator.evaluate()
    host.evaluator.resample()
    host.consume(10, 500)
    host.evaluator.evaluate()
    track = host.evaluator.tracks["fraud", "", "last_400"]
    assert len(track.times) == 2
    report = host.published[-1]
    assert report is not None
    (window,) = report.select("fraud", "", "last_400")
    recall = window.find("classifier_recall", class_="fraud")
    assert recall is not None
    column = track.metrics.index(Metric.of(recall))
    assert track.times[-1] == window.end
    assert track.values[-1, column].tolist() == [recall.value, *recall.intervals[0][1:3]]


def test_a_state_that_was_given_up_takes_its_past_with_it(host: Host) -> None:
    host.evaluator.evaluate()
    host.pipeline = host.new_pipeline()
    host.evaluator.forget()
    assert host.evaluator.tracks == {}
    host.consume(500)
    host.evaluator.evaluate()
    assert len(host.evaluator.tracks["fraud", "", "last_400"].times) == 1
