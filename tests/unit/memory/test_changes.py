"""A configuration that changed since the checkpoint: what still fits is kept, what doesn't is named."""

from __future__ import annotations

from typing import Any

import pytest

from monitor.clock import ManualClock
from monitor.config import Config
from monitor.memory.restore import Past, restore
from monitor.pipeline import Pipeline
from monitor.records import Partition
from monitor.report import WindowReport
from tests.support.pasts import (
    MODELS,
    NOW,
    START,
    Traffic,
    configured,
    consume,
    remembered,
    restored,
    settle,
    started,
    through_a_file,
    tree_of,
)
from tests.support.records import batch

ONE = MODELS["one"]


def changed(model: str = "one", **options: Any) -> dict[str, Any]:
    return MODELS | {model: MODELS[model] | options}


def without(model: str) -> dict[str, Any]:
    return {name: options for name, options in MODELS.items() if name != model}


@pytest.fixture(scope="module")
def tree() -> dict[str, Any]:
    pipeline = started(configured())
    traffic = Traffic(3)
    consume(pipeline, traffic.poll(60))
    settle(pipeline)
    consume(pipeline, traffic.poll(10))
    pipeline.advance(())
    return tree_of(pipeline)


def under(tree: dict[str, Any], config: Config) -> Past:
    return restore(through_a_file(tree), config, ManualClock(NOW))


def versions(pipeline: Pipeline) -> list[tuple[str, str]]:
    return sorted((v.model, v.version) for v in pipeline.state.view().versions)


def windows(pipeline: Pipeline) -> dict[tuple[str, str], WindowReport]:
    report = pipeline.evaluate(pipeline.snapshot()).report
    return {(w.version, w.window): w for w in report.windows if not w.segment}


ALL = [(model, version) for model in ("else", "one", "other", "sets", "several") for version in "12"]


def test_nothing_is_said_where_nothing_changed(tree) -> None:
    past = under(tree, configured())
    assert past.changes == ()
    assert versions(past.pipeline) == ALL


@pytest.mark.parametrize(
    ("model", "options", "named"),
    [
        ("one", {"classes": ["fraud", "legit"], "positive_class": "fraud"}, "classes, positive_class"),
        ("one", {"positive_class": "legit"}, "positive_class"),
        ("one", {"threshold": 0.25}, "threshold"),
        ("one", {"labels": "names"}, "labels"),
        ("one", {"scores": "logit"}, "scores"),
        ("one", {"segments": ["shop", "region"]}, "segments"),
        ("one", {"versions": {"1": {"classes": ["fraud", "legit"]}}}, "versions"),
        ("several", {"top_k": [1, 2]}, "top_k"),
        ("sets", {"temperature": 3.0}, "temperature"),
        ("several", MODELS["sets"], "task, scores, temperature, top_k, segments, threshold"),
    ],
)
def test_what_counts_mean_something_else_is_dropped(tree, model, options, named) -> None:
    new = MODELS | {model: options if "task" in options else MODELS[model] | options}
    past = under(tree, configured(new))
    (said,) = past.changes
    assert said.startswith(f"model {model!r}: read in another way now (")
    assert set(named.split(", ")) == set(said.partition("(")[2].partition(" changed")[0].split(", "))
    assert said.endswith("so what was remembered of 2 versions is dropped")
    assert versions(past.pipeline) == [key for key in ALL if key[0] != model]


def test_versions_that_are_dropped_make_room_and_know_what_they_lack(tree) -> None:
    past = under(tree, configured(changed(threshold=0.25), held_events=50))
    pipeline = past.pipeline
    watermark = pipeline.state.clocks.watermark
    pipeline.state.next_offsets.clear()
    traffic = Traffic(4)
    traffic.time = (watermark / 1e6) - START
    consume(pipeline, traffic.poll(8, model="one", version="new"))
    consume(pipeline, [batch([{**_event(traffic.time, "one"), "version": v} for v in "123"], 8)])
    assert {version for model, version in versions(pipeline) if model == "one"} == {"new", "1", "2"}
    (view,) = (v for v in pipeline.state.view().versions if v.version == "new")
    assert view.base.dropped_until == watermark  # its events up to here were read in another way, if at all
    pipeline.advance(())
    found = windows(pipeline)
    assert found["new", "last_7"].complete
    assert not found["new", "1m"].complete
    traffic.time += 70
    consume(pipeline, [batch([_event(traffic.time, "one")], 11)])
    pipeline.advance(())
    assert windows(pipeline)["1", "1m"].complete


def _event(seconds: float, model: str) -> dict[str, Any]:
    return {"model": model, "version": "1", "timestamp": START + seconds, "label": "fraud", "score": 0.5}


