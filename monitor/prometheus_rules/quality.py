"""Rules for the alerts about models: the daemon decides, Prometheus tells."""

from __future__ import annotations

from collections.abc import Iterator

from monitor.alerts.rule import CALIBRATION, Limit, Rule
from monitor.alerts.runbook import runbook_url
from monitor.prometheus_rules.rule import AlertRule, Look, Scene, series
from monitor.prometheus_rules.settings import Settings
from monitor.prometheus_rules.text import Firing, Label, Text, Windows

UNDEFINED = "Undefined"
"""How the name of the alert ends that says that a rule's value is undefined."""

ONCE = "max without(instance, pod, job, endpoint)"
"""Owner and standbys speak of the same alert."""

_WHO: Text = (
    " of ",
    Label("model"),
    Label("version", " "),
    Label("class", ", class "),
    Label("segment", ", where "),
    Label("window", ", window "),
)


def quality_rules(rule: Rule, settings: Settings) -> Iterator[AlertRule]:
    """Yield the rule for an alert, and that for its undefined value where it has one."""
    yield _rule(
        rule,
        settings,
        rule.name,
        (f"{rule.name}: {_what(rule)}", *_WHO, f" is {_against(rule)}"),
        (_decided(rule), *(Windows(family, rule.labels) for family in _families(rule))),
    )
    if rule.undefined_for is None:
        return
    yield _rule(
        rule,
        settings,
        rule.name + UNDEFINED,
        (f"{rule.name} cannot be decided: {_what(rule)}", *_WHO, " has no value"),
        (
            f"It has been undefined for too long. Meanwhile {rule.name} goes on as it was: it neither begins "
            "nor resolves. /api/v1/alerts of the monitor says what is missing.",
        ),
    )


def _rule(rule: Rule, settings: Settings, name: str, summary: Text, description: Text) -> AlertRule:
    # The label `alert` repeats the name; without it the alert has the labels that Alertmanager gets from the
    # daemon where that delivers, so that silences hold for both.
    return AlertRule(
        name,
        f"{ONCE} ({series('monitor_alert_state', alert=name)}) == 2",
        rule.severity,
        summary,
        description,
        tuple(_scenes(rule, settings, name)),
        keep=settings.keep_firing_for,
        labels={"alert": "", **rule.extra_labels},
        runbook_url=runbook_url(rule, name != rule.name, settings.runbooks),
    )


def _families(rule: Rule) -> tuple[str, ...]:
    if rule.metric == CALIBRATION:
        return "classifier_calibration_intercept", "classifier_calibration_slope"
    return (rule.metric,)


def _what(rule: Rule) -> str:
    labels = ", ".join(f"{name} {value}" for name, value in rule.labels.items())
    return rule.metric.removeprefix("classifier_").replace("_", " ") + (f" ({labels})" if labels else "")


def _against(rule: Rule) -> str:
    if rule.metric == CALIBRATION:
        return f"beyond its tolerance (shift {rule.shift:g}, slope {rule.slope:g})"
    below, sign = ("below", "-") if rule.side == "floor" else ("above", "+")
    margin = f" {sign} {rule.limit.margin:g}" if rule.limit.margin else ""
    return f"{below} {_limit(rule.limit)}{margin}"


def _limit(limit: Limit) -> str:
    if limit.kind == "number":
        return f"{limit.number:.12g}"
    named = {"baseline": "the baseline", "version": "version", "window": "window"}
    if limit.kind in named:
        return f"{named[limit.kind]} {limit.name}"
    return {
        "champion": "the champion",
        "random": "what random decisions reach",
        "best": "the best that it has been",
    }[limit.kind]


def _decided(rule: Rule) -> str:
    if rule.condition == "sequential":
        return (
            "The evidence of single events suffices; false alarms are at least "
            f"{rule.false_alarm_every:,} observations apart on average."
        )
    what = "whole interval" if rule.condition == "interval" else "value"
    return f"The {what} has been beyond the limit for as long as the rule asks."


def _scenes(rule: Rule, settings: Settings, name: str) -> Iterator[Scene]:
    """Yield two instances that speak of the alert: it fires once, outlives missed scrapes, and resolves."""
    segment = rule.segment[:-1] + "x" if rule.segment.endswith("=*") else rule.segment
    named = {
        "model": "m" if rule.model == "*" else rule.model,
        "version": "1",
        "window": rule.window,
        "segment": segment,
        "class": "c" if rule.class_ == "*" else rule.class_,
    }
    families = _families(rule) if name == rule.name else ()
    windows = {family: {"all": 0.5, "last_10k": 0.625} for family in families}
    values = {
        series(family, **{**named, **rule.labels, "window": window, "job": settings.job}): f"{value}x60"
        for family, of_windows in windows.items()
        for window, value in of_windows.items()
    }
    firing = Firing({label: value for label, value in named.items() if value}, 2.0, windows)
    kept = settings.keep_firing_for // 60
    states = {
        series("monitor_alert_state", alert=name, job=settings.job, instance=instance, **named): notation
        for instance, notation in (("a", "0 1 2 2 stale"), ("b", f"stale stale 2 stale {'_ ' * kept}2 0x60"))
    }
    again = 4 + kept
    yield Scene(
        {**values, **states},
        (
            Look(0),
            Look(1),
            Look(2, (firing,)),
            Look(3 + kept, (firing,)),  # nothing is known of it since the fourth minute
            Look(again, (firing,)),
            Look(again + 1, (firing,) if kept else ()),
            Look(again + kept + 2),
        ),
    )
    other = series("monitor_alert_state", alert=f"{name} of others", job=settings.job, **named)
    no_data = series("monitor_alert_state", alert=name, job=settings.job, **named)
    yield Scene({other: "2x10", no_data: "3x10"}, (Look(10),))
