"""Rules for what follows an alert: telling people, acting, and alarms that are rarely about the models."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import chain

from monitor.prometheus_rules.quality import ONCE
from monitor.prometheus_rules.rule import AlertRule, Look, RecordingRule, Scene, promtime, series
from monitor.prometheus_rules.settings import Settings
from monitor.prometheus_rules.text import Firing, Label, Value

MODELS_ALARMING = f"count(count by (model) ({ONCE} (monitor_alert_state) == 2))"


def acting_rules(settings: Settings) -> Iterator[AlertRule]:
    """Yield the rules."""
    yield _failing(settings)
    yield _pending(settings)
    yield _notifications(settings)


def acting_records() -> Iterator[RecordingRule]:
    """Yield what is worth a series of its own."""
    states = {
        _state(instance, model, alert): f"{code}x5"
        for instance in "ab"
        for model, alert, code in (("m", "A", 2), ("m", "B", 2), ("n", "A", 2), ("o", "A", 1), ("o", "B", 3))
    }
    name = "monitor:models_alarming:count"
    yield RecordingRule(name, f"{MODELS_ALARMING} or vector(0)", states, 5, {series(name): 2.0})
    name = "model:monitor_alerts_firing:count"
    expr = f"count by (model) ({ONCE} (monitor_alert_state) == 2)"
    yield RecordingRule(name, expr, states, 5, {series(name, model="m"): 2.0, series(name, model="n"): 1.0})


def _state(instance: str, model: str, alert: str) -> str:
    return series("monitor_alert_state", job="any", instance=instance, alert=alert, model=model, version="1")


def _failing(settings: Settings) -> AlertRule:
    attempts = partial(series, "monitor_action_attempts_total", job=settings.job)
    failed = attempts()[:-1] + ',result=~"failed|refused"}'
    firing = (Firing({"job": settings.job, "action": "rollback"}),)
    of_a = partial(attempts, instance="a", action="rollback")
    return AlertRule(
        "MonitorActionsFailing",
        # The counter of a result does not exist before the first: its increase from nothing is none.
        f"sum by (job, action) (increase({failed}[15m])) > 0"
        f" or sum by (job, action) ({failed} unless {failed} offset 15m) > 0",
        "page",
        ("The action ", Label("action"), " failed"),
        (
            "In the last 15 minutes it was given up or refused. /api/v1/actions has the decision and the "
            "reason; what it was to do has to be done by hand.",
        ),
        (
            Scene(
                {of_a(result="failed"): "_ _ 1x40", of_a(result="done"): "0x40"},
                (Look(1), Look(2, firing), Look(16, firing), Look(18)),
            ),
            Scene({of_a(result="refused"): "3x20 4x40"}, (Look(20), Look(21, firing), Look(37))),
            Scene({of_a(result="done"): "0+1x20", of_a(result="retry"): "0+1x20"}, (Look(1), Look(20))),
        ),
    )


def _pending(settings: Settings) -> AlertRule:
    pending = partial(series, "monitor_outbox_pending", job=settings.job)
    labels = {"job": settings.job, "action": "rollback"}
    return AlertRule(
        "MonitorActionsPending",
        f"max by (job, action) ({pending()}) > 0",
        "page",
        (Value(), " decisions to ", Label("action"), " are not carried out"),
        (
            "For five minutes it could not be sent, or has been waiting for a person. Decisions expire: "
            "/api/v1/actions says when, and what they wait for.",
        ),
        (
            Scene(
                {pending(instance="a", action="rollback"): "0 1 2x10"}
                | {pending(instance="b", action="rollback"): "0x12"},
                (Look(5), Look(6, (Firing(labels, 2.0),))),
            ),
            Scene({pending(instance="a", action="rollback"): "0 1 1 0 1 1 1 0x10"}, (Look(6), Look(12))),
        ),
        wait=300,
    )


def _notifications(settings: Settings) -> AlertRule:
    total = partial(series, "monitor_notifications_total", job=settings.job)
    failed, sent = (f"sum by (job, target) (increase({total(result=r)}[5m])) > 0" for r in ("failed", "sent"))
    of = partial(total, instance="a", target="http://am:9093")
    firing = (Firing({"job": settings.job, "target": "http://am:9093"}),)
    return AlertRule(
        "MonitorNotificationsFailing",
        f"({failed}) unless on (job, target) ({sent})",
        "ticket",
        (Label("target"), " cannot be told of alerts"),
        ("Posts have failed for five minutes, and none arrived. Other Alertmanagers are told all the same.",),
        (
            Scene(
                {of(result="failed"): "0 0+12x30", of(result="sent"): "7x31"},
                (Look(6), Look(7, firing)),
            ),
            Scene({of(result="failed"): "0+1x30", of(result="sent"): "0+1x30"}, (Look(30),)),
        ),
        wait=300,
    )


def many_models_rule(settings: Settings) -> AlertRule:
    """Return the rule about models that begin to alarm together."""
    per = promtime(settings.per)
    now = f"{ONCE} (monitor_alert_state) == 2"
    before = f"{ONCE} (monitor_alert_state offset {per}) == 2"
    minutes = int(settings.per // 60)
    at_once = [_begins(model, minutes) for model in (f"m{i}" for i in range(settings.max_models + 1))]
    firing = (Firing({}, len(at_once)),)
    return AlertRule(
        "ManyModelsAlarming",
        f"count(count by (model) (({now}) unless ({before}))) > {settings.max_models}",
        "page",
        (Value(), " models began to alarm within the same time"),
        (
            f"Within {per}; it is rarely the models. Look at what they share first: labels, features, the "
            "pipeline. Further actions wait for approval.",
        ),
        (
            Scene(
                dict(chain.from_iterable(at_once)),
                (Look(5), Look(6, firing), Look(5 + minutes, firing), Look(7 + minutes)),
            ),
            Scene(dict(chain.from_iterable(at_once[1:])), (Look(6),)),
        ),
    )


def _begins(model: str, minutes: int) -> list[tuple[str, str]]:
    """Return two alerts of a model that begin in the sixth minute, as two instances tell of them."""
    return [(_state(instance, model, alert), f"0x5 2x{minutes + 5}") for instance in "ab" for alert in "AB"]
