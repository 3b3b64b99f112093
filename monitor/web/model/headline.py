"""What comes first of a model, by its preset, and all other numbers of one class and of the whole. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from monitor.alerts.alert import Alert
from monitor.history import Metric
from monitor.presets import Presets
from monitor.report import Value, WindowReport
from monitor.web.alert_parts.names import state_of
from monitor.web.html import Html, h, join
from monitor.web.model.alerts import watches
from monitor.web.model.chosen import Chosen
from monitor.web.numbers import shown_interval, shown_value, value_bar
from monitor.web.tables import cell, row, table
from monitor.wording import PER_CLASS, title

_ELSEWHERE = frozenset(
    {
        *PER_CLASS,
        *(f"{family}_average" for family in PER_CLASS),
        "classifier_accuracy",
        "classifier_best_threshold",
        "classifier_class_support",
        "classifier_classes_defined",
        "classifier_events",
        "classifier_imbalance_ratio",
        "classifier_lift",
        "classifier_low_support",
        "classifier_predicted_rate",
        "classifier_prevalence",
        "classifier_threshold",
        "classifier_window_confusions",
    }
)
"""Families that other parts of the page show, or that only say how much data there is."""


def headline_tiles(chosen: Chosen, presets: Presets, alerts: Iterable[Alert]) -> Html:
    """Return what an alert fires about and is not headline anyway, then what comes first, and what second.

    Parameters
    ----------
    chosen
        What is shown.
    presets
        What comes first.
    alerts
        Of the version that is shown.
    """
    window = chosen.window
    raised = list(watched(window, [alert for alert in alerts if state_of(alert) == "firing"]))
    firing = set(map(Metric.of, raised))
    first, second = presets.first(window), presets.second(window)
    shown = {Metric.of(value) for value in (*first, *second)}
    added = [value for value in raised if Metric.of(value) not in shown]
    return join(
        h("dl", *(_tile(value, firing) for value in (*added, *first)), class_="tiles first"),
        h("dl", *(_tile(value, firing) for value in second), class_="tiles second"),
    )


def watched(window: WindowReport, alerts: Collection[Alert]) -> Iterator[Value]:
    """Yield the values of a window that alerts of its version are about."""
    for value in window.values:
        if any(watches(alert, value.name, value.labels, window.segment) for alert in alerts):
            yield value


def _tile(value: Value, firing: Collection[Metric]) -> Html:
    fires = Metric.of(value) in firing
    counts = None
    if value.value is not None:
        counts = f"{value.support:,} events"
        if value.numerator is not None and value.denominator is not None:
            counts = f"{value.numerator:,.10g} of {value.denominator:,.10g}"
    return h(
        "div",
        h("dt", title(value), h("span", "alert fires", class_="badge bad") if fires else None),
        h("dd", shown_value(value), class_=None if value.value is None else "big"),
        h("dd", shown_interval(value), value_bar(value)),
        h("dd", counts, class_="quiet"),
        class_="tile firing" if fires else "tile",
    )


def other_values(chosen: Chosen) -> Html:
    """Return the values of the chosen class and of the whole that no other table has."""
    rows = (row(title(value), cell(value), f"{value.support:,}") for value in _others(chosen))
    return table("All other numbers", ("Metric", "Value", "Events"), rows)


def _others(chosen: Chosen) -> Iterator[Value]:
    binary = chosen.window.positive_class is not None
    for value in chosen.window.values:
        class_ = value.labels.get("class")
        of_whole = class_ is None or (class_ == "" and not binary)  # a binary whole repeats its class
        if value.name not in _ELSEWHERE and (of_whole or class_ == chosen.class_):
            yield value
