"""Confidence decay: whether the most confident decisions are the good ones. Pure."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from monitor.report import Floats, WindowReport
from monitor.web.charts.axes import Panel
from monitor.web.charts.figure import across, figure, upwards
from monitor.web.charts.layers import Layer, area, line, points
from monitor.web.charts.subject import is_top_label, subject
from monitor.web.html import Html
from monitor.wording import number

EARLY = 10
"""Percentage of the events before which a fall is worth a flag."""


def confidence_decay(window: WindowReport, class_: str) -> Html | None:
    """Draw F1 (of the top label: accuracy) among the k% highest scores, None where it is undefined."""
    of = subject(window, class_)
    if of is not None and window.task != "multiclass":
        row, name, title = of.row, "F1", of.title("Confidence decay")
    elif is_top_label(window, class_):
        row, name, title = 0, "accuracy", "Confidence decay of the top label"
    else:
        return None
    if window.curves is None or not np.isfinite(window.curves.decay[row]).any():
        return None
    value = window.curves.decay[row]
    percent = np.arange(1.0, 1 + len(value))
    panel = Panel(across(0, 100, "% of events with the highest scores"), upwards(0, 1, name))
    first = int(np.isfinite(value).argmax())
    text = f"{name}: {number(value[first])} among the highest {first + 1}%, {number(value[-1])} among all"
    return figure(
        title,
        (
            panel,
            [
                area(panel, [0, EARLY], [0, 0], [1, 1], "early", f"the highest {EARLY}%"),
                line(panel, percent, value, "first", text),
                *_fall(panel, value, int(window.curves.decay_falls[row])),
            ],
        ),
    )


def _fall(panel: Panel, value: Floats, percent: int) -> Iterator[Layer]:
    if percent:
        text = f"falls to half at {percent}%: the highest scores mislead"
        yield points(panel, float(percent), value[percent - 1], "diamond", "alarm", text)
