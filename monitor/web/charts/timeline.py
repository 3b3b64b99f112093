"""How a metric went over event time, with what happened on the way. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np

from monitor.history import Metric, Track
from monitor.report import Floats
from monitor.web.charts.axes import Axis, Panel, grid, linear
from monitor.web.charts.figure import LEFT, LETTER, RIGHT, ROW, WIDTH, chart, legend
from monitor.web.charts.layers import SAMPLE, Layer, area, level, line, marker
from monitor.web.charts.paths import px
from monitor.web.charts.scales import Scale, fit
from monitor.web.charts.times import day, time_ticks
from monitor.web.html import Html, h
from monitor.wording import number, printable, utc

Kind = Literal["alert", "resolved", "action", "version"]

SHAPES: Mapping[Kind, str] = {
    "alert": "triangle",
    "resolved": "circle",
    "action": "square",
    "version": "diamond",
}
"""Of marks."""

_HEIGHT, _ROWS, _LONGEST = 150, 2, 24
_LEAST = 60_000_000
"""Microseconds that a time axis shows at least."""


class Limit(NamedTuple):
    """A horizontal line: what an alert holds the metric to."""

    name: str
    value: float


class Mark(NamedTuple):
    """A vertical line at an event time in microseconds."""

    time: int
    kind: Kind
    text: str


def timeline(
    track: Track, metric: Metric, title: str, limits: Sequence[Limit] = (), marks: Sequence[Mark] = ()
) -> Html | None:
    """Return a line over event time with its interval band, None without a defined point."""
    if metric not in track.metrics:
        return None
    times = track.times.astype(np.float64)
    value, lower, upper = track.values[:, track.metrics.index(metric)].T
    known = np.flatnonzero(np.isfinite(value))
    if not len(known):
        return None
    first, last = int(track.times[0]), int(track.times[-1])
    happened = sorted(mark for mark in marks if first <= mark.time <= last)
    top = 12 + (16 + _ROWS * ROW if happened else 0)
    domain = fit(value, lower, upper, [limit.value for limit in limits])
    panel = Panel(_time_axis(first, last), linear(*domain, top + _HEIGHT, top, ""))
    parts = [
        area(panel, times, lower, upper, "first", "its interval"),
        *_limits(panel, limits),
        line(panel, times, value, "first", _summary(value[known])),
        *_marks(panel, happened),
        *_names(panel, limits),
    ]
    samples, bottom = legend(parts, top + _HEIGHT + 52)
    words = [f"{utc(first)} to {utc(last)}", *(layer.text for layer in parts), *map(_said, happened)]
    drawn = (layer.drawing for layer in parts)
    return chart(printable(title), words, (WIDTH, bottom), "chart timeline", grid(panel), *drawn, samples)


def _time_axis(first: int, last: int) -> Axis:
    days = list(dict.fromkeys((day(first), day(last))))
    space = max(0, _LEAST - (last - first)) / 2
    scale = Scale(first - space, last + space, LEFT, RIGHT)
    return Axis(scale, time_ticks(scale.low, scale.high, most=5), f"event time, UTC, {' to '.join(days)}")


def _summary(known: Floats) -> str:
    lowest, highest = number(float(known.min())), number(float(known.max()))
    return f"last {number(float(known[-1]))}, lowest {lowest}, highest {highest}"


def _limits(panel: Panel, limits: Iterable[Limit]) -> Iterable[Layer]:
    for name, value in limits:
        yield level(panel, value, "limit", f"limit {printable(name)} {number(value)}")


def _names(panel: Panel, limits: Iterable[Limit]) -> Iterable[Layer]:
    """Yield the names of limits at the right end, clear of each other."""
    free = panel.y.scale.start
    for name, value in sorted(limits, key=lambda limit: limit.value):
        at = min(float(panel.y.scale(value)) - 4, free)
        free = at - ROW
        place = {"x": px(RIGHT - 2), "y": px(at)}
        yield Layer(h("text", _short(name), class_="name", text_anchor="end", **place))


def _marks(panel: Panel, marks: Sequence[Mark]) -> Iterable[Layer]:
    """Yield lines with a shape on top and words where there is room; the legend has each kind once."""
    taken = [0.0] * _ROWS
    explained: set[str] = set()
    bottom, shape_at = panel.y.scale.start, panel.y.scale.end - 8
    for mark in marks:
        x, text, class_ = float(panel.x.scale(mark.time)), _short(mark.text), f"mark {mark.kind}"
        start = max(0.0, min(x - 5, WIDTH - 8 - LETTER * len(text)))
        row = next((row for row in range(_ROWS) if taken[row] <= start), None)
        inside = [
            h("title", _said(mark)),
            h("path", class_="curve", d=f"M{px(x)} {px(shape_at)}V{px(bottom)}"),
            marker(SHAPES[mark.kind], "point", x, shape_at),
        ]
        if row is not None:
            taken[row] = start + LETTER * (len(text) + 1)
            inside.append(h("text", text, x=px(start), y=px(shape_at - 11 - ROW * row)))
        sample = None
        if mark.kind not in explained:
            explained.add(mark.kind)
            sample = h("g", marker(SHAPES[mark.kind], "point", SAMPLE / 2, 0), class_=class_)
        yield Layer(h("g", *inside, class_=class_), sample, mark.kind if sample else "")


def _said(mark: Mark) -> str:
    return f"{mark.kind} {utc(mark.time)}: {printable(mark.text)}"


def _short(text: str) -> str:
    text = printable(text)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
