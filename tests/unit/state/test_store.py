"""The store of all versions: the door for replays, lateness, retirement, limits, memory."""

from __future__ import annotations

import dataclasses

import pytest
import torch

from monitor.events.batch import EventBatch
from monitor.state import store
from monitor.state.store import State, settle
from monitor.state.windows import Plan, WindowSpec
from tests.support.streams import CPU, DEVICES, Event, batch, plan, state
from tests.support.tasks import SPECS, Mix, random_columns

LAST_4 = (WindowSpec("last_4", "events", 4),)


def event(offset: int, timestamp: int, **changes) -> Event:
    return dataclasses.replace(Event(0, offset, timestamp, label=1, decision=1, score=0.5), **changes)


def held(s, version: str = "1") -> list[int]:
    (view,) = (v for v in s.view().versions if v.version == version)
    return view.settle(s.clocks.watermark).held.timestamp.tolist()


def test_offsets_that_do_not_grow_are_refused() -> None:
    s = state(plan(LAST_4))
    s.apply(batch([event(0, 10), event(1, 11)]))
    with pytest.raises(ValueError, match="consumed before"):
        s.apply(batch([event(1, 11)]))
    assert held(s) == [10, 11]
    assert list(s.next_offsets.values()) == [2]


def test_late_and_unlabeled_events_are_counted_and_kept() -> None:
    s = state(plan(LAST_4))
    s.apply(batch([event(0, 100)]))
    s.advance(())
    s.apply(batch([event(1, 100), event(2, 101), event(3, 99, label=-1)]))  # at or behind the frontier
    assert s.late["m"] == 2
    assert s.unlabeled["m"] == 1
    assert held(s) == [99, 100, 100, 101]
    (view,) = s.view().versions
    assert (view.labeled, view.unlabeled, view.since, view.last_event) == (3, 1, 99, 101)


def test_events_are_late_once_their_labels_would_have_been_complete() -> None:
    s = state(plan(LAST_4, maturity=30))
    s.apply(batch([event(0, 100)]))
    s.advance(())
    s.apply(batch([event(1, 71), event(2, 70), event(3, 99)]))
    assert s.late["m"] == 1


def test_a_version_without_events_retires_by_event_time() -> None:
    s = state(plan(LAST_4), retire_after=50)
    s.apply(batch([event(0, 100, version="old"), event(1, 100, version="new")]))
    s.apply(batch([event(2, 150, version="new")]))
    assert s.advance(()).versions == ()
    s.apply(batch([event(3, 151, version="new")]))
    assert [v.version for v in s.advance(()).versions] == ["old"]
    assert [v.version for v in s.view().versions] == ["new"]


def test_events_beyond_the_limit_are_dropped_and_counted() -> None:
    s = state(plan((WindowSpec("long", "duration", 1000),), held_events=3))
    s.apply(batch([event(i, i) for i in range(5)]))
    (view,) = s.view().versions
    settled = view.settle(s.clocks.watermark)
    assert settled.held.timestamp.tolist() == [2, 3, 4]
    assert (settled.over_limit, settled.dropped_until) == (2, 1)
    s.adopt(view, settled)
    assert s.over_held_limit == 2


def test_events_that_no_window_needs_are_not_a_matter_of_limits() -> None:
    s = state(plan(LAST_4, held_events=10))
    s.apply(batch([event(i, i) for i in range(9)]))
    (view,) = s.view().versions
    settled = view.settle(s.clocks.watermark)
    assert settled.held.timestamp.tolist() == [5, 6, 7, 8]
    assert settled.over_limit == 0


def test_what_an_evaluation_settled_is_adopted_unless_the_state_went_on(monkeypatch) -> None:
    monkeypatch.setattr(store, "SETTLE_AT", 3)
    s = state(plan(LAST_4))
    s.apply(batch([event(0, 10)]))
    (early,) = s.view().versions
    settled = early.settle(s.clocks.watermark)
    s.apply(batch([event(1, 11)]))
    s.adopt(early, settled)  # the event that came meanwhile still waits
    assert held(s) == [10, 11]
    (stale,) = s.view().versions
    settled = stale.settle(s.clocks.watermark)
    s.apply(batch([event(2, 12), event(3, 13), event(4, 14)]))  # settles by itself
    s.adopt(stale, settled)
    assert held(s) == [11, 12, 13, 14]


@pytest.mark.parametrize("segments", [False, True])
def test_a_held_event_costs_24_bytes_and_2_a_segment_key(segments: bool) -> None:
    p = plan((WindowSpec("all_of_them", "events", 1000),))
    if not segments:
        p = dataclasses.replace(p, spec=dataclasses.replace(p.spec, segments=()))
    s = state(p)
    decoded = batch([event(i, i) for i in range(1000)])
    if not segments:
        ((key, columns),) = decoded.columns.items()
        columns = dataclasses.replace(columns, segments=columns.segments[:, :0])
        decoded = dataclasses.replace(decoded, columns={key: columns})
    s.apply(decoded)
    (view,) = s.view().versions
    assert view.settle(s.clocks.watermark).held.nbytes() == 1000 * (26 if segments else 24)


def test_a_version_that_comes_back_knows_what_its_windows_lack() -> None:
    s = state(plan((WindowSpec("long", "duration", 1000),)), retire_after=50)
    s.apply(batch([event(0, 100), event(1, 200, version="2")]))
    assert [v.version for v in s.advance(()).versions] == ["1"]
    s.apply(batch([event(2, 210)]))
    (view,) = (v for v in s.view().versions if v.version == "1")
    assert view.settle(210).dropped_until == 100
    assert held(s) == [210]


