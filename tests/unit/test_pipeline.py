"""Decoder and state together: the fence against replays, limits, retirement, the start of reading."""

from __future__ import annotations

import dataclasses
import json

import pytest
import torch

from monitor import pipeline as pipeline_module
from monitor.assembly import device
from monitor.clock import ManualClock
from monitor.config import load_config
from monitor.errors import ConfigurationError
from monitor.metrics import catalog
from monitor.pipeline import Pipeline, Snapshot, start_of_reading
from monitor.records import Partition, RecordBatch
from monitor.report_json import report_object
from monitor.state import store
from tests.support.records import RECORD_MS, batch, raw

CONFIGURATION = """
kafka: {bootstrap_servers: [localhost:9092], topics: [t], group_id: g}
models:
  fraud: {task: binary, classes: [legit, fraud], windows: [{name: last_10, events: 10}], segments: [region]}
  "*": {task: multiclass, classes: [a, b, c], windows: [{name: 2h, duration: 2h}], label_maturity: 30m}
events: {allowed_lateness: 5m}
limits: {retire_after: 1h, segment_values: 1, versions_per_model: 2}
"""
START = RECORD_MS / 1000 - 3 * 3600


@pytest.fixture
def config(tmp_path):
    path = tmp_path / "monitor.yaml"
    path.write_text(CONFIGURATION)
    return load_config(path, {})


@pytest.fixture
def pipeline(config) -> Pipeline:
    return Pipeline(config, ["t"], ManualClock(RECORD_MS * 1000))


def event(seconds: float, **changes: object) -> dict[str, object]:
    fields = {"model": "fraud", "version": "1", "timestamp": START + seconds, "label": "fraud", "score": 0.75}
    return {**fields, **changes}


def consume(pipeline: Pipeline, values: list[object], first: int = 0) -> None:
    pipeline.apply(pipeline.decode([batch(values, first)]))


def names(snapshot: Snapshot) -> list[tuple[str, str]]:
    return [(v.model, v.version) for v in snapshot.view.versions]


def events_of(pipeline: Pipeline) -> dict[tuple[str, str, str], int]:
    report = pipeline.evaluate(pipeline.snapshot()).report
    return {(w.model, w.version, w.window): w.events for w in report.windows if not w.segment}


def test_records_that_come_again_are_counted_once(pipeline: Pipeline) -> None:
    values = [event(i) for i in range(5)] + [b"bad"]
    consume(pipeline, values)
    consume(pipeline, values)  # all of them again
    consume(pipeline, [*values[3:], event(9)], first=3)  # some again
    assert events_of(pipeline)["fraud", "1", "all"] == 6
    assert pipeline.consumed == {"t": 7}
    assert pipeline.rejected == {("", "not_json"): 1}
    assert pipeline.state.next_offsets == {Partition("t", 0): 7}


def test_nothing_new_changes_nothing(pipeline: Pipeline) -> None:
    pipeline.apply(pipeline.decode([]))
    assert pipeline.evaluate(pipeline.snapshot()).report.windows == ()
    assert pipeline.state.next_offsets == {}


def test_offsets_advance_over_records_that_are_all_rejected(pipeline: Pipeline) -> None:
    consume(pipeline, [b"bad", b"worse"])
    assert pipeline.state.next_offsets == {Partition("t", 0): 2}


def test_immature_events_are_held_but_not_shown(pipeline: Pipeline) -> None:
    vector = {"model": "other-model", "label": "a", "score": None, "scores": [0.5, 0.25, 0.25]}
    consume(pipeline, [event(0, **vector), event(3600, **vector)])
    assert events_of(pipeline) == {("other-model", "1", "2h"): 1, ("other-model", "1", "all"): 2}


def test_a_retired_version_is_gone_and_makes_room(pipeline: Pipeline) -> None:
    consume(pipeline, [event(0, version="1"), event(0, version="2"), event(0, version="3")])
    assert pipeline.rejected == {("fraud", "too_many_models"): 1}
    assert pipeline.limits_reached()["versions_per_model"] == 1
    consume(pipeline, [event(2 * 3600, version="2")], first=3)
    assert names(pipeline.advance(())) == [("fraud", "1")]
    consume(pipeline, [event(2 * 3600, version="3")], first=4)
    assert {version for _, version, _ in events_of(pipeline)} == {"2", "3"}


