"""The number that a value is held against where the rule gives none. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple, Protocol

from monitor.alerts.alert import Key
from monitor.alerts.lookup import Lookup, interval_of
from monitor.alerts.rule import Rule
from monitor.report import Value, WindowReport


class Context(Protocol):
    """What conditions look at beside a report."""

    def baseline(self, rule: Rule, key: Key) -> float | None:
        """Return the stored reference's bound, without the margin: under a floor the lower one."""

    def champion(self, model: str) -> str | None:
        """Return the champion version, None where it is not known."""

    def references(self, model: str) -> Mapping[str, float]:
        """Return the configured reference prevalence by scored class."""


class Found(NamedTuple):
    """A limit with its margin, or why there is none; neither for "best", which the policy remembers."""

    limit: float | None = None
    unknown: str | None = None


def other_version(rule: Rule, key: Key, context: Context) -> str | None:
    """Return the version that a rule compares with, None where it does not, or that is not known."""
    if rule.limit.kind == "champion":
        return context.champion(key.model)
    return rule.limit.name if rule.limit.kind == "version" else None


def limit_of(rule: Rule, key: Key, lookup: Lookup, context: Context) -> Found:
    """Return what a value of a report is held against.

    Another version's or window's value counts, in interval conditions, by its bound towards the bad side: the
    lower one under a floor. So both intervals have to be apart, by the margin.
    """
    kind, name = rule.limit.kind, rule.limit.name
    match kind:
        case "best":
            return Found()
        case "number":
            return _beyond(rule, rule.limit.number, "the rule has no number")
        case "baseline":
            return _beyond(rule, context.baseline(rule, key), f"baseline {name} has no bound for this value")
        case "random":
            return _predicted_rate(rule, key, lookup)
        case "window":
            other = lookup.window(key.model, key.version, name, key.segment)
            return _compared(rule, key, lookup, other, f"window {name}")
        case "version" | "champion":
            version = other_version(rule, key, context)
            if version is None:
                return Found(unknown="the champion version is not known")
            other = lookup.window(key.model, version, key.window, key.segment)
            return _compared(rule, key, lookup, other, f"{kind} {version or '(unnamed)'}")


def _beyond(rule: Rule, number: float | None, unknown: str) -> Found:
    if number is None:
        return Found(unknown=unknown)
    margin = rule.limit.margin
    return Found(number - margin if rule.side == "floor" else number + margin)


def _predicted_rate(rule: Rule, key: Key, lookup: Lookup) -> Found:
    window = lookup.window(key.model, key.version, key.window, key.segment)
    rate = replace(rule, metric="classifier_predicted_rate", labels={})
    found = None if window is None else lookup.value(rate, window, key.class_)
    return _beyond(rule, found and found.value, "the share of decisions for the class is not known")


def _compared(rule: Rule, key: Key, lookup: Lookup, other: WindowReport | None, what: str) -> Found:
    value = None if other is None else lookup.value(rule, other, key.class_)
    if other is None or value is None:
        return Found(unknown=f"{what} has no such value")
    if not other.complete:
        return Found(unknown=f"the window of {what} is not complete yet")
    if value.support < rule.min_support:
        return Found(unknown=f"{what} has a support of {value.support:,}, below min_support")
    return _beyond(rule, _bound(rule, value), f"{what} has no {_needed(rule)}")


def _bound(rule: Rule, value: Value) -> float | None:
    if rule.condition == "value" or value.value is None:
        return value.value
    interval = interval_of(rule, value)
    if interval is None:
        return None
    return interval.lower if rule.side == "floor" else interval.upper


def _needed(rule: Rule) -> str:
    return "value" if rule.condition == "value" else f"{rule.method} interval"
