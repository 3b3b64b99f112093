"""Interval and value conditions: which alerts a report has, and what it says about each. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from monitor.alerts.alert import Evidence, Key
from monitor.alerts.explain import against, unit_cost, with_prevalence
from monitor.alerts.limits import Context, limit_of, other_version
from monitor.alerts.lookup import Lookup, interval_of
from monitor.alerts.rule import Rule
from monitor.alerts.track import Reading
from monitor.report import Report, Value, WindowReport

__all__ = ["Context", "needed_families", "readings"]

Match = tuple[Key, WindowReport, Value]


def needed_families(rules: Sequence[Rule]) -> frozenset[str]:
    """Return the families of a report that `readings` looks at."""
    needed = {rule.metric for rule in rules}
    if "classifier_average_precision" in needed:
        needed.add("classifier_average_precision_at_reference_prevalence")
    if any(rule.limit.kind == "random" for rule in rules):
        needed.add("classifier_predicted_rate")
    return frozenset(needed)


def readings(
    rules: Sequence[Rule], report: Report, context: Context, known: Collection[Key] = ()
) -> tuple[list[tuple[Rule, Key, Reading]], int]:
    """Return what a report says about every alert of these rules.

    A version that a rule compares others with is not compared with itself: there is no alert for it.

    Parameters
    ----------
    rules
        Sequential ones are passed over.
    report
        The windows as they are at a mark.
    context
        Stored references, champions and reference prevalences.
    known
        Alerts that there were before. They keep their places among the matches of wildcards, also while the
        window has no event of their segment.

    Returns
    -------
    found : list of (rule, key, reading)
        By rule, then sorted by key.
    refused : int
        Matches of wildcards beyond `Rule.matches`: of model, segment and class together; every version of one
        counts as the same.
    """
    lookup = Lookup(report)
    found, refused = [], 0
    for rule in rules:
        if rule.condition == "sequential":
            continue
        matches = {match[0]: match for match in _matches(rule, lookup, context)}
        before = [key for key in known if key.alert == rule.name and _is_compared(rule, key, context)]
        allowed, beyond = _allowed(rule, before, matches)
        refused += beyond
        found += [
            (rule, key, _reading(rule, *matches[key], lookup, context) if key in matches else _EMPTY)
            for key in sorted({*matches, *before})
            if _combination(key) in allowed
        ]
    return found, refused


_EMPTY = Reading(Evidence(undefined="no_events"))


def _matches(rule: Rule, lookup: Lookup, context: Context) -> Iterator[Match]:
    for window in lookup.windows(rule):
        for class_, value in lookup.values(rule, window):
            key = Key(rule.name, window.model, window.version, window.window, window.segment, class_)
            if _is_compared(rule, key, context):
                yield key, window, value


def _is_compared(rule: Rule, key: Key, context: Context) -> bool:
    return other_version(rule, key, context) != key.version


def _combination(key: Key) -> tuple[str, str, str]:
    return key.model, key.segment, key.class_


def _allowed(
    rule: Rule, before: Collection[Key], now: Collection[Key]
) -> tuple[set[tuple[str, str, str]], int]:
    every = list(dict.fromkeys([*map(_combination, before), *sorted(map(_combination, now))]))
    return set(every[: rule.matches]), max(0, len(every) - rule.matches)


def _reading(
    rule: Rule, key: Key, window: WindowReport, value: Value, lookup: Lookup, context: Context
) -> Reading:
    limit, unknown = limit_of(rule, key, lookup, context)
    cost = unit_cost(rule, key, window)
    evidence = against(_evidence(rule, value), rule, limit, cost)
    if value.value is not None:
        evidence = with_prevalence(evidence, rule, key, window, context.references(key.model))
    return Reading(
        evidence,
        complete=window.complete,
        label_coverage=window.labeled / window.events if window.events else None,
        unknown=unknown,
        unit_cost=cost,
    )


def _evidence(rule: Rule, value: Value) -> Evidence:
    interval = interval_of(rule, value)
    if interval is None:
        return Evidence(value=value.value, support=value.support, undefined=value.undefined)
    return Evidence(value.value, interval.lower, interval.upper, interval.method, support=value.support)
