"""Charts of one window, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from monitor.report import WindowReport
from monitor.web.charts.confidence_decay import confidence_decay
from monitor.web.charts.cost_sensitivity import cost_sensitivity
from monitor.web.charts.precision_recall import precision_recall
from monitor.web.charts.reliability import reliability_diagram
from monitor.web.charts.roc import roc
from monitor.web.charts.thresholds import thresholds
from monitor.web.html import Html


class Chart(NamedTuple):
    """One kind of chart.

    Attributes
    ----------
    title
        For people.
    draw
        Returns an svg element for a window and one of its scored classes ("" for the top label of a
        multiclass model, where the chart has one), or None where there is nothing to draw.
    """

    title: str
    draw: Callable[[WindowReport, str], Html | None]


CHARTS: Mapping[str, Chart] = {
    "roc": Chart("ROC curve", roc),
    "precision_recall": Chart("Precision-recall curve", precision_recall),
    "reliability": Chart("Reliability", reliability_diagram),
    "thresholds": Chart("Thresholds", thresholds),
    "confidence_decay": Chart("Confidence decay", confidence_decay),
    "cost_sensitivity": Chart("Cost sensitivity", cost_sensitivity),
}
"""By name in addresses."""


def draw(name: str, window: WindowReport, class_: str) -> Html | None:
    """Return a chart for a page, styled by its stylesheet; None where there is nothing to draw."""
    return CHARTS[name].draw(window, class_)
