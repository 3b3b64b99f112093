"""Challengers beside the champion: by ids within an hour, else in turn."""

from __future__ import annotations

import numpy as np
import pytest

from monitor.alerts.rule import Limit, Rule
from monitor.events.batch import Columns, Marks
from monitor.watch import pairing
from monitor.watch.matured import Matured
from monitor.watch.pairing import HOUR, Pair, Pairing
from monitor.watch.watch import Watch
from tests.support.tasks import SPECS

SPEC = SPECS["binary"]
NONE = 0


def read(subject: Pairing, *rows: tuple[str, int, int, int]) -> list[Pair]:
    """Read (version, time, id, units)."""
    return [pair for row in rows for pair in subject.read(*row)]


def test_events_with_one_id_are_a_pair_whichever_comes_first() -> None:
    subject = Pairing("old", by_label=True)
    assert read(subject, ("new", 0, 7, 1), ("old", 5, 7, 2)) == [Pair("new", 1, 2)]
    assert read(subject, ("old", 6, 8, 3), ("new", 6, 8, 4)) == [Pair("new", 4, 3)]
    assert read(subject, ("old", 9, 8, 3)) == []


def test_all_challengers_are_paired_with_one_event_of_the_champion() -> None:
    subject = Pairing("old", by_label=True)
    rows = [("a", 0, 7, 1), ("old", 1, 7, 2), ("b", 2, 7, 3)]
    assert read(subject, *rows) == [Pair("a", 1, 2), Pair("b", 3, 2)]


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("first", ["new", "old"])
def test_within_an_hour(first: str, late: bool) -> None:
    subject = Pairing("old", by_label=True)
    read(subject, ("new", 0, 1, 0))
    second = "old" if first == "new" else "new"
    found = read(subject, (first, 10, 7, 1), (second, 10 + HOUR + late, 7, 1))
    assert found == ([] if late else [Pair("new", 1, 1)])


def test_of_several_events_with_one_id_the_newest_counts() -> None:
    subject = Pairing("old", by_label=True)
    rows = [("new", 0, 7, 1), ("new", 1, 7, 2), ("old", 2, 7, 3), ("old", 3, 7, 4)]
    assert read(subject, *rows) == [Pair("new", 2, 3)]


def test_too_many_that_wait_push_out_the_oldest(monkeypatch) -> None:
    monkeypatch.setattr(pairing, "WAITING", 3)
    subject = Pairing("old", by_label=True)
    read(subject, *(("new", i, 10 + i, i) for i in range(4)))
    assert len(subject.waiting) == 3
    assert read(subject, *(("old", 5, 10 + i, i) for i in (0, 3))) == [Pair("new", 3, 3)]


def test_without_ids_they_are_paired_in_turn() -> None:
    subject = Pairing("old", by_label=True)
    rows = [
        ("old", 0, NONE, 9),  # before there was a challenger
        ("new", 1, NONE, 1),
        ("new", 2, NONE, 2),
        ("old", 3, NONE, 3),
        ("old", 4, NONE, 4),
        ("old", 5, NONE, 5),
        ("new", 6, NONE, 6),
    ]
    assert read(subject, *rows) == [Pair("new", 1, 3), Pair("new", 2, 4), Pair("new", 6, 5)]


def test_metrics_whose_events_the_decision_chooses_are_paired_in_turn() -> None:
    subject = Pairing("old", by_label=False)
    assert read(subject, ("new", 1, 7, 1), ("old", 2, 8, 2)) == [Pair("new", 1, 2)]


def test_in_turn_the_champion_is_not_far_behind(monkeypatch) -> None:
    monkeypatch.setattr(pairing, "IN_TURN", 5)
    subject = Pairing("old", by_label=True)
    read(subject, ("new", 0, NONE, 0), ("old", 0, NONE, 0))
    read(subject, *(("old", i, NONE, i) for i in range(50)))
    assert read(subject, ("new", 50, NONE, 1)) == [Pair("new", 1, 45)]


def test_ids_that_never_match_are_given_up(monkeypatch) -> None:
    monkeypatch.setattr(pairing, "PATIENCE", 10)
    subject = Pairing("old", by_label=True)
    split = [(name, i, 100 + i, i) for i in range(24) for name in (("new",) if i % 2 else ("old",))]
    found = read(subject, *split)
    assert found == [Pair("new", 21, 20), Pair("new", 23, 22)]
    matched = Pairing("old", by_label=True)
    read(matched, ("new", 0, 1, 1), ("old", 1, 1, 1))
    assert read(matched, *split) == []


