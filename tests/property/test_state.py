"""The state depends on the set of events consumed alone, and is what the definitions say."""

from __future__ import annotations

from dataclasses import fields

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from monitor.state.columns import concatenate, upload
from monitor.state.counting import count_cumulative, count_windows
from monitor.state.grouping import ALL
from monitor.state.settling import settle_all
from monitor.state.version import Version
from monitor.state.windows import Plan, WindowSpec, extent
from tests.support.properties import examples
from tests.support.streams import DEVICES, Event, batch, plan, state
from tests.support.tasks import SPECS, Mix, random_columns

WINDOWS = (
    WindowSpec("last_7", "events", 7),
    WindowSpec("recent", "duration", 40),
    WindowSpec("last_3_pos", "positives", 3),
)
HOUR = 3600


mixes = st.builds(
    Mix,
    unlabeled=st.sampled_from([0, 0.2, 1]),
    unscored=st.sampled_from([0, 0.2, 1]),
    decimals=st.sampled_from([0, 1, 7]),
)


@st.composite
def streams(draw) -> list[list[Event]]:
    """Events of up to three partitions, each with a clock of its own, hours apart."""
    partitions = []
    for p in range(draw(st.integers(1, 3))):
        clock = draw(st.integers(0, 2)) * HOUR
        events = []
        for offset in range(draw(st.integers(0, 25))):
            clock += draw(st.integers(0, 9))
            events.append(
                Event(
                    partition=p,
                    offset=offset,
                    timestamp=clock - draw(st.sampled_from([0, 0, 0, 5, 100])),
                    label=draw(st.sampled_from([0, 1, 1, -1])),
                    decision=draw(st.sampled_from([0, 1, -1])),
                    score=draw(st.sampled_from([None, 0.0, 0.25, 0.5, 0.7, 1.0])),
                    segment=draw(st.integers(0, 3)),
                    version=draw(st.sampled_from(["1", "1", "2"])),
                )
            )
        partitions.append(events)
    return partitions


def interleavings(draw, partitions: list[list[Event]]) -> list[list[Event]]:
    """Cut the partitions into batches, read in an order of their own."""
    rest, batches = [list(p) for p in partitions], []
    while any(rest):
        events = []
        for p in draw(st.permutations(range(len(rest)))):
            n = draw(st.integers(0, 6))
            events += rest[p][:n]
            rest[p] = rest[p][n:]
        if events:
            batches.append(events)
    return batches


def consume(batches: list[list[Event]], windows_plan, *, look) -> dict[str, Version]:
    s = state(windows_plan)
    for events in batches:
        s.apply(batch(events))
        if look():
            for view in s.view().versions:
                s.adopt(view, view.settle(s.clocks.watermark))
    return {v.version: v.settle(s.clocks.watermark) for v in s.view().versions}


def canonical(version: Version) -> dict[str, object]:
    """Everything that must not depend on arrival: segment groups by their name, not number."""
    order = sorted(range(len(version.groups)), key=lambda i: version.groups[i])
    return {
        "held": [c.tolist() for c in version.held.tensors() if not c.dtype.is_floating_point],
        "score": version.held.score.nan_to_num(-1).tolist(),
        "groups": [version.groups[i] for i in order],
        "counts": {f.name: getattr(version.counts, f.name)[order].tolist() for f in fields(version.counts)},
        **histogram(version, order),
    }


def histogram(version: Version, order: list[int]) -> dict[str, object]:
    """The scores of the groups in this order."""
    rows = len(version.histogram.shift) // len(version.groups)
    of_groups = torch.tensor([group * rows + row for group in order for row in range(rows)])
    table = version.histogram.take(of_groups.to(version.device))
    return {"key": table.key.tolist(), "count": table.count.tolist(), "shift": table.shift.tolist()}