def test_a_model_that_is_no_longer_configured_is_dropped(tree) -> None:
    past = under(tree, configured(without("*")))
    assert past.changes == (
        "models 'else', 'other': no longer configured, so what was remembered of 4 versions is dropped",
    )
    assert versions(past.pipeline) == [key for key in ALL if key[0] not in ("else", "other")]


def test_many_models_are_counted_not_listed(tree) -> None:
    many = started(configured({"*": MODELS["*"]}, models=20))
    for n in range(8):
        consume(many, [batch([_event(n, f"m{n}")], n)])
    past = restored(many, configured({"*": MODELS["*"] | {"threshold": 0.1}}, models=20))
    (said,) = past.changes
    assert said.startswith(
        "models 'm0', 'm1', 'm2', 'm3', 'm4' and 3 more: read in another way now (threshold "
    )


@pytest.mark.parametrize(
    "models",
    [
        pytest.param(changed(aliases={"bad": "fraud"}), id="aliases"),
        pytest.param(MODELS | {"else": MODELS["*"]}, id="from * to named"),
        pytest.param(changed(windows=[{"name": "few", "events": 3}]), id="shorter and renamed windows"),
        pytest.param(changed(windows=[]), id="no window"),
        pytest.param(changed(label_maturity="20s"), id="longer maturity"),
        pytest.param(changed(costs={"false_negative": 5, "false_positive": 1}, at_k=[3]), id="parameters"),
    ],
)
def test_what_leaves_counts_as_they_are_is_kept_silently(tree, models) -> None:
    past = under(tree, configured(models))
    assert past.changes == ()
    assert versions(past.pipeline) == ALL
    settle(past.pipeline)
    before = under(tree, configured()).pipeline
    settle(before)
    for new, old in zip(past.pipeline.state.view().versions, before.state.view().versions, strict=True):
        assert new.base.counts.events.tolist() == old.base.counts.events.tolist()
        assert (new.labeled, new.unlabeled, new.since) == (old.labeled, old.unlabeled, old.since)


def test_a_model_goes_from_named_to_the_wildcard(tree) -> None:
    new = without("one") | {"*": ONE}
    past = under(tree, configured(new))
    assert [change.partition(":")[0] for change in past.changes] == ["models 'else', 'other'"]  # segments
    assert ("one", "1") in versions(past.pipeline)
    again = restored(past.pipeline, configured(new | {"one": ONE}))
    assert again.changes == ()
    assert versions(again.pipeline) == versions(past.pipeline)


def test_limits_that_are_lowered_take_nothing_away(tree) -> None:
    config = configured(models=4, versions_per_model=1, segment_values=1, retire_after="1h")
    past = under(tree, config)
    assert past.changes == ()
    assert versions(past.pipeline) == ALL
    pipeline = past.pipeline
    assert len(pipeline.decoder.vocabulary("one", "region").names) == 3
    pipeline.state.next_offsets.clear()
    time = pipeline.state.clocks.watermark / 1e6 - START
    consume(pipeline, [batch([{**_event(time, "one"), "version": "3"}, _event(time, "third")])])
    assert pipeline.rejected["one", "too_many_models"] == pipeline.rejected["", "too_many_models"] == 1


def test_fewer_held_events_are_let_go_with_the_next_events(tree) -> None:
    past = under(tree, configured(held_events=7))
    assert past.changes == ()
    settle(past.pipeline)
    assert {len(v.base.held) for v in past.pipeline.state.view().versions} == {7}


COUNTED = {"task": "binary", "classes": ["legit", "fraud"]}


def test_a_longer_window_is_incomplete_until_it_is_filled() -> None:
    short = {"one": COUNTED | {"windows": [{"name": "w", "duration": "1m"}]}}
    pipeline = started(configured(short))
    consume(pipeline, [batch([_event(10 * i, "one") for i in range(60)])])
    settle(pipeline)
    long = [{"name": "w", "duration": "5m"}, {"name": "last_20", "events": 20}]
    past = restored(pipeline, configured({"one": COUNTED | {"windows": long}}, held_events=1000))
    assert past.changes == (
        "model 'one': new or longer windows (w, last_20) are incomplete until they are full",
    )
    pipeline = past.pipeline

    def complete(at: int, *events: dict[str, Any]) -> tuple[bool, bool]:
        consume(pipeline, [batch(events, at)])
        pipeline.advance(())
        settle(pipeline)
        found = windows(pipeline)
        return found["1", "w"].complete, found["1", "last_20"].complete

    # Seven events up to 590 s are held; the last that was dropped is of 530 s.
    assert complete(60, _event(600, "one")) == (False, False)
    late = [_event(1, "one") for _ in range(20)]
    assert complete(61, *late) == (False, False)  # 20 events, but those of 10 to 530 s are missing among them
    assert complete(81, *(_event(600 + i, "one") for i in range(14))) == (False, True)
    assert complete(95, _event(829, "one")) == (False, True)
    assert complete(96, _event(830, "one")) == (True, True)  # begins where the last one was dropped