def test_what_retired_can_be_reported_later(pipeline: Pipeline) -> None:
    consume(pipeline, [event(i, segments={"region": "eu"}) for i in range(4)])
    before = pipeline.evaluate(pipeline.snapshot()).report.windows
    consume(pipeline, [event(2 * 3600, version="2")], first=4)
    gone = pipeline.advance(())
    assert names(pipeline.advance(())) == []
    consume(pipeline, [event(2 * 3600, segments={"region": "us"})], first=5)  # another code for "eu"
    after = pipeline.evaluate(gone).report.windows
    assert [(w.version, w.window, w.segment, w.events) for w in after] == [
        (w.version, w.window, w.segment, w.events) for w in before
    ]


def test_a_model_is_forgotten_as_if_its_versions_had_retired(pipeline: Pipeline) -> None:
    consume(pipeline, [event(i, version=str(i)) for i in range(2)])
    consume(pipeline, [event(5, version="9", segments={"region": "eu"})], first=2)
    assert pipeline.rejected == {("fraud", "too_many_models"): 1}
    assert pipeline.forget("fraud") == 2
    assert pipeline.forget("fraud") == 0
    assert pipeline.evaluate(pipeline.snapshot()).report.windows == ()
    consume(pipeline, [event(6, version="9"), event(7, version="1")], first=3)
    assert events_of(pipeline)["fraud", "1", "all"] == 1
    assert {v.version: v.base.dropped_until for v in pipeline.state.view().versions} == {
        "9": None,
        "1": round((START + 1) * 1e6),
    }


def test_records_of_a_truncated_log_are_let_in_again(pipeline: Pipeline) -> None:
    values = [event(i) for i in range(5)]
    consume(pipeline, values)
    pipeline.rewind({Partition("t", 0): 2, Partition("t", 1): 7})
    consume(pipeline, values[:4])  # offsets 2 and 3 were given out again
    assert events_of(pipeline)["fraud", "1", "all"] == 7
    assert pipeline.state.next_offsets == {Partition("t", 0): 4, Partition("t", 1): 7}


def test_positions_move_on_over_what_is_no_record_and_never_back(pipeline: Pipeline) -> None:
    consume(pipeline, [event(i) for i in range(5)])
    places = [Partition("t", number) for number in range(3)]
    pipeline.move_on({places[0]: 6, places[1]: 3})
    pipeline.move_on({places[0]: 2, places[2]: 0})
    assert pipeline.state.next_offsets == {places[0]: 6, places[1]: 3, places[2]: 0}
    consume(pipeline, [event(9)] * 2, first=5)
    assert events_of(pipeline)["fraud", "1", "all"] == 6


def test_segment_values_beyond_the_limit_share_a_name_and_are_counted(pipeline: Pipeline) -> None:
    regions = ["eu", "us", "cn", "eu"]
    consume(pipeline, [event(i, segments={"region": region}) for i, region in enumerate(regions)])
    report = pipeline.evaluate(pipeline.snapshot()).report
    found = {w.segment: w.events for w in report.windows if w.window == "last_10"}
    assert found == {"": 4, "region=eu": 2, "region=other": 2}
    assert pipeline.limits_reached()["segment_values"] == 2


def test_reading_starts_where_the_longest_window_does(config) -> None:
    hours = 2 + 0.5  # duration and maturity of one model
    assert start_of_reading(config, 10**15) == 10**15 - round((hours * 3600 + 300) * 1e6)


