"""Alert rules to begin with: the headline metrics of a model, held to what it does now. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import ceil, floor, inf
from operator import attrgetter

import yaml

from monitor.presets import HIGH_IS_BAD, Preset, Presets, pick_values
from monitor.report import Report, Value, WindowReport
from monitor.wording import interval_of, printable

SEQUENTIAL = frozenset({"classifier_recall", "classifier_precision", "classifier_expected_cost"})
"""Families whose detectors need nothing but decisions: alarms are as rare as set, and early."""

SUGGESTED = SEQUENTIAL | {
    "classifier_partial_roc_auc",
    "classifier_brier_score",
    "classifier_recall_at_fpr",
    "classifier_precision_at_k",
    "classifier_recall_at_k",
    "classifier_f1",
    "classifier_fbeta",
    "classifier_recall_average",
    "classifier_f1_average",
}
"""Families that a limit makes sense for; prevalence is nobody's fault."""

SLACK = 0.05
"""How much worse than now a metric without an interval may become."""


COST_SLACK = 0.25
"""The same for costs, as a share of what they are now: they may be in any unit."""


def suggestions(report: Report, presets: Presets) -> Iterator[str]:
    """Yield lines that propose rules for each model, by its labeled version with the newest event."""
    labeled = [version for version in report.versions if version.labeled_events]
    newest = {each.model: each.version for each in sorted(labeled, key=attrgetter("last_event"))}
    windows: dict[str, WindowReport] = {}
    for window in report.windows:
        if not window.segment and newest.get(window.model) == window.version:
            windows.setdefault(window.model, window)
    rules: dict[str, str] = {}
    for window in windows.values():
        name = f"{printable(window.model)} {printable(window.version) or '(none)'}"
        if text := suggest(window, presets):
            rules[name] = text
        elif reason := why_none(window):
            yield f"No alert rules are proposed for {name}: {reason}."
    if rules:
        yield f"No alert is configured. Rules to begin with, by what {', '.join(rules)} did here:"
        yield from ("alerts:", "  rules:", *(f"    {rule}" for rule in "".join(rules.values()).splitlines()))


def why_none(window: WindowReport) -> str | None:
    """Return why no rules are proposed whatever the values, None where some may be."""
    classes = [name for name, n in zip(window.classes, window.support, strict=True) if n]
    if window.task == "multilabel" or len(classes) != 1:
        return None
    return f"all labeled events are of class {printable(classes[0])}, and nothing is known of the others"


def suggest(window: WindowReport, presets: Presets) -> str:
    """Return rules for the section `alerts.rules` as YAML; empty where there is too little to go by.

    Limits are the worse ends of today's confidence intervals, so that a model that stays as it is does not
    cross them; where there is no interval they are 0.05 worse than today, costs a quarter. They are a
    beginning: what is good enough only the users of the model know.

    Parameters
    ----------
    window
        Over all events; its numbers make the limits.
    presets
        What comes first: of those metrics, the sequential rules page. Everything else makes tickets.
    """
    if why_none(window) is not None:
        return ""
    preset = presets.of(window.model)
    return "".join(f"{line}\n" for line in _rules(window, preset))


def _rules(window: WindowReport, preset: Preset) -> Iterator[str]:
    for first, picks in ((True, preset.first), (False, preset.second)):
        for value in pick_values(window, picks):
            if value.name in SUGGESTED and value.value is not None and not value.low_support:
                side, limit = _limit(value)
                if (side, limit) != ("floor", 0.0):  # nothing is below
                    yield _rule(window, value, first, side, limit)


def _rule(window: WindowReport, value: Value, first: bool, side: str, limit: float) -> str:
    metric = value.name.removeprefix("classifier_").removesuffix("_average")
    which = {
        name: _text(text) if name == "class" else text
        for name, text in value.labels.items()
        if text and (name, text) != ("subset", "all") and name != "beta"
    }
    condition = _condition(value)
    # Only a sequential condition bounds how often somebody is woken in vain.
    severity = "page" if first and condition == "sequential" else "ticket"
    settings = {
        "model": _text(window.model),
        "metric": metric,
        **which,
        side: f"{limit:g}",
        "condition": condition,
        **({} if condition == "sequential" else {"window": _text(window.window), "for": "3"}),
        "severity": severity,
    }
    name = _name(f"{window.model} {metric} {which.get('subset', '')}", "High" if side == "ceiling" else "Low")
    return f"{name}: {{{', '.join(f'{key}: {text}' for key, text in settings.items())}}}"


def _name(words: str, end: str) -> str:
    """Return a name as Prometheus's alerts have it."""
    name = "".join(word[:1].upper() + word[1:] for word in re.findall("[A-Za-z0-9]+", words)) + end
    return name if name[0].isalpha() else f"Model{name}"


def _condition(value: Value) -> str:
    if value.name in SEQUENTIAL:
        return "sequential"
    return "interval" if interval_of(value) else "value"


def _limit(value: Value) -> tuple[str, float]:
    """Return the side and the limit, rounded to the better for the model."""
    assert value.value is not None
    interval = interval_of(value)
    if value.name in HIGH_IS_BAD:
        slack = COST_SLACK * value.value if value.name == "classifier_expected_cost" else SLACK
        worst = value.value + slack if interval is None else interval.upper
        return "ceiling", ceil(round(worst * 100, 6)) / 100
    worst = value.value - SLACK if interval is None else interval.lower
    return "floor", max(0.0, floor(round(worst * 100, 6)) / 100)


def _text(name: str) -> str:
    """Write any text so that YAML reads it as that text."""
    return yaml.safe_dump(name, default_style='"', width=inf).strip()
