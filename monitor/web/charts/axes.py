"""Axes and the panel between them. Pure."""

from __future__ import annotations

from typing import NamedTuple

from monitor.web.charts.paths import px
from monitor.web.charts.scales import Scale, Ticks, decades, ticks
from monitor.web.html import Html, h, join


class Axis(NamedTuple):
    """A scale, where it is labeled, and what it measures."""

    scale: Scale
    ticks: Ticks
    title: str


class Panel(NamedTuple):
    """Where curves are drawn: the y axis starts at the bottom."""

    x: Axis
    y: Axis


def linear(low: float, high: float, start: float, end: float, title: str, about: int = 5) -> Axis:
    """Return an axis with about so many ticks."""
    return Axis(Scale(low, high, start, end), ticks(low, high, about), title)


def logarithmic(low: float, high: float, start: float, end: float, title: str, most: int = 5) -> Axis:
    """Return an axis with ticks at powers of ten."""
    return Axis(Scale(low, high, start, end, log=True), decades(low, high, most), title)


def grid(panel: Panel, x_labels: bool = True) -> Html:
    """Return frame, grid lines, labels and titles."""
    (left, right), (bottom, top) = _ends(panel.x), _ends(panel.y)
    lines, texts = [], []
    for value, text in panel.x.ticks:
        x = float(panel.x.scale(value))
        lines.append(f"M{px(x)} {px(bottom)}V{px(top)}")
        if x_labels:
            texts.append(h("text", text, x=px(x), y=px(bottom + 16), text_anchor="middle"))
    for value, text in panel.y.ticks:
        y = float(panel.y.scale(value))
        lines.append(f"M{px(left)} {px(y)}H{px(right)}")
        texts.append(h("text", text, x=px(left - 6), y=px(y + 4), text_anchor="end"))
    return join(
        h("path", class_="grid", d="".join(lines)),
        h("path", class_="frame", d=f"M{px(left)} {px(top)}V{px(bottom)}H{px(right)}"),
        h("g", *texts, class_="ticks"),
        _title(panel.x.title, (left + right) / 2, bottom + 33) if x_labels and panel.x.title else None,
        _title(panel.y.title, 12, (bottom + top) / 2, turned=True) if panel.y.title else None,
    )


def _title(text: str, x: float, y: float, turned: bool = False) -> Html:
    place = {"transform": f"translate({px(x)} {px(y)}) rotate(-90)"} if turned else {"x": px(x), "y": px(y)}
    return h("text", text, class_="axis", text_anchor="middle", **place)


def _ends(axis: Axis) -> tuple[float, float]:
    return axis.scale.start, axis.scale.end