def test_a_missing_gpu_is_said_to_be_missing(monkeypatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert device("auto") == torch.device("cpu")
    with pytest.raises(ConfigurationError, match=r"evaluation\.device"):
        device("cuda")


def test_a_metric_that_fails_leaves_the_others(pipeline: Pipeline, monkeypatch) -> None:
    consume(pipeline, [event(i, label=label) for i, label in enumerate(["fraud", "legit"] * 3)])
    assert not pipeline.evaluate(pipeline.snapshot()).failures

    def broken(_: object) -> None:
        raise RuntimeError("out of order")

    rows = [
        dataclasses.replace(r, compute=broken) if r.name == "classifier_brier_score" else r
        for r in catalog.CATALOG
    ]
    monkeypatch.setattr(catalog, "CATALOG", tuple(rows))
    found = pipeline.evaluate(pipeline.snapshot())
    assert list(found.failures) == ["classifier_brier_score"]
    names = {v.name for v in found.report.windows[0].values}
    assert "classifier_roc_auc" in names
    assert "classifier_brier_score" not in names


def test_json_of_a_report_has_no_nan(pipeline: Pipeline) -> None:
    consume(pipeline, [event(0)])
    report = pipeline.evaluate(pipeline.snapshot()).report
    json.dumps(report_object(report, report.windows), allow_nan=False)


def test_a_name_too_long_for_a_label_is_refused(pipeline: Pipeline) -> None:
    long = "x" * 201
    consume(pipeline, [event(0, version=long), event(0, model=long, label="a", scores=[1, 0, 0])])
    assert pipeline.rejected == {("fraud", "too_large"): 1, ("", "too_large"): 1}
    consume(pipeline, [event(0, segments={"region": long})], first=2)
    report = pipeline.evaluate(pipeline.snapshot()).report
    assert {w.segment for w in report.windows} == {"", "region=other"}
    assert pipeline.limits_reached() == {"segment_values": 1}


def test_a_record_without_a_time_says_nothing_about_the_future(pipeline: Pipeline) -> None:
    for offset, time in enumerate((None, -1)):
        records = [raw(2 * offset, json.dumps(event(0)).encode(), time)]
        records.append(raw(2 * offset + 1, json.dumps(event(0, timestamp=None)).encode(), time))
        pipeline.apply(pipeline.decode([RecordBatch(Partition("t", 0), records)]))
    assert events_of(pipeline)["fraud", "1", "all"] == 2
    assert pipeline.rejected == {("fraud", "implausible_timestamp"): 2}


def test_a_snapshot_keeps_its_names_while_the_pipeline_goes_on(pipeline: Pipeline) -> None:
    consume(pipeline, [event(0, segments={"region": "eu"})])
    snapshot = pipeline.snapshot()
    vector = {"model": "other-model", "label": "a", "score": None, "scores": [0.5, 0.25, 0.25]}
    consume(pipeline, [event(2 * 3600, **vector)], first=1)
    assert names(pipeline.advance(())) == [("fraud", "1")]
    consume(pipeline, [event(2 * 3600, segments={"region": "us"})], first=2)
    report = pipeline.evaluate(snapshot).report
    assert {w.segment for w in report.windows} == {"", "region=eu"}


def test_counts_of_names_that_are_gone_go_on_under_no_name(pipeline: Pipeline) -> None:
    vector = {"score": None, "scores": [0.5, 0.25, 0.25], "label": None}
    consume(pipeline, [event(0, model="one-off", **vector), event(0, model="one-off", label="z")])
    assert dict(pipeline.state.unlabeled) == {"one-off": 1}
    consume(pipeline, [event(2 * 3600)], first=2)
    pipeline.advance(())
    assert dict(pipeline.state.unlabeled) == {"": 1}
    assert pipeline.rejected == {("", "unknown_label"): 1}


@pytest.mark.parametrize("place", ["evaluation", "settling"])
def test_a_full_gpu_is_left_for_the_cpu(
    pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, place: str
) -> None:
    """The device that is full is simulated: the first time that it is asked for anything, it refuses."""
    full = iter([True])

    def refuse_once(function):
        def refusing(*arguments):
            if next(full, False):
                raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20 MiB")
            return function(*arguments)

        return refusing

    moved = []
    monkeypatch.setattr(pipeline.state, "move", moved.append)
    if place == "evaluation":
        monkeypatch.setattr(pipeline_module, "evaluate", refuse_once(pipeline_module.evaluate))
    else:
        monkeypatch.setattr(store, "SETTLE_AT", 3)
        monkeypatch.setattr(pipeline.state, "_settle", refuse_once(pipeline.state._settle))
    consume(pipeline, [event(i) for i in range(5)])
    assert events_of(pipeline)["fraud", "1", "all"] == 5
    consume(pipeline, [event(9)], first=5)
    assert events_of(pipeline)["fraud", "1", "all"] == 6
    assert moved[0] == torch.device("cpu")
    assert [r.message for r in caplog.records] == [
        "the GPU's memory is full: computing on the CPU from now on; lower limits.held_events or set "
        "evaluation.device: cpu"
    ]
