"""How a metric went, at a glance. Pure."""

from __future__ import annotations

import numpy as np

from monitor.history import Metric, Track
from monitor.web.charts import paths
from monitor.web.charts.figure import chart
from monitor.web.charts.paths import px
from monitor.web.charts.scales import Scale, fit
from monitor.web.html import Html, h
from monitor.wording import number

_WIDTH, _HEIGHT, _EDGE = 120, 28, 4


def sparkline(track: Track, metric: Metric) -> Html | None:
    """Return a small line without axes, None with fewer than two defined points."""
    if metric not in track.metrics:
        return None
    value = track.values[:, track.metrics.index(metric), 0]
    known = np.flatnonzero(np.isfinite(value))
    if len(known) < 2:
        return None
    first, last = known[0], known[-1]
    x = Scale(track.times[first], track.times[last], _EDGE, _WIDTH - _EDGE)(track.times)
    y = Scale(*fit(value), _HEIGHT - _EDGE, _EDGE)(value)
    shown = paths.thin(x, y, width=4.0) if len(x) > _WIDTH else np.arange(len(x))
    lowest, highest = number(float(np.nanmin(value))), number(float(np.nanmax(value)))
    return chart(
        f"From {number(value[first])} to {number(value[last])}, lowest {lowest}, highest {highest}",
        (),
        (_WIDTH, _HEIGHT),
        "chart sparkline",
        h("path", class_="curve first", d=paths.line(x[shown], y[shown])),
        h("circle", class_="point first", cx=px(x[last]), cy=px(y[last]), r="3"),
    )
