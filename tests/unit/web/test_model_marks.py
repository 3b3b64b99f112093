"""What timelines are marked with, and what they are held to."""

from dataclasses import replace

from monitor.actions.desk import DeskView
from monitor.alerts.alert import Transition
from monitor.alerts.rule import Limit as RuleLimit
from monitor.alerts.view import AlertsView
from monitor.web.charts import Limit, Mark
from monitor.web.model.alerts import watches
from monitor.web.model.marks import MAX_MARKS, limits, marks
from tests.support.reports import NOON, example
from tests.support.shown import shown
from tests.support.shown_alerts import FIRING, HISTORIC, INACTIVE, PENDING, moment, office
from tests.support.web import HOSTILE

MODEL, VERSION = FIRING.key.model, FIRING.key.version


def transition(change, minutes=5, **key):
    return Transition(FIRING.key._replace(**key), change, moment(minutes), FIRING.evidence)


def with_transitions(*found):
    return shown(report=replace(example(), versions=()), alerts=AlertsView((), found))


def test_alerts_that_fire_and_end_are_marked_at_event_time():
    page = with_transitions(transition("resolved", 1), transition("firing", 5), transition("pending", 6))
    assert marks(page, MODEL, VERSION) == (
        Mark(moment(5).timestamp, "alert", "RecallBelowFloor fires"),
        Mark(moment(1).timestamp, "resolved", "RecallBelowFloor is resolved"),
    )


def test_alerts_of_others_are_not_marked_and_segments_are_named():
    page = with_transitions(
        transition("firing", model="other"),
        transition("firing", version="0"),
        transition("firing", segment="region=eu"),
    )
    assert [mark.text for mark in marks(page, MODEL, VERSION)] == ["RecallBelowFloor region=eu fires"]


def test_actions_are_marked_on_both_versions_that_they_are_about():
    decisions = office().desk.view().decisions
    page = shown(report=replace(example(), versions=()), actions=replace(DESK, decisions=decisions))
    bad, target = decisions[0].bad_version, decisions[0].target_version
    assert target is not None
    for version in (bad, target):
        found = marks(page, decisions[0].model, version)
        assert {mark.kind for mark in found} == {"action"}
        assert {mark.time for mark in found} == {each.decided_at for each in decisions}
    assert marks(page, decisions[0].model, "another") == ()


DESK = DeskView((), None, (), held_by_breaker=False, enabled=True, problem=None)


def test_other_versions_are_marked_where_they_began():
    newest = example()
    found = marks(shown(report=newest), "fraud", "2026-12-01")
    assert found == (Mark(NOON - 86_400_000_000, "version", "version 2026-11-01"),)


def test_without_a_report_there_are_no_versions():
    assert marks(replace(shown(), report=None), "fraud", "2026-12-01") == ()


def test_only_the_newest_are_kept_in_order():
    page = with_transitions(*(transition("firing", n) for n in range(MAX_MARKS + 5)))
    found = marks(page, MODEL, VERSION)
    assert len(found) == MAX_MARKS
    assert [mark.time for mark in found] == sorted(mark.time for mark in found)
    assert found[-1].time == moment(0).timestamp


def test_hostile_names_are_printable():
    page = with_transitions(transition("firing", alert=HOSTILE))
    assert marks(page, MODEL, VERSION)[0].text.isprintable()


def test_limits_are_those_of_alerts_about_the_same_value():
    alerts = (FIRING, PENDING)
    assert limits(alerts, "last_10k", "classifier_recall", {"class": "fraud"}) == (
        Limit("RecallBelowFloor", 0.8),
    )
    assert limits(alerts, "last_10k", "classifier_recall", {"class": "legit"}) == ()
    assert limits(alerts, "last_10k", "classifier_precision_at_k", {"class": "fraud", "k": "5"}) == ()
    assert limits(alerts, "1h", "classifier_precision_at_k", {"class": "fraud", "k": "100"}) == ()
    at_k = limits(alerts, "last_10k", "classifier_precision_at_k", {"class": "fraud", "k": "100"})
    assert at_k == (Limit("PrecisionAtKLow", 0.1),)


def test_a_limit_that_moves_is_the_one_in_force():
    moving = replace(FIRING, rule=replace(FIRING.rule, limit=RuleLimit("champion")))
    labels = {"class": "fraud"}
    assert limits([moving], "all", "classifier_recall", labels)[0].value == 0.8
    unknown = replace(moving, evidence=replace(moving.evidence, limit=None))
    assert limits([unknown], "all", "classifier_recall", labels) == ()
    written = replace(FIRING, evidence=unknown.evidence)
    assert limits([written], "all", "classifier_recall", labels)[0].value == 0.8


def test_what_an_alert_watches():
    labels = {"class": "fraud"}
    assert watches(FIRING, "classifier_recall", labels)
    assert not watches(
        replace(FIRING, key=FIRING.key._replace(segment="region=eu")), "classifier_recall", labels
    )
    brier = replace(FIRING, rule=replace(FIRING.rule, metric="classifier_brier_score"))
    assert watches(brier, "classifier_brier_score", {"class": "fraud", "subset": "all"})
    assert not watches(brier, "classifier_brier_score", {"class": "fraud", "subset": "positive"})
    assert {PENDING.rule.metric, HISTORIC.rule.metric, INACTIVE.rule.metric} == {"classifier_precision_at_k"}