def test_each_retired_version_is_remembered_no_longer_than_windows_reach() -> None:
    s = state(plan((WindowSpec("long", "duration", 1000),)), retire_after=50)
    s.apply(batch([event(0, 100)]))
    s.apply(batch([event(1, 200, version="2")]))
    s.advance(())
    s.apply(batch([event(2, 2000, version="3")]))
    s.advance(())
    assert (s.retired, s.missing_until) == ({}, {"m": 200})
    s.apply(batch([event(3, 2010)]))
    (view,) = (v for v in s.view().versions if v.version == "1")
    assert view.settle(2010).dropped_until == 200  # before all that a window reaches back to


def test_versions_of_a_model_are_forgotten_as_if_they_had_retired() -> None:
    plans = {name: plan((WindowSpec("long", "duration", 1000),), held_events=1) for name in "mn"}
    s = State(plans, allowed_lateness=0, retire_after=10**15, device=CPU)
    decoded = batch([event(0, 100), event(1, 101, version="2"), event(2, 102)])
    s.apply(decoded)
    s.apply(EventBatch({("n", "1"): decoded.columns["m", "2"]}))
    for view in s.view().versions:
        s.adopt(view, view.settle(102))
    gone = s.forget("m")
    assert [(v.version, v.last_event, v.labeled) for v in gone.versions] == [("1", 102, 2), ("2", 101, 1)]
    assert gone.versions[0].settle(102).held.timestamp.tolist() == [102]
    assert s.over_held_limit == 1
    assert [v.model for v in s.view().versions] == ["n"]
    s.apply(batch([event(3, 103)]))
    (view,) = (v for v in s.view().versions if v.model == "m")
    assert (view.base.dropped_until, view.labeled) == (102, 1)
    assert s.forget("nobody").versions == ()


def test_a_version_of_a_name_with_missing_events_knows_it() -> None:
    s = state(plan(LAST_4))
    s.missing_until = {"m": 50}
    s.retired = {("m", "1"): 40, ("m", "2"): 60}
    s.apply(batch([event(i, 100, version=str(i)) for i in range(1, 4)]))
    assert [(v.version, v.base.dropped_until) for v in s.view().versions] == [("1", 50), ("2", 60), ("3", 50)]


def test_a_state_goes_on_with_what_another_showed() -> None:
    first = state(plan(LAST_4))
    first.apply(batch([event(i, i) for i in range(6)]))
    (view,) = first.view().versions
    first.adopt(view, view.settle(5))
    first.apply(batch([event(6, 6)]))
    second = state(plan(LAST_4))
    second.next_offsets, second.clocks = first.next_offsets, first.clocks
    second.resume(first.view().versions)
    assert not second.view().caught_up  # nobody knows before `advance`
    second.advance(())
    assert second.view().caught_up
    for s in (first, second):
        assert held(s) == [3, 4, 5, 6]
        (view,) = s.view().versions
        assert (view.labeled, view.unlabeled, view.since, view.last_event) == (7, 0, 0, 6)
    second.apply(batch([event(7, 7)]))
    assert held(second) == [4, 5, 6, 7]
    assert held(first) == [3, 4, 5, 6]


def test_the_state_goes_on_on_another_device() -> None:
    s = state(plan(LAST_4), device=DEVICES[-1])
    s.apply(batch([event(0, 100), event(1, 101)]))
    assert held(s) == [100, 101]
    (view,) = s.view().versions
    s.adopt(view, view.settle(101))
    s.move(CPU)
    s.apply(batch([event(2, 102), event(3, 103, version="2")]))
    assert held(s) == [100, 101, 102]
    assert held(s, "2") == [103]
    assert {v.settle(103).device for v in s.view().versions} == {CPU}


def test_labels_of_many_classes_are_counted_as_one_event() -> None:
    spec = SPECS["multilabel"]
    s = state(Plan(spec, LAST_4, 0, 1 << 18))
    columns = random_columns(spec, 40, 1)
    unlabeled = int((columns.label[:, 0] == -1).sum())
    s.apply(EventBatch({("m", "1"): columns}))
    assert s.unlabeled["m"] == unlabeled > 0
    (view,) = s.view().versions
    assert (view.labeled, view.unlabeled) == (40 - unlabeled, unlabeled)


def test_versions_are_settled_together_as_one_by_one() -> None:
    narrow = dataclasses.replace(SPECS["binary"], segments=("x",))
    specs = {**SPECS, "fewer segment keys": narrow}
    s = State(
        {name: Plan(spec, LAST_4, 0, 1 << 18) for name, spec in specs.items()},
        allowed_lateness=0,
        retire_after=10**15,
        device=CPU,
    )
    keys = [(model, version) for model in specs for version in "123"]
    for step in range(2):
        for seed, key in enumerate(keys, start=1):
            spec = specs[key[0]]
            arrived = random_columns(spec, 5 * seed, 10 * seed + step, Mix(keys=len(spec.segments)))
            s.apply(EventBatch({key: arrived}))
        views = s.view().versions
        together = settle(views, 1000)
        for view, version in zip(views, together, strict=True):
            alone = view.settle(1000)
            assert version.groups == alone.groups
            for name in ("held", "counts"):
                pairs = zip(getattr(version, name).tensors(), getattr(alone, name).tensors(), strict=True)
                assert all(torch.equal(a.nan_to_num(), b.nan_to_num()) for a, b in pairs)
            assert version.held.segments.shape[1] == len(specs[view.model].segments)
            assert torch.equal(version.histogram.key, alone.histogram.key)
            assert torch.equal(version.histogram.count, alone.histogram.count)
            s.adopt(view, version)
    assert all(len(view.waiting) == 0 for view in s.view().versions)
