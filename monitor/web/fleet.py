"""All models for the overview: found and sorted before anything of them is written. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from monitor.alerts.alert import Alert
from monitor.presets import Presets
from monitor.report import Report, VersionReport, WindowReport
from monitor.web.alert_parts.names import STATES, state_of

MOST_SEARCHED = 100
"""Characters of a search that are looked at: each word is looked for in each name."""


class Row(NamedTuple):
    """One version in one window.

    Attributes
    ----------
    alerts
        Those that need attention, the most urgent first.
    substitute
        The model does not have the window that was asked for: this is its first.
    """

    version: VersionReport
    window: WindowReport
    alerts: tuple[Alert, ...]
    substitute: bool


class Model(NamedTuple):
    """One model; its versions newest first."""

    name: str
    rows: tuple[Row, ...]


class Order(NamedTuple):
    """A way to sort.

    Attributes
    ----------
    title
        For people.
    descending
        Which way first.
    """

    title: str
    descending: bool


ORDERS: Mapping[str, Order] = {
    "name": Order("Model", descending=False),
    "alerts": Order("Alerts", descending=False),
    "metric": Order("Headline metrics", descending=False),
    "labeled": Order("Labeled", descending=True),
    "last_event": Order("Last event", descending=True),
}
"""By name in addresses; "alerts" has the most urgent first, and what a model does not have comes last."""

DEFAULT_ORDER = "alerts"


def window_names(report: Report) -> list[str]:
    """Return the names of all windows, in the order of the configuration."""
    return list(dict.fromkeys(window.window for window in report.windows))


def models_of(
    report: Report, alerts: Iterable[Alert], window: str | None = None, query: str = ""
) -> list[Model]:
    """Return the models that match.

    Parameters
    ----------
    report
        What is known.
    alerts
        All of them.
    window
        Which one to show of every version; None for the first of each.
    query
        Words that the name of model or version contains, all of them, in any case.
    """
    windows: defaultdict[tuple[str, str], dict[str, WindowReport]] = defaultdict(dict)
    for each in report.windows:
        if not each.segment:
            windows[each.model, each.version][each.window] = each
    urgent: defaultdict[tuple[str, str], list[Alert]] = defaultdict(list)
    for alert in alerts:
        if alert.state != "inactive":
            urgent[alert.key.model, alert.key.version].append(alert)
    words = query[:MOST_SEARCHED].casefold().split()
    found: defaultdict[str, list[Row]] = defaultdict(list)
    for version in report.versions:
        key = version.model, version.version
        name = " ".join(key).casefold()
        if (of_version := windows.get(key)) and all(word in name for word in words):
            shown = of_version.get(window or "") or next(iter(of_version.values()))
            ordered = tuple(sorted(urgent.get(key, ()), key=_urgency))
            found[version.model].append(Row(version, shown, ordered, bool(window) and shown.window != window))
    return [
        Model(name, tuple(sorted(rows, key=lambda row: -row.version.since))) for name, rows in found.items()
    ]


def in_order(models: Sequence[Model], order: str, descending: bool, presets: Presets) -> list[Model]:
    """Return the models sorted by one of `ORDERS`, those that are alike by name, undefined ones last."""
    key = _KEYS[order]
    named = sorted(models, key=lambda model: model.name)
    keys = {model.name: key(model, presets) for model in named}
    known = [model for model in named if keys[model.name] is not None]
    known.sort(key=lambda model: keys[model.name], reverse=descending)
    return known + [model for model in named if keys[model.name] is None]


def _urgency(alert: Alert) -> tuple[int, bool]:
    return _RANKS[state_of(alert)], alert.rule.severity != "page"


def _most_urgent(model: Model, _: Presets) -> tuple[int, bool]:
    first = (_urgency(row.alerts[0]) for row in model.rows if row.alerts)
    return min(first, default=(len(_RANKS), True))


def _metric(model: Model, presets: Presets) -> float | None:
    """Return the first headline value of the newest version."""
    return next((value.value for value in presets.first(model.rows[0].window)), None)


_RANKS = {state: rank for rank, state in enumerate(STATES)}
_KEYS: Mapping[str, Callable[[Model, Presets], Any]] = {
    "name": lambda model, _: model.name,
    "alerts": _most_urgent,
    "metric": _metric,
    "labeled": lambda model, _: model.rows[0].window.labeled,
    "last_event": lambda model, _: max(row.version.last_event for row in model.rows),
}
