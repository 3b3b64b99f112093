"""Trees of checkpoints: what stands in them, what is refused, what later versions may add."""

from __future__ import annotations

import copy
import json
from typing import Any

import numpy as np
import pytest

from monitor.checkpoint.errors import CheckpointError, DamagedCheckpoint, NewerCheckpoint
from monitor.checkpoint.tree import Tree, separate
from monitor.clock import ManualClock
from monitor.errors import ConfigurationError
from monitor.memory.cut import cut
from monitor.memory.restore import restore
from monitor.records import Partition
from monitor.report_json import report_object
from tests.support.pasts import (
    MODELS,
    NOW,
    Traffic,
    configured,
    consume,
    evaluated,
    remembered,
    restored,
    settle,
    started,
    tree_of,
)

CONFIG = configured()


@pytest.fixture(scope="module")
def example() -> Tree:
    pipeline, traffic = started(CONFIG), Traffic(1)
    consume(pipeline, traffic.poll(40))
    settle(pipeline, lambda view: view.version == "1")
    pipeline.advance(())
    evaluated(pipeline)
    traffic.time += 100
    consume(pipeline, traffic.poll(40))
    evaluated(pipeline)
    return tree_of(pipeline)


def restored_from(tree: Tree) -> Any:
    return restore(tree, CONFIG, ManualClock(NOW))


def test_reports_are_the_same_after_a_restart() -> None:
    pipeline = started(CONFIG)
    consume(pipeline, Traffic(1).poll(40))
    pipeline.advance(())
    past = restored(pipeline, CONFIG)
    past.pipeline.advance(())
    reports = [p.evaluate(p.snapshot()).report for p in (pipeline, past.pipeline)]
    before, after = (json.dumps(report_object(report, report.windows)) for report in reports)
    assert before == after


def test_a_past_says_when_it_was_and_which_topics_there_were() -> None:
    clock = ManualClock(NOW)
    pipeline = started(CONFIG)
    pipeline.clock.advance(5)
    tree = cut(pipeline, {"t": None, "another": "id"}).tree()
    past = restore(tree, CONFIG, clock)
    assert past.taken == NOW + 5_000_000
    assert past.topic_ids == {"t": None}
    assert past.pipeline.clock is clock


@pytest.mark.parametrize("lagging", [set(), {Partition("t", 0)}])
def test_a_past_says_whether_everything_had_been_read(lagging: set[Partition]) -> None:
    pipeline = started(CONFIG)
    pipeline.move_on({Partition("t", 0): 5})
    pipeline.advance(lagging)
    past = restored(pipeline, CONFIG)
    assert past.caught_up is not bool(lagging)
    assert not past.pipeline.state.caught_up, "partitions may have grown meanwhile"


def test_a_state_without_an_event_comes_back() -> None:
    pipeline = started(CONFIG)
    pipeline.move_on({Partition("t", 1): 5})
    past = restored(pipeline, CONFIG)
    assert remembered(past.pipeline) == remembered(pipeline)
    assert past.pipeline.state.next_offsets == {Partition("t", 1): 5}


def test_a_cut_knows_its_offsets_before_its_tree() -> None:
    pipeline, traffic = started(CONFIG), Traffic(1)
    consume(pipeline, traffic.poll(3))
    taken = cut(pipeline, {})
    consume(pipeline, traffic.poll(3))
    assert taken.next_offsets == {Partition("t", 0): 3, Partition("t", 1): 3}
    assert taken.tree()["next_offsets"] == [["t", 0, 3], ["t", 1, 3]]


def test_models_of_one_shape_share_their_arrays() -> None:
    models = {f"m{n}": MODELS["*"] | {"threshold": n / 60} for n in range(50)}
    pipeline = started(configured(models, models=50))
    for n in range(50):
        consume(pipeline, [b for b in Traffic(n).poll(2, model=f"m{n}")])
        pipeline.state.next_offsets.clear()
    _, arrays = separate(tree_of(pipeline))
    assert len(arrays) < 40


def test_the_fingerprint_is_that_of_the_configuration(example: Tree) -> None:
    def fingerprint(config: Any) -> str:
        found: str = tree_of(started(config))["configuration"]["fingerprint"]
        return found

    assert example["configuration"]["fingerprint"] == fingerprint(configured(retire_after="7h"))
    others = [
        configured(MODELS | {"one": MODELS["one"] | {"threshold": 0.1}}),
        configured(MODELS | {"one": MODELS["one"] | {"windows": []}}),
        configured(topics=["t", "u"]),
    ]
    assert len({fingerprint(config) for config in [CONFIG, *others]}) == 4


def test_keys_that_later_versions_add_are_passed_over(example: Tree) -> None:
    tree = copy.deepcopy(example)
    tree["alerts"] = {"x": np.zeros(3)}
    tree["clocks"]["more"] = 1
    tree["configuration"]["models"]["one"]["more"] = []
    tree["versions"][0]["versions"][0]["more"] = None
    tree["versions"][0]["held"]["weight"] = np.ones(3)
    assert remembered(restored_from(tree).pipeline) == remembered(restored_from(example).pipeline)


def test_a_later_schema_is_refused_by_name(example: Tree) -> None:
    with pytest.raises(NewerCheckpoint, match=r"schema 2.*only a later version.*move the file away"):
        restored_from(example | {"schema": 2})


