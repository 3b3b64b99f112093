"""Alerts and what is done about them as objects for JSON. Pure.

Times are ISO 8601 in UTC, numbers keep their full precision, what is not known is null.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from monitor.actions.decision import Decision
from monitor.actions.desk import DeskView
from monitor.actions.plain import plain
from monitor.actions.silence import Pause, Silence
from monitor.alerts.alert import Alert, Evidence, Moment, Transition
from monitor.alerts.rule import Rule
from monitor.alerts.view import AlertsView
from monitor.alerts.words import sentence
from monitor.wording import iso


def alerts_object(view: AlertsView, chosen: Callable[[Alert | Transition], bool]) -> dict[str, Any]:
    """Return the chosen ones of all alerts and of their newest changes."""
    return {
        "alerts": [alert_object(alert) for alert in view.alerts if chosen(alert)],
        "transitions": [transition_object(each) for each in view.transitions if chosen(each)],
        "refused": view.refused,
    }


def alert_object(alert: Alert) -> dict[str, Any]:
    """Return an alert with its rule and its evidence."""
    return {
        "alert": alert.key.alert,
        "labels": alert.key.labels,
        "state": alert.state,
        "sentence": sentence(alert),
        "severity": alert.rule.severity,
        "since": _moment(alert.since),
        "started": _moment(alert.started),
        "firing": alert.firing,
        "historic": alert.historic,
        "actionable": alert.actionable,
        "reason": alert.reason,
        "episode": alert.episode,
        "evidence": _evidence(alert.evidence),
        "rule": _rule(alert.rule),
    }


def transition_object(transition: Transition) -> dict[str, Any]:
    """Return a change of an alert."""
    return {
        "alert": transition.key.alert,
        "labels": transition.key.labels,
        "change": transition.change,
        "at": _moment(transition.moment),
        "historic": transition.historic,
        "reason": transition.reason,
        "evidence": _evidence(transition.evidence),
    }


def actions_object(view: DeskView) -> dict[str, Any]:
    """Return all decisions, newest first, and what holds them back."""
    return {
        "enabled": view.enabled,
        "paused": pause_object(view.paused),
        "held_by_breaker": view.held_by_breaker,
        "problem": view.problem,
        "silences": [silence_object(silence) for silence in view.silences],
        "decisions": [decision_object(decision) for decision in view.decisions],
    }


def decision_object(decision: Decision) -> dict[str, Any]:
    """Return a decision: what is sent, and what became of it."""
    return decision.payload() | {
        "kind": decision.kind,
        "episode": decision.episode,
        "status": decision.status,
        "reason": decision.reason,
        "changed_at": iso(decision.changed_at),
        "attempts": decision.attempts,
        "last_error": decision.last_error,
        "by": decision.by,
    }


def pause_object(pause: Pause | None) -> dict[str, Any] | None:
    """Return a pause, None where there is none."""
    if pause is None:
        return None
    return {"by": pause.by, "since": iso(pause.since), "until": iso(pause.until)}


def silence_object(silence: Silence) -> dict[str, Any]:
    """Return a silence."""
    return silence.tree() | {"since": iso(silence.since), "until": iso(silence.until)}


def _moment(moment: Moment | None) -> dict[str, Any] | None:
    if moment is None:
        return None
    return {
        "timestamp": iso(moment.timestamp),
        "recorded": iso(moment.recorded),
        "position": moment.position,
    }


def _evidence(evidence: Evidence) -> dict[str, Any]:
    return {field.name: plain(getattr(evidence, field.name)) for field in dataclasses.fields(evidence)}


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "name": rule.name,
        "metric": rule.metric,
        "labels": dict(rule.labels),
        "condition": rule.condition,
        "side": rule.side,
        "limit": dataclasses.asdict(rule.limit),
        "false_alarm_every": rule.false_alarm_every if rule.condition == "sequential" else None,
        "min_support": rule.min_support,
        "extra_labels": dict(rule.extra_labels),
        "runbook": rule.runbook,
        "actions": list(rule.actions),
    }
