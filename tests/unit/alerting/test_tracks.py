"""What is remembered of every alert: steps, ends, who has been told, how much."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest

from monitor.alerting.present import Present
from monitor.alerting.tracks import KEPT_TRANSITIONS, Tracks
from monitor.alerts.alert import Evidence, Key, Moment, Transition
from monitor.alerts.policy import quiet, sight
from monitor.alerts.rule import Limit, Rule

RULE = Rule("Low", "fraud", "classifier_recall", class_="fraud", limit=Limit("number", 0.8))
OTHER = replace(RULE, name="Other")
KEY = Key("Low", "fraud", "1", "", "", "fraud")
EVIDENCE = Evidence(value=0.5, limit=0.8, support=40)
NOW = Present()
CATCHING_UP = Present(current=False)


def tracks(*, old: bool = False) -> Tracks:
    return Tracks(lambda model, moment, present: old)


def step(
    found: Tracks, firing: bool, at: int = 1, present: Present = NOW, key: Key = KEY
) -> list[Transition]:
    how = partial(sight, firing=firing, evidence=EVIDENCE)
    rule = replace(RULE, name=key.alert)
    return list(found.step(rule, key, Moment(at, at, at), present, how))


def test_an_alert_is_remembered_from_its_first_step_on() -> None:
    found = tracks()
    assert KEY not in found
    assert found[KEY].state == "inactive"
    (transition,) = step(found, True)
    assert (transition.key, transition.change, transition.historic) == (KEY, "firing", False)
    assert (transition.moment, transition.evidence) == (Moment(1, 1, 1), EVIDENCE)
    assert found[KEY].state == "firing"
    assert step(found, True, 2) == [], "no news"
    assert [(key, rule.name, track.state) for key, rule, track in found.items()] == [(KEY, "Low", "firing")]
    assert list(found.transitions) == [transition]


@pytest.mark.parametrize(("present", "old"), [(CATCHING_UP, False), (NOW, True)])
def test_history_is_untold_until_it_resolves(present: Present, old: bool) -> None:
    found = tracks(old=old)
    (fired,) = step(found, True, 1, present)
    assert fired.historic
    assert found.untold == {KEY}
    silence = partial(quiet, last_event=1, no_data_after=10)
    list(found.step(RULE, KEY, Moment(20, 1, 1), present, silence))
    assert found.untold == {KEY}, "silence is no news of it"
    (resolved,) = step(found, False, 30, present)
    assert resolved.historic
    assert found.untold == set()


def test_what_people_were_told_of_resolves_even_while_catching_up() -> None:
    found = tracks()
    step(found, True)
    (resolved,) = step(found, False, 2, CATCHING_UP)
    assert resolved.historic
    assert found.untold == set()


def test_what_is_no_longer_watched_resolves_where_it_fires_and_is_forgotten() -> None:
    found = tracks()
    calm, elsewhere = KEY._replace(version="2"), KEY._replace(alert="Other")
    companion = KEY._replace(alert="LowUndefined", version="3")
    for key, firing in ((KEY, True), (calm, False), (elsewhere, True)):
        step(found, firing, key=key)
    how = partial(sight, firing=True, evidence=EVIDENCE)
    list(found.step(RULE, companion, Moment(1, 1, 1), NOW, how))
    watched = {companion._replace(alert="Low")}
    (transition,) = found.end([RULE], watched, lambda _: Moment(5, 5, 5), NOW)
    assert (transition.key, transition.change) == (KEY, "resolved")
    assert transition.reason == "it is no longer watched"
    assert {key for key, _, _ in found.items()} == {elsewhere, companion}
    assert len(list(found.end([RULE], set(), lambda _: Moment(6, 6, 6), NOW))) == 1, "the companion, too"


def test_a_version_goes_without_a_word() -> None:
    found = tracks(old=True)
    step(found, True)
    step(found, True, key=KEY._replace(version="2"))
    found.forget(("fraud", "1"))
    assert [key.version for key, _, _ in found.items()] == ["2"]
    assert {key.version for key in found.untold} == {"2"}
    assert len(found.transitions) == 2


def test_transitions_are_bounded() -> None:
    found = tracks()
    for i in range(KEPT_TRANSITIONS + 10):
        step(found, i % 2 == 0, i)
    assert len(found.transitions) == KEPT_TRANSITIONS
    assert found.transitions[-1].moment.timestamp == KEPT_TRANSITIONS + 9


def test_they_go_on_from_a_tree_with_the_rules_that_are_the_same() -> None:
    found = tracks(old=True)
    step(found, True)
    step(found, True, key=KEY._replace(alert="Other"))
    again = tracks()
    again.resume(found.tree(), {"Low": RULE})
    assert [(key, rule, track) for key, rule, track in again.items()] == [(KEY, RULE, found[KEY])]
    assert again.untold == {KEY}


@pytest.mark.parametrize(
    "row",
    [
        ["Low", "fraud", "1", "", "", "fraud", "Low", "firing"],
        ["Low", 1, "", "", "", "fraud", "Low", {}],
        "Low",
        [1, {}],
    ],
)
def test_another_tree_is_refused(row: object) -> None:
    with pytest.raises(ValueError):
        tracks().resume({"tracks": [row], "untold": []}, {"Low": RULE})
