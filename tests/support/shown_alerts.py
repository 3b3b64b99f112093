"""Example alerts and actions for tests of everything that shows them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from monitor.actions.spec import ActionSpec
from monitor.alerts.alert import Alert, Evidence, Key, Moment, State, Transition
from monitor.alerts.rule import Limit, Rule
from monitor.alerts.view import AlertsView
from tests.support.desks import Office, alert
from tests.support.reports import NOON

MINUTE = 60_000_000

RECALL = Rule(
    "RecallBelowFloor",
    "fraud",
    "classifier_recall",
    class_="fraud",
    limit=Limit("number", 0.8),
    severity="page",
    extra_labels={"team": "risk"},
    runbook="https://runbooks.example/recall",
    actions=("rollback",),
)
PRECISION_AT_K = Rule(
    "PrecisionAtKLow",
    "fraud",
    "classifier_precision_at_k",
    {"k": "100"},
    class_="fraud",
    window="last_10k",
    condition="value",
    limit=Limit("number", 0.1),
)


def moment(minutes: float) -> Moment:
    """Return a time so many minutes before noon."""
    at = NOON - round(minutes * MINUTE)
    return Moment(at, at + 500_000, at % 1_000_003)


def shown(rule: Rule, state: State, minutes: float = 5, version: str = "2026-12-01", **changes: Any) -> Alert:
    """Return an alert that has been in a state for so many minutes."""
    found = Alert(
        Key(rule.name, rule.model, version, rule.window, rule.segment, rule.class_),
        rule,
        state,
        None if state == "inactive" else moment(minutes),
        moment(minutes) if state == "firing" else None,
        Evidence(value=0.61, lower=0.55, upper=0.67, limit=0.8, support=262),
    )
    return replace(found, **changes)


FIRING = shown(
    RECALL,
    "firing",
    actionable=True,
    evidence=Evidence(
        value=0.61,
        lower=0.5498,
        upper=0.6672,
        method="wilson",
        limit=0.8,
        support=262,
        statistic=12_345.6,
        threshold=10_000.0,
        beyond=50.0,
        cost_beyond=100_000.0,
    ),
)
PENDING = shown(PRECISION_AT_K, "pending", 1, evidence=Evidence(value=0.06, limit=0.1, support=100))
NO_DATA = shown(
    RECALL,
    "no_data",
    90,
    "2026-11-01",
    reason="no event for 30 min",
    evidence=Evidence(undefined="no_events"),
)
HISTORIC = shown(PRECISION_AT_K, "firing", 3000, "2026-11-01", historic=True)
INACTIVE = shown(PRECISION_AT_K, "inactive", version="2026-10-01")
TRANSITIONS = (
    Transition(PENDING.key, "pending", moment(1), PENDING.evidence),
    Transition(FIRING.key, "firing", moment(5), FIRING.evidence),
    Transition(NO_DATA.key, "no_data", moment(90), NO_DATA.evidence, reason=NO_DATA.reason),
    Transition(HISTORIC.key, "firing", moment(3000), HISTORIC.evidence, historic=True),
)
VIEW = AlertsView((INACTIVE, HISTORIC, NO_DATA, PENDING, FIRING), TRANSITIONS, 0)
CALM = AlertsView((INACTIVE, replace(INACTIVE, key=FIRING.key)))


def office() -> Office:
    """Return a desk with a decision that waits for approval, and one that waits to be sent."""
    found = Office(ActionSpec("rollback", "webhook"), ActionSpec("page_owner", "kafka", approval=True))
    found.consider(alert(actions=("rollback", "page_owner")))
    return found


def waiting(made: Office) -> str:
    """Return the id of the decision that waits for approval."""
    return next(each.id for each in made.desk.view().decisions if each.status == "waiting_for_approval")
