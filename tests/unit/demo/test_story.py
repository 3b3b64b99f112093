from __future__ import annotations

from dataclasses import replace

from monitor.demo.configuration import ALERT, BAD_VERSION, GOOD_VERSION
from monitor.demo.hook import Rollback
from monitor.demo.readings import RECALL, Alert, Look, Reading, Window
from monitor.demo.story import CHANGE, HEALTHY, Story

GOOD, BAD = Reading(0.9, 0.86, 0.93), Reading(0.6, 0.55, 0.65)
FIRING = Alert(ALERT, BAD_VERSION, "firing", "recall is low", 100.5)
HEALTHY_LOOK = Look(windows={GOOD_VERSION: Window(True, 50.0, {RECALL: GOOD})})
CHANGED = Story().change(100.0, HEALTHY_LOOK)
FIRED = CHANGED.follow(103.0, replace(HEALTHY_LOOK, alerts=(FIRING,)), None)
ROLLBACK = Rollback(103.5, ALERT, BAD_VERSION, GOOD_VERSION)
ROLLED_BACK = FIRED.follow(104.0, HEALTHY_LOOK, ROLLBACK)


def phases(*stories):
    return [story.phase(105.0, 110.0) for story in stories]


def recovery(recall=GOOD, start=104.0):
    look = Look(
        windows={GOOD_VERSION: Window(True, start, {RECALL: recall})},
        alerts=(FIRING._replace(state="no_data", started=None),),
    )
    return ROLLED_BACK.follow(110.0, look, ROLLBACK)


def test_the_phases_follow_each_other():
    assert phases(Story(), CHANGED, FIRED, ROLLED_BACK, recovery()) == [
        f"healthy; version {BAD_VERSION} takes over in 5 s",
        "WRONG for 5 s",
        "WRONG for 5 s, ALERT firing",
        f"ROLLED BACK to {GOOD_VERSION}",
        "recovered",
    ]
    assert [story.explanation for story in (Story(), CHANGED, FIRED)] == [HEALTHY, CHANGE, "recall is low"]


def test_only_a_window_of_events_after_the_rollback_shows_a_recovery():
    assert recovery().recovered == (110.0, GOOD)
    assert recovery(start=103.0).recovered is None
    assert recovery(recall=BAD).recovered is None


def test_it_lacks_whatever_has_to_happen_and_has_not():
    assert "took over" in Story().lacks
    assert "did not fire" in CHANGED.lacks
    assert "no rollback" in FIRED.lacks
    assert ROLLED_BACK.lacks is None


def test_alerts_of_the_good_version_are_no_part_of_it():
    other = CHANGED.follow(103.0, Look(alerts=(FIRING._replace(version=GOOD_VERSION),)), None)
    assert other == CHANGED


def test_everything_is_told_in_order_as_it_was_first_seen():
    later = FIRED.follow(104.0, Look(alerts=(FIRING._replace(sentence="otherwise"),)), None)
    assert later == FIRED
    told = [str(each) for each in recovery().happenings]
    assert [each.at for each in recovery().happenings] == [100.0, 100.5, 103.5, 110.0, 110.0]
    assert told[1] == f"ALERT {ALERT}, by an event 0.5 s after the change: recall is low"
    assert told[2].startswith(f"ROLLBACK to {GOOD_VERSION}, 3.5 s after the change: the webhook for {ALERT}")
    assert any("has no data" in each for each in told) and any("recovered: Recall" in each for each in told)
