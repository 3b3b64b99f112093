"""What waits behind the frontier: each event that came in time comes out once, in order."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.events.batch import Columns
from monitor.watch.feed import BLOCK, Feed
from monitor.watch.matured import Matured, joined
from tests.support.tasks import SPECS, Mix
from tests.support.watching import Version, batch, events, part, rows

A, B, OTHER = ("m", "1"), ("m", "2"), ("other", "1")
SPEC = SPECS["binary"]
FULL = Mix(unscored=0.0)


def feed(maturity: int = 0, limit: int = 10**6, **options) -> Feed:
    return Feed({"m": maturity, "*": 2 * maturity}, limit, {"m": SPEC, "*": SPEC}, **options)


def drain(found: dict[Version, list], taken: dict[Version, Matured]) -> None:
    for version, matured in taken.items():
        found.setdefault(version, []).extend(rows(matured))


@settings(max_examples=60)
@given(
    data=st.data(), seed=st.integers(0, 2**16), maturity=st.sampled_from([0, 3, 50]), resumed=st.booleans()
)
def test_what_comes_in_time_comes_out_once_and_in_order(data, seed, maturity, resumed) -> None:
    rng = np.random.default_rng(seed)
    whole = {v: events(SPEC, 60, seed + i, mix=FULL) for i, v in enumerate((A, B, OTHER))}
    # Arrival: by time, give or take.
    arrival = sorted(
        ((whole[v].columns.timestamp[i] + rng.integers(0, 12), v, i) for v in whole for i in range(60)),
    )
    cuts = sorted(data.draw(st.lists(st.integers(0, len(arrival)), max_size=8)))
    subject = feed(maturity)
    frontier = None
    out: dict[Version, list] = {}
    expected: dict[Version, list] = {}
    for start, end in zip([0, *cuts], [*cuts, len(arrival)], strict=True):
        read = {}
        for version in whole:
            index = [i for _, v, i in arrival[start:end] if v == version]
            if index:
                read[version] = part(whole[version], np.array(index))
                times = read[version].columns.timestamp
                given = None if frontier is None else frontier - age(version, maturity)
                expected.setdefault(version, []).extend(
                    row for row in rows(read[version]) if given is None or row[0] > given
                )
                frontier_of_batch = int(times.max()) - data.draw(st.integers(0, 15))
        subject.add(batch(read), frontier)
        if read:
            frontier = frontier_of_batch if frontier is None else max(frontier, frontier_of_batch)
        if frontier is not None and data.draw(st.booleans()):
            drain(out, subject.take(frontier))
        if resumed and data.draw(st.booleans()):
            tree = copy.deepcopy(subject.tree())
            subject = feed(maturity)
            subject.resume(tree)
    assert frontier is not None
    for version in whole:
        until = frontier - age(version, maturity)
        due = out.get(version, [])
        assert all(row[0] <= until for row in due)
    drain(out, subject.take(frontier))
    for version in whole:
        until = frontier - age(version, maturity)
        due = [row for row in expected.get(version, []) if row[0] <= until]
        assert out.get(version, []) == sorted(due, key=lambda row: row[:2])
    assert len(subject) == sum(map(len, expected.values())) - sum(map(len, out.values()))
    assert subject.dropped == 0


def age(version: Version, maturity: int) -> int:
    """Return how old labels of a model have to be in `feed`."""
    return maturity if version[0] == "m" else 2 * maturity


def test_labels_that_come_within_their_maturity_are_not_late() -> None:
    """As when each label is sent once it is known, with the time of its prediction."""
    subject = feed(maturity=20)
    whole = events(SPEC, 100, 1, mix=FULL)
    subject.add(batch({A: whole}), 50)
    assert [row[0] for row in rows(subject.take(1000)[A])] == [t for t in whole.columns.timestamp if t > 30]


def test_events_at_the_frontier_are_late() -> None:
    subject = feed()
    whole = events(SPEC, 100, 1, mix=FULL)
    subject.add(batch({A: whole}), 50)
    assert [row[0] for row in rows(subject.take(1000)[A])] == [t for t in whole.columns.timestamp if t > 50]


def test_labels_are_waited_for() -> None:
    subject = feed(maturity=10)
    whole = events(SPEC, 100, 1, mix=FULL)
    subject.add(batch({A: whole, OTHER: whole}), None)
    taken = subject.take(60)
    assert taken[A].columns.timestamp.max() == max(t for t in whole.columns.timestamp if t <= 50)
    assert taken[OTHER].columns.timestamp.max() == max(t for t in whole.columns.timestamp if t <= 40)
    assert subject.take(60) == {}


def test_nothing_waits_that_nobody_wants() -> None:
    subject = feed(wanted=lambda model: model == "m")
    whole = events(SPEC, 10, 1)
    subject.add(batch({A: whole, OTHER: whole}), None)
    assert len(subject) == 10
    tree = subject.tree()
    other = feed(wanted=lambda model: False)
    other.resume(tree)
    assert len(other) == 0


def test_beyond_the_limit_what_arrives_is_dropped_and_counted() -> None:
    subject = feed(limit=25)
    whole = events(SPEC, 40, 1)
    for start in range(0, 40, 10):
        subject.add(batch({A: part(whole, np.arange(start, start + 10)), B: part(whole, [start])}), None)
    assert subject.dropped == 15
    assert rows(subject.take(10**6)[A]) == rows(part(whole, np.arange(25)))
    subject.add(batch({A: part(whole, np.arange(39, 40))}), None)
    assert subject.dropped == 15
    resumed = feed(limit=25)
    resumed.resume(subject.tree())
    assert resumed.dropped == 15


def test_a_version_that_is_forgotten_has_nothing_waiting() -> None:
    subject = feed()
    whole = events(SPEC, 10, 1)
    subject.add(batch({A: whole, B: whole}), None)
    subject.forget(*A)
    assert list(subject.take(10**6)) == [B]


def test_small_pieces_are_joined() -> None:
    subject = feed()
    whole = events(SPEC, 3 * BLOCK, 1)
    for start in range(0, 3 * BLOCK, 8):
        subject.add(batch({A: part(whole, np.arange(start, start + 8))}), None)
    [queue] = subject._queues.values()
    assert len(queue._pieces) <= 3 + 12
    assert rows(subject.take(10**9)[A]) == rows(whole.ordered())


@pytest.mark.parametrize("task", SPECS)
def test_events_of_every_task_are_remembered(task: str) -> None:
    spec = SPECS[task]
    subjects = [Feed({"*": 0}, 1000, {"*": spec}) for _ in range(2)]
    whole = {A: events(spec, 30, 1, ids=5), B: events(spec, 20, 2, ids=5)}
    subjects[0].add(batch(whole), None)
    tree = subjects[0].tree()
    assert len(tree["waiting"]) == 1
    subjects[1].resume(tree, lambda model, key: 3)
    for version, taken in subjects[1].take(10**6).items():
        assert rows(taken) == rows(whole[version])


def test_segment_keys_are_found_by_name_when_others_are_configured() -> None:
    subject = feed()
    whole = events(SPEC, 30, 1)
    subject.add(batch({A: whole}), None)
    x_last = SPEC.__class__("m", "binary", ("a", "b"), 1, segments=("new", "x"))
    resumed = Feed({"m": 0}, 100, {"m": x_last})
    resumed.resume(subject.tree())
    taken = resumed.take(10**6)[A].columns
    assert taken.segments[:, 1].tolist() == whole.columns.segments[:, 0].tolist()
    assert not taken.segments[:, 0].any()


def test_events_with_and_without_ids_wait_together() -> None:
    with_ids, without = events(SPEC, 5, 1, ids=9), events(SPEC, 5, 2)
    identity = joined([with_ids, without]).marks.identity
    assert identity is not None and with_ids.marks.identity is not None
    assert identity.tolist() == [*with_ids.marks.identity.tolist(), 0, 0, 0, 0, 0]


def _damages(tree):
    pack = tree["waiting"][0]
    for name in (*Columns.__slots__, "recorded"):
        yield {**pack, name: pack[name][:-1]}
        yield {**pack, name: pack[name].astype(np.float64)}
        yield {name_: value for name_, value in pack.items() if name_ != name}
    for name, bad in (("label", 7), ("label", -2), ("decision", 2), ("position", -1), ("segments", 9)):
        array = pack[name].copy()
        array[3] = bad
        yield {**pack, name: array}
    for bad in (1.5, -0.1, np.inf):
        score = pack["score"].copy()
        score[3] = bad
        yield {**pack, "score": score}
    timestamp = pack["timestamp"].copy()
    timestamp[2] = 2**62
    yield {**pack, "timestamp": timestamp}
    yield {**pack, "versions": [["m", "1", 29]]}
    yield {**pack, "versions": [["m", "1", 20], ["m", "1", 10]]}
    yield {**pack, "versions": [["m", "1"]]}
    yield {**pack, "versions": [["m", 1, 30]]}


def test_damage_is_refused() -> None:
    subject = feed()
    subject.add(batch({A: events(SPEC, 30, 1)}), None)
    tree = subject.tree()
    damages = list(_damages(tree))
    assert len(damages) > 30
    for damaged in damages:
        with pytest.raises(ValueError):
            feed().resume({**tree, "waiting": [damaged]}, lambda model, key: 3)
    for damaged in ({"dropped": -1}, {"waiting": None}, {"waiting": [None]}):
        with pytest.raises(ValueError):
            feed().resume({**tree, **damaged})
