"""Who goes on from a checkpoint and who was never interrupted are one and the same, to the bit."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from monitor.checkpoint.errors import CheckpointError
from monitor.clock import ManualClock
from monitor.memory.cut import cut
from monitor.memory.restore import restore
from monitor.pipeline import Pipeline
from monitor.records import Partition
from monitor.state import store
from tests.support.pasts import (
    NOW,
    Traffic,
    configured,
    consume,
    evaluated,
    remembered,
    restored,
    settle,
    started,
    through_a_file,
    tree_of,
)
from tests.support.properties import examples

CONFIG = configured()
PARTITIONS = [Partition("t", 0), Partition("t", 1)]

steps = st.lists(
    st.one_of(
        st.tuples(st.just("read"), st.integers(1, 12)),
        st.tuples(st.just("rubbish"), st.sampled_from(PARTITIONS)),
        st.tuples(st.just("advance"), st.sets(st.sampled_from(PARTITIONS))),
        st.tuples(st.just("settle"), st.sets(st.sampled_from(["one", "several", "sets", "else", "other"]))),
        st.tuples(st.just("wait"), st.sampled_from([1, 60, 400])),
        st.tuples(st.just("lose"), st.none()),
        st.tuples(st.just("forget"), st.sampled_from(["one", "else"])),
    ),
    max_size=8,
)


def step(pipelines: list[Pipeline], traffic: Traffic, what: str, value: Any) -> None:
    """Do the same to all pipelines."""
    batches = traffic.poll(value) if what == "read" else []
    if what == "rubbish":
        batches = traffic.rubbish(value)
    if what == "wait":
        traffic.time += value
    for pipeline in pipelines:
        match what:
            case "read" | "rubbish":
                consume(pipeline, batches)
            case "advance":
                pipeline.advance(value)
            case "settle":
                settle(pipeline, lambda view: view.model in value)
            case "lose":
                pipeline.state.clocks.lose()
            case "forget":
                pipeline.forget(value)


@pytest.fixture(autouse=True)
def few_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "SETTLE_AT", 15)


@examples(30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32 - 1), before=steps, after=steps)
def test_a_restored_state_goes_on_as_the_one_that_was_cut(seed, before, after) -> None:
    traffic, first = Traffic(seed), started(CONFIG)
    for what, value in [("read", 20), *before]:
        step([first], traffic, what, value)
    past = restored(first, CONFIG)
    assert not past.changes
    assert remembered(past.pipeline) == remembered(first)
    for what, value in [*after, ("read", 5), ("advance", ())]:
        step([first, past.pipeline], traffic, what, value)
    assert remembered(past.pipeline) == remembered(first)


@examples(15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32 - 1), after=steps)
def test_a_cut_stays_as_it_was(seed, after) -> None:
    traffic, pipeline = Traffic(seed), started(CONFIG)
    step([pipeline], traffic, "read", 20)
    expected = remembered(pipeline)
    taken = cut(pipeline, {"t": "an-id"})
    for what, value in after:
        step([pipeline], traffic, what, value)
    past = restore(through_a_file(taken.tree()), CONFIG, ManualClock(NOW))
    assert remembered(past.pipeline) == expected


def _example() -> dict[str, Any]:
    traffic, pipeline = Traffic(7), started(CONFIG)
    for what, value in [("read", 30), ("settle", ["one", "sets"]), ("read", 9), ("advance", ())]:
        step([pipeline], traffic, what, value)
        evaluated(pipeline)
    return tree_of(pipeline)


EXAMPLE = _example()
ODD = [None, True, -1, 2**40, 2**63, -(2**70), 0.5, "", "\ud800", "x", [], {}, [[]], {"a": 1}, np.zeros(3)]


def places(node: Any) -> list[tuple[Any, Any]]:
    """Return every holder in a tree with each of its keys."""
    found = []
    if isinstance(node, dict | list):
        for key in list(node) if isinstance(node, dict) else range(len(node)):
            found += [(node, key), *places(node[key])]
    return found


@st.composite
def changed(draw: st.DrawFn) -> dict[str, Any]:
    """Draw the example with a few of its values, or of the numbers in its arrays, replaced."""
    tree = copy.deepcopy(EXAMPLE)
    for _ in range(draw(st.integers(1, 3))):
        holder, key = draw(st.sampled_from(places(tree)))
        if key not in (holder if isinstance(holder, dict) else range(len(holder))):
            continue
        value = holder[key]
        match draw(st.sampled_from(["odd", "other", "gone", "number"])):
            case "number" if isinstance(value, np.ndarray) and value.size and value.dtype.kind == "i":
                info = np.iinfo(value.dtype)
                edges = st.sampled_from([-2, -1, 0, 1, 2, 3, 100, info.min, info.max, info.max // 2])
                value.flat[draw(st.integers(0, value.size - 1))] = np.array(draw(edges)).astype(value.dtype)
            case "other" if isinstance(value, np.ndarray):
                holder[key] = draw(
                    st.sampled_from(
                        [value[:-1], value[None], value.astype(np.int32), value.T, value.copy()[::-1]]
                    )
                )
            case "gone":
                del holder[key]
            case _:
                holder[key] = copy.deepcopy(draw(st.sampled_from(ODD)))
    return tree


@examples(75, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(tree=changed(), seed=st.integers(0, 9))
def test_a_tree_that_makes_no_sense_is_refused_with_one_message(tree, seed) -> None:
    try:
        pipeline = restore(tree, CONFIG, ManualClock(NOW)).pipeline
    except CheckpointError as error:
        assert "\n" not in str(error)
        return
    # What is not refused can be worked with.
    traffic = Traffic(seed)
    traffic.time = 400
    for partition in PARTITIONS:
        pipeline.state.next_offsets.pop(partition, None)
    step([pipeline], traffic, "read", 20)
    pipeline.advance(())
    evaluation = pipeline.evaluate(pipeline.snapshot())
    assert not evaluation.failures
    pipeline.history.add(evaluation.report)
    restored(pipeline, CONFIG)