def test_a_model_that_is_new_lacks_what_was_refused_before() -> None:
    known = {"one": COUNTED | {"windows": [{"name": "w", "duration": "1m"}]}}
    pipeline = started(configured(known))
    consume(pipeline, [batch([_event(10 * i, name) for i in range(60) for name in ("one", "two")])])
    assert pipeline.rejected.total() == 60
    pipeline = restored(pipeline, configured(known | {"two": known["one"]})).pipeline
    for at, (seconds, whole) in enumerate([(600, False), (649, False), (650, True)], start=120):
        consume(pipeline, [batch([_event(seconds, "two")], at)])
        pipeline.advance(())
        report = pipeline.evaluate(pipeline.snapshot()).report
        found = {w.model: w.complete for w in report.windows if w.window == "w"}
        assert found == {"one": True, "two": whole}
        pipeline = restored(pipeline, configured(known | {"two": known["one"]})).pipeline


def test_a_window_made_longer_lacks_what_retired_versions_held() -> None:
    def config(minutes: int) -> Config:
        window = {"name": "w", "duration": f"{minutes}m"}
        return configured({"one": COUNTED | {"windows": [window]}}, retire_after="2m")

    pipeline = started(config(1))
    consume(pipeline, [batch([_event(0, "one"), {**_event(300, "one"), "version": "2"}])])
    assert [v.version for v in pipeline.advance(()).view.versions] == ["1"]
    pipeline = restored(pipeline, config(10)).pipeline
    consume(pipeline, [batch([_event(301, "one")], 2)])
    pipeline.advance(())
    found = windows(pipeline)
    assert not found["1", "w"].complete


def test_topics_that_come_keep_the_order_and_the_places_of_the_others() -> None:
    traffic, first = Traffic(5, ["m", "t"]), started(configured(topics=["t", "m"]))
    consume(first, traffic.poll(30))
    settle(first)
    new = configured(topics=["a", "m", "t", "z"])
    past = restored(first, new)
    assert past.changes == ()
    batches = Traffic(6, ["a", "m", "t", "z"], partitions=4)
    more = [b for b in batches.poll(9) if b.partition not in first.state.next_offsets]
    again = started(new)
    again_traffic = Traffic(5, ["m", "t"])
    consume(again, again_traffic.poll(30))
    settle(again)
    consume(past.pipeline, more)
    consume(again, more)
    assert remembered(past.pipeline)["versions"] == remembered(again)["versions"]


def test_a_topic_that_is_no_longer_read_keeps_its_events_while_they_are_held() -> None:
    traffic, pipeline = Traffic(8, ["a", "t"], partitions=1), started(configured(topics=["a", "t"]))
    consume(pipeline, traffic.poll(30))
    settle(pipeline)
    only = configured(topics=["t"])
    past = restored(pipeline, only)
    assert past.changes == (
        "topic 'a' is no longer in kafka.topics: what was read of it stays counted, how far that was is "
        "forgotten",
    )
    assert past.topic_ids == {"t": "an-id"}
    assert (
        set(past.pipeline.state.next_offsets)
        == set(past.pipeline.state.clocks.partitions)
        == {Partition("t", 0)}
    )
    was, now = remembered(pipeline)["versions"], remembered(past.pipeline)["versions"]
    assert was == now  # with the code of "a", which still has a place
    assert past.pipeline.decoder.positions.topics == ("a", "t")
    again = restored(past.pipeline, only)
    assert again.changes == ()
    for _ in range(2):  # once its events have left all windows, the topic is gone
        traffic.time += 1000
        consume(again.pipeline, [b for b in traffic.poll(200) if b.partition.topic == "t"])
        again.pipeline.advance(())
        settle(again.pipeline)
        again = restored(again.pipeline, only)
    assert again.pipeline.decoder.positions.topics == ("t",)


def test_the_clock_of_a_topic_that_is_gone_holds_nobody_back() -> None:
    pipeline = started(configured(topics=["a", "t"]))
    consume(pipeline, Traffic(8, ["a"], partitions=1).poll(3))
    past = restored(pipeline, configured(topics=["t"]))
    clocks = past.pipeline.state.clocks
    assert clocks.partitions == {}
    assert clocks.watermark == pipeline.state.clocks.watermark