@examples(25)
@given(st.data(), streams(), st.sampled_from([0, 13]), st.sampled_from([6, 1 << 18]))
def test_any_batching_and_interleaving_gives_the_same_state(data, partitions, maturity, limit) -> None:
    p = plan(WINDOWS, maturity=maturity, held_events=limit)
    states = [
        consume(interleavings(data.draw, partitions), p, look=lambda: data.draw(st.booleans()))
        for _ in range(2)
    ]
    assert {k: canonical(v) for k, v in states[0].items()} == {k: canonical(v) for k, v in states[1].items()}


@examples(30)
@given(st.data(), streams(), st.sampled_from([0, 13]))
def test_windows_are_what_the_definitions_say(data, partitions, maturity) -> None:
    versions = consume(interleavings(data.draw, partitions), plan(WINDOWS, maturity=maturity), look=lambda: 0)
    events = sorted((e for p in partitions for e in p), key=lambda e: e.order)
    for name, version in versions.items():
        end = max(e.timestamp for e in events) - maturity
        mature = [e for e in events if e.version == name and e.timestamp <= end]
        positives = [i for i, e in enumerate(mature) if e.label == 1]
        expected = {
            "last_7": mature[-7:],
            "recent": [e for e in mature if e.timestamp > end - 40],
            "last_3_pos": mature[positives[-3] :] if len(positives) >= 3 else mature,
        }
        for window in WINDOWS:
            got = extent(version.held, window, end, 1)
            positions = version.held.position[got.first : got.last].tolist()
            timestamps = version.held.timestamp[got.first : got.last].tolist()
            assert [(t, p >> 48, p & (1 << 48) - 1) for t, p in zip(timestamps, positions, strict=True)] == [
                e.order for e in expected[window.name]
            ]
        whole = version.groups.index(ALL)
        mine = [e for e in events if e.version == name]
        assert int(version.counts.decisions[whole].sum()) == len(mine)
        for true in (0, 1):
            for column, decided in enumerate((0, 1, -1)):
                count = sum(e.label == true and e.decision == decided for e in mine)
                assert int(version.counts.confusion[whole, true, column]) == count
        scored = [e for e in mine if e.score is not None and e.label >= 0]
        squares = sum(round((e.label - float(torch.tensor(e.score))) ** 2 * 2**30) for e in scored)
        assert int(version.counts.squared_error[whole].sum()) == squares
        start, end = version.histogram.starts()[whole : whole + 2].tolist()
        assert int(version.histogram.count[:, start:end].sum()) == len(scored)


@pytest.mark.parametrize("device", DEVICES, ids=str)
@pytest.mark.parametrize("task", SPECS)
@examples(15)
@given(data=st.data(), sizes=st.lists(st.integers(0, 40), min_size=1, max_size=4), mix=mixes)
def test_any_order_of_arrival_gives_the_sums_of_one_window(task, device, data, sizes, mix) -> None:
    spec = SPECS[task]
    parts = [random_columns(spec, n, seed, mix) for seed, n in enumerate(sizes)]
    events = concatenate([upload(part, device) for part in parts])
    window = count_windows(spec.kind, [events])
    states = []
    for _ in range(2):
        version = Version.empty(Plan(spec, (), 0, 1 << 18), device)
        for i in data.draw(st.permutations(range(len(parts)))):
            (version,) = settle_all([version], [parts[i]], 10**9)
        states.append(canonical(version))
    assert states[0] == states[1]
    cumulative = count_cumulative([version])
    assert cumulative.cases[0] == window.cases[0]
    order = [cumulative.cases.index(case) for case in window.cases]
    for f in fields(window.tally):
        assert torch.equal(getattr(cumulative.tally, f.name)[order], getattr(window.tally, f.name)), f.name
    same = cumulative.take(order).scores
    for name in ("positives", "negatives", "micro_positives", "micro_negatives", "threshold", "probability"):
        assert torch.equal(getattr(same, name), getattr(window.scores, name)), name