def changed(tree: Tree, change: Any) -> Tree:
    found = copy.deepcopy(tree)
    change(found)
    return found


def pack(tree: Tree, model: str) -> Tree:
    (found,) = (p for p in tree["versions"] if any(v["model"] == model for v in p["versions"]))
    return found


def put(model: str, part: str, name: str, value: int) -> Any:
    def change(tree: Tree) -> None:
        pack(tree, model)[part][name].flat[3] = value

    return change


def same_track_twice(tree: Tree) -> None:
    first, second, *_ = tree["history"]["tracks"]
    second[:3] = first[:3]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda t: t.pop("schema"), "schema is no int"),
        (lambda t: t.pop("versions"), "versions is no list"),
        (lambda t: t.update(next_offsets=[["t", 0, 2**48]]), "an offset is out of range"),
        (lambda t: t.update(topics=[]), "no topic has a place"),
        (lambda t: t["clocks"].update(watermark=2**63), "watermark is no int"),
        (lambda t: t["clocks"].update(watermark=None), "without a watermark"),
        (lambda t: t["configuration"]["models"].pop("*"), "nothing says how '(else|other)' was configured"),
        (lambda t: t["configuration"]["models"]["one"].update(classes=["a"]), "classes of one fit no binary"),
        (lambda t: t["configuration"]["models"]["one"].update(task="ranking"), "task is none of binary"),
        (lambda t: t["segment_values"].clear(), "a segment value has no name"),
        (lambda t: t["segment_values"].append(["m", "k", ["a", "a"], 0]), "twice"),
        (lambda t: t["segment_values"].append(["m", "k", ["other"], 0]), "twice"),
        (lambda t: t["versions"].append(t["versions"][0]), "twice"),
        (lambda t: pack(t, "one")["versions"][0].update(held=10**12), "shape"),
        (lambda t: pack(t, "one")["versions"][0].update(held=-1), "held is negative"),
        (lambda t: pack(t, "one")["versions"][0].update(groups=0), "shape|groups"),
        (lambda t: pack(t, "one")["versions"].append(pack(t, "sets")["versions"][0]), "other shapes"),
        (lambda t: pack(t, "one")["counts"].update(cells=np.zeros(3)), "cells is no array of int64"),
        (lambda t: pack(t, "one")["counts"].update(right=np.zeros(3, np.int64)), "right has the shape"),
        (put("one", "held", "label", 2), "a label is out of range"),
        (put("one", "held", "decision", -2), "a decision is out of range"),
        (put("sets", "waiting", "decision", -1), "a decision is out of range"),
        (put("several", "waiting", "label", 3), "a label is out of range"),
        (put("one", "held", "segments", 99), "a segment value has no name"),
        (put("one", "held", "timestamp", -5), "not in order"),
        (put("one", "waiting", "timestamp", 2**62), "a timestamp is out of range"),
        (put("one", "waiting", "position", -1), "a position is negative"),
        (
            lambda t: t.update(topics=["r", "s", "t"]) or put("one", "waiting", "position", 2**63 - 1)(t),
            "no topic has a place",
        ),
        (put("one", "histogram", "key", 0), "scores are not in order"),
        (put("one", "histogram", "shift", 32), "a resolution is out of range"),
        (lambda t: pack(t, "one")["groups"].fill(1), "groups"),
        (lambda t: t.update(history=[]), "history is no dict"),
        (lambda t: t["history"].pop("tracks"), "tracks is no list"),
        (lambda t: t["history"]["tracks"].append(t["history"]["tracks"][0]), "has the shape"),
        (lambda t: t["history"]["tracks"][0].append(1), "a row of the history has 6 values"),
        (lambda t: t["history"]["tracks"][0].__setitem__(3, 0), "has the shape"),
        (lambda t: t["history"]["tracks"][0].__setitem__(4, 99), "metrics that stand nowhere"),
        (same_track_twice, "a track is there twice"),
        (lambda t: t["history"]["metrics"][0].clear(), "no metrics"),
        (lambda t: t["history"]["times"].__setitem__(1, 0), "times do not increase"),
        (lambda t: t["history"]["times"].__setitem__(0, -(2**62)), "a number of a track is out of range"),
        (lambda t: t["history"]["labeled"].__setitem__(0, -1), "a number of a track is out of range"),
    ],
)
def test_what_is_no_cut_is_refused(example: Tree, change: Any, reason: str) -> None:
    with pytest.raises(DamagedCheckpoint, match=f"what it remembers makes no sense.*{reason}.*; remove it"):
        restored_from(changed(example, change))


def test_a_partition_that_cannot_be_coded_beside_more_topics_is_refused() -> None:
    pipeline = started(CONFIG)
    batches = [
        b._replace(partition=Partition("t", 30_000)) for b in Traffic(1, partitions=1).poll(1, model="one")
    ]
    consume(pipeline, batches)
    assert restored(pipeline, CONFIG).changes == ()
    with pytest.raises(CheckpointError, match="with 3 topics at most 8192 partitions"):
        restored(pipeline, configured(topics=["s", "t", "u"]))


def test_a_configuration_that_cannot_be_used_is_not_the_checkpoints_fault(example: Tree, monkeypatch) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    config = CONFIG.model_copy(update={"evaluation": CONFIG.evaluation.model_copy(update={"device": "cuda"})})
    with pytest.raises(ConfigurationError, match=r"evaluation\.device"):
        restore(example, config, ManualClock(NOW))
