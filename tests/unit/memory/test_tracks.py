"""The history in a checkpoint: it comes back as it was, for what is still configured."""

from __future__ import annotations

import numpy as np

from monitor.clock import ManualClock
from monitor.history import Track, Tracks
from monitor.memory.restore import restore
from monitor.memory.tracks import pack_tracks, unpack_tracks
from monitor.pipeline import Pipeline
from tests.support.pasts import (
    MODELS,
    NOW,
    Traffic,
    configured,
    consume,
    evaluated,
    restored,
    started,
    through_a_file,
    tree_of,
)

CONFIG = configured()


def example() -> Pipeline:
    pipeline, traffic = started(CONFIG), Traffic(3)
    for _ in range(4):
        consume(pipeline, traffic.poll(15))
        pipeline.advance(())
        evaluated(pipeline)
    assert len(pipeline.history.tracks["one", "1", "all"].times) == 4
    return pipeline


def same(found: Tracks, expected: Tracks) -> None:
    assert list(found) == list(expected)
    for track, other in zip(found.values(), expected.values(), strict=True):
        assert track.metrics == other.metrics
        for name in ("times", "evaluated", "labeled", "values"):
            np.testing.assert_array_equal(getattr(track, name), getattr(other, name))


def test_a_restored_pipeline_has_the_same_past_and_goes_on_with_it() -> None:
    pipeline = example()
    past = restored(pipeline, CONFIG)
    same(past.pipeline.history.tracks, pipeline.history.tracks)
    evaluated(past.pipeline)
    assert len(past.pipeline.history.tracks["one", "1", "all"].times) == 4


def test_no_track_is_a_tree_too() -> None:
    assert unpack_tracks(through_a_file({"history": pack_tracks([])})["history"]) == []


def test_a_checkpoint_from_before_there_was_a_history_has_none() -> None:
    tree = tree_of(example())
    del tree["history"]
    assert restore(tree, CONFIG, ManualClock(NOW)).pipeline.history.tracks == {}


def test_a_model_that_is_read_in_another_way_loses_its_past() -> None:
    changed = configured(MODELS | {"one": MODELS["one"] | {"threshold": 0.3}})
    tracks = restored(example(), changed).pipeline.history.tracks
    assert {model for model, *_ in tracks} == {"several", "sets", "else", "other"}


def test_a_window_of_another_size_begins_anew() -> None:
    windows = [{"name": "last_7", "events": 5}, {"name": "1m", "duration": "1m"}]
    changed = configured(MODELS | {"one": MODELS["one"] | {"windows": windows}})
    tracks = restored(example(), changed).pipeline.history.tracks
    assert {window for model, _, window in tracks if model == "one"} == {"all", "1m"}
    assert {window for model, _, window in tracks if model == "several"} == {"all", "1m", "last_7"}


def test_versions_that_are_gone_are_in_no_cut() -> None:
    pipeline = example()
    pipeline.forget("one")
    models = {model for model, *_ in tree_of(pipeline)["history"]["tracks"]}
    assert models == {"several", "sets", "else", "other"}


def test_a_smaller_budget_holds_at_once() -> None:
    pipeline = example()
    config = CONFIG.model_copy(update={"limits": CONFIG.limits.model_copy(update={"history_bytes": 50_000})})
    tracks: list[Track] = list(restored(pipeline, config).pipeline.history.tracks.values())
    assert 0 < sum(len(track.times) for track in tracks) < 4 * len(pipeline.history.tracks)


def test_without_a_budget_the_past_is_left_behind() -> None:
    config = CONFIG.model_copy(update={"limits": CONFIG.limits.model_copy(update={"history_bytes": None})})
    past = restored(example(), config).pipeline
    assert past.history.tracks == {}
    evaluated(past)
    assert past.history.tracks == {}
