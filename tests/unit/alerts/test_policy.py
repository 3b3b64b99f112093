"""The state machine of one alert: what breaches, holds, fires and resolves, and when."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.alerts.alert import Evidence, Moment
from monitor.alerts.policy import Step, look, quiet, sight, undefined_look
from monitor.alerts.rule import Limit, Rule
from monitor.alerts.track import Reading, Track

SECOND = 1_000_000
MINUTE = 60 * SECOND
FLOOR = Rule(
    "Low", "fraud", "classifier_recall", class_="fraud", condition="value", limit=Limit("number", 0.8)
)


def at(minutes: float) -> Moment:
    return Moment(int(minutes * MINUTE), int(minutes * MINUTE) + SECOND, int(minutes))


def reads(value: float | None, half: float = 0.05, limit: float | None = 0.8, **changes: Any) -> Reading:
    undefined = None if value is not None else "no_positives"
    bounds = (None, None) if value is None else (value - half, value + half)
    evidence = Evidence(value, *bounds, limit=limit, support=100, undefined=undefined)
    return Reading(evidence, **changes)


def run(rule: Rule, readings: Sequence[Reading], track: Track | None = None) -> list[Step]:
    steps: list[Step] = []
    for minute, reading in enumerate(readings):
        before = steps[-1][0] if steps else track or Track()
        steps.append(look(rule, before, reading, at(minute)))
    return steps


def changes(steps: Sequence[Step]) -> list[str | None]:
    return [change for _, change in steps]


def test_a_breach_fires_at_once_and_recovery_resolves() -> None:
    steps = run(FLOOR, [reads(0.9), reads(0.7), reads(0.6), reads(0.8)])
    assert changes(steps) == [None, "firing", None, "resolved"]
    assert steps[2][0].started == at(1)
    assert steps[2][0].evidence.value == 0.6
    assert steps[3][0].started is None


@pytest.mark.parametrize("side, bad", [("floor", 0.7), ("ceiling", 0.9)])
def test_an_interval_breaches_only_as_a_whole(side: Any, bad: float) -> None:
    rule = replace(FLOOR, condition="interval", side=side)
    assert changes(run(rule, [reads(bad, half=0.11), reads(bad, half=0.09)])) == [None, "firing"]


def test_an_interval_resolves_by_its_point() -> None:
    rule = replace(FLOOR, condition="interval", hysteresis=0.02)
    steps = run(rule, [reads(0.7), reads(0.79), reads(0.81), reads(0.83)])
    assert changes(steps) == ["firing", None, None, "resolved"]


def test_a_ceiling_resolves_below_by_the_hysteresis() -> None:
    rule = replace(FLOOR, side="ceiling", hysteresis=0.1)
    assert changes(run(rule, [reads(0.9), reads(0.75), reads(0.65)])) == ["firing", None, "resolved"]


def test_steps_have_to_be_in_a_row() -> None:
    rule = replace(FLOOR, for_steps=3)
    bad, good = reads(0.7), reads(0.9)
    steps = run(rule, [bad, bad, good, bad, bad, bad])
    assert changes(steps) == ["pending", None, "inactive", "pending", None, "firing"]
    assert steps[4][0].breached == at(3)


def test_a_time_is_event_time_since_the_first_breach() -> None:
    rule = replace(FLOOR, for_time=2 * MINUTE)
    assert changes(run(rule, [reads(0.7)] * 3)) == ["pending", None, "firing"]


@pytest.mark.parametrize(
    "held, reason",
    [
        (reads(None), "no labels of class fraud"),
        (reads(0.1, complete=False), "the window is not complete yet"),
        (reads(0.1, label_coverage=0.4), "40.0% of the window's events have labels, less than 50.0%"),
        (reads(0.1, limit=None, unknown="the champion version is not known"), "the champion version"),
        (replace(reads(0.1), evidence=Evidence(0.1, limit=0.8, support=19)), "support of 19 is below"),
        (replace(reads(0.1), evidence=Evidence(0.1, limit=0.8, support=50)), "the value has no analytic"),
    ],
)
def test_what_cannot_be_judged_by_holds(held: Reading, reason: str) -> None:
    rule = replace(FLOOR, condition="interval", for_steps=2, min_label_coverage=0.5)
    bad, good = reads(0.7, label_coverage=0.9), reads(0.9)
    steps = run(rule, [held, bad, held, bad, held, good])
    assert changes(steps) == [None, "pending", None, "firing", None, "resolved"]
    for place in (0, 2, 4):
        assert (steps[place][0].reason or "").startswith(reason)
    assert steps[3][0].reason is None
    assert steps[4][0].evidence.value == 0.7, "what it fires for can still be seen"


def test_no_new_episode_during_the_cooldown() -> None:
    rule = replace(FLOOR, cooldown=3 * MINUTE)
    bad, good = reads(0.7), reads(0.9)
    assert changes(run(rule, [bad, good, bad, bad, bad])) == ["firing", "resolved", "pending", None, "firing"]


def test_the_best_lower_bound_is_remembered() -> None:
    rule = replace(FLOOR, condition="interval", limit=Limit("best", margin=0.02))
    incomplete = reads(0.99, limit=None, complete=False)
    good, bad = reads(0.9, limit=None), replace(reads(0.7, half=0.1, limit=None), unit_cost=10.0)
    steps = run(rule, [incomplete, good, bad])
    assert changes(steps) == [None, None, "firing"]
    track = steps[-1][0]
    assert track.best == pytest.approx(0.85)
    assert track.evidence.limit == pytest.approx(0.83)
    assert track.evidence.beyond == pytest.approx(13)
    assert track.evidence.cost_beyond == pytest.approx(130)


def test_a_silent_version_goes_on_firing_when_it_is_heard_again() -> None:
    firing = run(FLOOR, [reads(0.7)])[-1][0]
    silent, change = quiet(FLOOR, firing, at(31), at(1).timestamp, 30 * MINUTE)
    assert (change, silent.state, silent.started) == ("no_data", "no_data", at(0))
    assert silent.reason == "no event of this version since 1970-01-01T00:01:00Z"
    assert quiet(FLOOR, silent, at(32), at(1).timestamp, 30 * MINUTE) == (silent, None)
    assert look(FLOOR, silent, reads(0.9), at(32)) == (silent, None)
    again, change = quiet(FLOOR, silent, at(40), at(39).timestamp, 30 * MINUTE)
    assert (change, again.state, again.started, again.since) == (None, "firing", at(0), at(40))
    assert look(FLOOR, again, reads(0.9), at(41))[1] == "resolved"


def test_a_silent_version_is_pending_or_inactive_again() -> None:
    rule = replace(FLOOR, for_steps=2)
    for reading, state in ((reads(0.7), "pending"), (reads(0.9), "inactive")):
        silent, _ = quiet(rule, run(rule, [reading])[-1][0], at(31), 0, 30 * MINUTE)
        again, change = quiet(rule, silent, at(32), at(32).timestamp, 30 * MINUTE)
        assert (change, again.state) == (state, state)


def test_a_detector_raises_and_clears() -> None:
    raised, change = sight(FLOOR, Track(), True, at(1), Evidence(statistic=9.0))
    assert (change, raised.state, raised.evidence.statistic) == ("firing", "firing", 9.0)
    assert sight(FLOOR, raised, True, at(2), Evidence())[1] is None
    cleared, change = sight(FLOOR, raised, False, at(3), Evidence())
    assert (change, cleared.state) == ("resolved", "inactive")
    assert sight(FLOOR, cleared, False, at(4), Evidence())[1] is None


def test_what_a_detector_raises_during_the_cooldown_is_pending_until_it_is_asked_again() -> None:
    rule = replace(FLOOR, cooldown=5 * MINUTE)
    waiting, change = sight(rule, Track(resolved=at(0).timestamp), True, at(2), Evidence())
    assert change == "pending"
    assert sight(rule, waiting, True, at(4), Evidence())[1] is None
    assert sight(rule, waiting, True, at(5), Evidence())[1] == "firing"
    assert sight(rule, waiting, False, at(4), Evidence())[1] == "inactive"


def test_a_sight_breaks_the_silence() -> None:
    silent = Track(silent=True, reason="silent")
    assert sight(FLOOR, silent, True, at(1), Evidence())[1] == "firing"
    assert sight(FLOOR, silent, False, at(1), Evidence())[1] == "inactive"
    again, change = sight(FLOOR, replace(silent, started=at(0)), True, at(1), Evidence())
    assert (change, again.state, again.reason) == (None, "firing", None)


def test_an_undefined_value_raises_its_own_alert() -> None:
    rule, track = replace(FLOOR, undefined_for=90 * SECOND), Track()
    seen = []
    for minute in range(4):
        track, change = undefined_look(rule, track, reads(None), at(minute))
        seen.append((track.state, change))
    assert seen == [("inactive", None), ("inactive", None), ("firing", "firing"), ("firing", None)]
    assert track.reason == "no labels of class fraud for 3 min"
    track, change = undefined_look(rule, track, reads(0.1, complete=False), at(4))
    assert (change, track.undefined_since, track.reason) == ("resolved", None, None)


def test_a_companion_can_be_told_since_when() -> None:
    reading = reads(None, undefined_since=at(-9).timestamp)
    for patience, change in ((10 * MINUTE, None), (9 * MINUTE, "firing")):
        rule = replace(FLOOR, undefined_for=patience)
        assert undefined_look(rule, Track(), reading, at(0))[1] == change


values = st.sampled_from([0.5, 0.7, 0.79, 0.8, 0.82, 0.9])
rules = st.builds(
    lambda condition, side, **rest: replace(FLOOR, condition=condition, side=side, **rest),
    st.sampled_from(["interval", "value"]),
    st.sampled_from(["floor", "ceiling"]),
    for_steps=st.integers(1, 3),
    for_time=st.sampled_from([0, MINUTE, 3 * MINUTE]),
    hysteresis=st.sampled_from([0.0, 0.03]),
    cooldown=st.sampled_from([0, 2 * MINUTE]),
    limit=st.sampled_from([Limit("number", 0.8), Limit("best", margin=0.05)]),
)
held = st.sampled_from([reads(None), reads(0.1, complete=False), reads(0.9, unknown="no limit")])


@given(rules, st.lists(values, max_size=20), st.data())
def test_undefined_readings_anywhere_change_nothing(rule: Rule, seen: list[float], data: Any) -> None:
    """With the same marks, a look that cannot be judged by is as if there had been none."""
    track = sparse = Track()
    for minute, value in enumerate(seen):
        track, change = look(rule, track, reads(value), at(minute))
        sparse, same = look(rule, sparse, reads(value), at(minute))
        assert change == same
        for reading in data.draw(st.lists(held, max_size=2)):
            before = sparse
            sparse, nothing = look(rule, sparse, reading, at(minute + 0.5))
            assert nothing is None
            assert sparse.state == before.state
            assert replace(sparse, evidence=before.evidence, reason=before.reason) == before
    assert replace(sparse, evidence=track.evidence, reason=track.reason) == track


@given(rules, st.lists(st.one_of(values, st.none(), st.just("silence")), max_size=30))
def test_an_episode_fires_once_and_ends_once(rule: Rule, seen: list[Any]) -> None:
    track, told = Track(), []
    for minute, value in enumerate(seen):
        last = -60 if value == "silence" else minute
        before = track
        track, change = quiet(rule, track, at(minute), at(last).timestamp, 30 * MINUTE)
        told.append(change)
        if value == "silence":
            assert track.started == before.started
            assert track.steps == before.steps
        track, change = look(rule, track, reads(None if value == "silence" else value), at(minute))
        told.append(change)
        assert (track.started is None) or track.breached is None
        assert (track.breached is None) == (track.steps == 0)
        if track.breached is not None and before.breached == track.breached:
            assert before.steps <= track.steps <= before.steps + 1
        assert track.silent == (value == "silence")
    notices = [change for change in told if change in ("firing", "resolved")]
    assert notices == ["firing", "resolved"] * (len(notices) // 2) + ["firing"] * (len(notices) % 2)


@given(rules, st.lists(values, max_size=30))
def test_nothing_fires_before_its_steps_time_and_cooldown(rule: Rule, seen: list[float]) -> None:
    steps = run(rule, [reads(value) for value in seen])
    for place, (track, change) in enumerate(steps):
        if change == "firing":
            assert place + 1 >= rule.for_steps
            before = steps[place - 1][0] if place else Track()
            first = before.breached or at(place)
            assert track.started is not None
            assert track.started.timestamp - first.timestamp >= rule.for_time
            assert before.resolved is None or at(place).timestamp - before.resolved >= rule.cooldown