def test_a_challenger_that_is_gone_waits_for_nothing() -> None:
    subject = Pairing("old", by_label=True)
    read(subject, ("new", 0, 7, 1))
    subject.forget("new")
    assert (subject.sides, len(subject.waiting)) == ({}, 0)
    assert read(subject, ("old", 1, 7, 1)) == []


def versions(n: int, shares: dict[str, float], *, ids: bool, first: int = 0) -> dict:
    """Return the same positives as several versions decide them, each rightly with its probability."""
    rng = np.random.default_rng(first)
    luck = rng.random(n)
    found = {}
    for i, (version, share) in enumerate(shares.items()):
        right = luck < share
        columns = Columns(
            timestamp=first + 2 * np.arange(n) + i,
            position=first + np.arange(n) + (i << 48),
            label=np.ones(n, np.int16),
            decision=right.astype(np.int16),
            score=np.zeros((n, 1), np.float32),
            segments=np.zeros((n, 2), np.int16),
        )
        identity = 1 + first + np.arange(n) if ids else None
        found["m", version] = Matured(columns, Marks(columns.timestamp, identity))
    return found


def watch(champion) -> Watch:
    rule = Rule(
        "worse",
        "m",
        "classifier_recall",
        class_="b",
        limit=Limit("champion", margin=0.02),
        false_alarm_every=1000,
    )
    return Watch(
        [rule],
        {"m": SPEC},
        costs={"m": (3.0, 1.0)},
        baselines={},
        champions=champion,
        segment_name=lambda *_: None,
    )


@pytest.mark.parametrize("ids", [True, False])
def test_a_challenger_that_is_worse_than_the_champion_is_found(ids: bool) -> None:
    subject = watch(lambda model: "1")
    shares = {"1": 0.9, "2": 0.5, "3": 0.9}
    sightings = subject.consume(versions(2000, shares, ids=ids))
    [raised] = sightings
    assert (raised.key.version, raised.firing) == ("2", True)
    evidence = raised.evidence
    assert evidence.value is not None and evidence.limit is not None
    assert evidence.value < 0.6 and 0.75 < evidence.limit < 1
    assert evidence.beyond == pytest.approx((evidence.limit - evidence.value) * evidence.support)
    assert evidence.cost_beyond == pytest.approx(3 * evidence.beyond)
    assert {look.key.version: look.firing for look in subject.looks()} == {"2": True, "3": False}
    [cleared] = subject.consume(versions(3000, {"1": 0.5, "2": 0.9}, ids=ids, first=4000))
    assert (cleared.key.version, cleared.firing) == ("2", False)


def test_pairs_tell_sooner() -> None:
    found = []
    for ids in (True, False):
        shares = {"1": 0.9, "2": 0.8}
        [first, *_] = watch(lambda model: "1").consume(versions(8000, shares, ids=ids))
        found.append(first.moment.timestamp)
    assert found[0] <= found[1]


def test_a_new_champion_is_what_the_others_are_held_against() -> None:
    champion: list[str | None] = ["1"]
    subject = watch(lambda model: champion[0])
    shares = {"1": 0.9, "2": 0.5, "3": 0.9}
    subject.consume(versions(500, shares, ids=True))
    champion[0] = "3"
    resumed = watch(lambda model: champion[0])
    resumed.resume(subject.tree())
    sightings = resumed.consume(versions(500, shares, ids=True, first=1000))
    assert sightings == []  # 2 goes on firing
    looks = {look.key.version: look for look in resumed.looks()}
    assert {version: look.firing for version, look in looks.items()} == {"1": False, "2": True}
    assert looks["1"].evidence.support == 500
    champion[0] = None  # not to know it is no change
    resumed.consume(versions(10, shares, ids=True, first=2000))
    looks = {look.key.version: look for look in resumed.looks()}
    assert {v: (look.firing, look.reason) for v, look in looks.items()} == {
        "1": (False, None),
        "2": (True, None),
    }
    champion[0] = "1"
    again = watch(lambda model: champion[0])
    again.resume(resumed.tree())
    [cleared] = again.consume(versions(3000, {"1": 0.5, "2": 0.9}, ids=True, first=3000))
    assert (cleared.key.version, cleared.firing) == ("2", False)


def test_a_model_that_is_gone_is_compared_no_more() -> None:
    subject = watch(lambda model: "1")
    subject.consume(versions(50, {"1": 0.9, "2": 0.5}, ids=True))
    subject.forget("m", "2")
    subject.forget("m", "1")
    assert subject.tree()["comparisons"]["pairings"] == []
    assert subject.tree()["champions"] == {}
