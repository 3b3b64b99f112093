"""Reliability diagram: whether probabilities come true. Pure."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from monitor.report import Floats, IntervalValue, WindowReport
from monitor.report_curves import Reliability, reliability
from monitor.web.charts.axes import Panel, logarithmic
from monitor.web.charts.figure import LOWER, UPPER, across, figure, upwards
from monitor.web.charts.layers import Layer, bars, line, points
from monitor.web.charts.paths import px
from monitor.web.charts.subject import is_top_label, subject
from monitor.web.html import Html, h
from monitor.wording import bounds, number


def reliability_diagram(window: WindowReport, class_: str) -> Html | None:
    """Draw how often events came true over their probability, and how many there are; None without any."""
    of = subject(window, class_)
    if of is not None:
        table, title = reliability(of.curves, of.row), of.title("Reliability")
    elif window.curves is not None and is_top_label(window, class_):
        table, title = reliability(window.curves, len(window.scored)), "Reliability of the top label"
    else:
        return None
    if not table.events.sum() > 0:
        return None
    x = across(0, 1, "mean predicted probability")
    rates = Panel(x, upwards(0, 1, "share that came true", *UPPER))
    counts = Panel(x, logarithmic(0.5, 2 * float(table.events.max()), *LOWER, "events", most=3))
    return figure(title, (rates, _rates(rates, table)), (counts, [_histogram(counts, table.events)]))


def _rates(panel: Panel, table: Reliability) -> list[Layer]:
    known = Reliability(*(column[table.events > 0] for column in table))
    off = (known.lower > known.mean_probability) | (known.upper < known.mean_probability)
    layers = [
        line(panel, [0, 1], [0, 1], "reference", "all probabilities come true"),
        bars(panel, known.mean_probability, known.lower, known.upper),
    ]
    if not off.all():
        text = f"{(~off).sum()} of {len(off)} bins have their probability in the interval"
        layers.append(points(panel, known.mean_probability[~off], known.rate[~off], "circle", "first", text))
    if off.any():
        text = f"{off.sum()} of {len(off)} bins do not: {_worst(known, off)}"
        layers.append(points(panel, known.mean_probability[off], known.rate[off], "diamond", "alarm", text))
    return layers


def _worst(known: Reliability, off: NDArray[np.bool_]) -> str:
    at = int(np.argmax(np.where(off, np.abs(known.rate - known.mean_probability), -1)))
    interval = bounds(IntervalValue("wilson", float(known.lower[at]), float(known.upper[at])))
    probability, rate = number(float(known.mean_probability[at])), number(float(known.rate[at]))
    return f"of {probability} came true {rate} {interval} ({known.events[at]:,.0f} events)"


def _histogram(panel: Panel, events: Floats) -> Layer:
    edges, bottom = panel.x.scale(np.linspace(0, 1, len(events) + 1)), panel.y.scale.start
    tops = panel.y.scale(events)
    drawn = [
        h(
            "rect",
            h("title", f"{place / len(events):.2f} to {(place + 1) / len(events):.2f}: {count:,.0f} events"),
            x=px(edges[place] + 1),
            y=px(tops[place]),
            width=px(edges[place + 1] - edges[place] - 2),
            height=px(bottom - tops[place]),
        )
        for place, count in enumerate(events.tolist())
        if count
    ]
    return Layer(h("g", *drawn, class_="histogram"), text=f"{events.sum():,.0f} events in all")
