"""How the best threshold depends on what errors cost. Pure."""

from __future__ import annotations

import numpy as np

from monitor.report import Floats, WindowReport
from monitor.web.charts.axes import Axis, Panel, logarithmic
from monitor.web.charts.figure import LEFT, RIGHT, figure, upwards
from monitor.web.charts.layers import Layer, area, level, line, upright
from monitor.web.charts.scales import up_to
from monitor.web.charts.subject import subject
from monitor.web.html import Html


def cost_sensitivity(window: WindowReport, class_: str) -> Html | None:
    """Draw the cheapest threshold over the cost of a miss by that of a false alarm; None without events."""
    of = subject(window, class_)
    if of is None or not np.isfinite(of.curves.cost_threshold[of.row]).any():
        return None
    curves, row = of.curves, of.row
    best, low, high = curves.cost_threshold[row], curves.cost_from[row], curves.cost_to[row]
    ratio = np.array(curves.cost_ratios)
    greatest = np.nanmax([*best, *high, of.threshold or 0.0])
    panel = Panel(_ratios(ratio), upwards(0, up_to(float(greatest)), "threshold"))
    layers: list[Layer] = [
        area(panel, ratio, low, high, "first", "costs at most 5% more"),
        line(panel, ratio, best, "first", "cheapest threshold"),
    ]
    if of.threshold is not None:
        layers.append(level(panel, of.threshold, "now", f"threshold now {of.threshold:.6g}"))
    if window.costs is not None:
        own = window.costs[0] / window.costs[1]
        layers.append(upright(panel, own, "best", f"configured cost ratio {own:.4g}"))
    return figure(of.title("Cost sensitivity"), (panel, layers))


def _ratios(ratio: Floats) -> Axis:
    title = "cost of a miss / cost of a false alarm"
    return logarithmic(float(ratio[0]), float(ratio[-1]), LEFT, RIGHT, title)
