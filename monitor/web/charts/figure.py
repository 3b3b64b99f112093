"""A whole chart: panels, legend, and its description in words. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from textwrap import wrap

from monitor.web.charts.axes import Axis, Panel, grid, linear
from monitor.web.charts.layers import SAMPLE, Layer
from monitor.web.charts.paths import px
from monitor.web.html import Html, h

WIDTH = 400
"""Of charts: small, so that their text can be read where they are scaled down to a phone."""

LEFT, RIGHT, TOP, BOTTOM = 52, 388, 10, 262
"""Edges of the panel in pixels."""

UPPER, LOWER = (184, TOP), (BOTTOM, 200)
"""Bottom and top of two panels in its place."""

LETTER, ROW = 6.7, 17
"""Width of a letter, about, and height of a line in pixels."""

_SPACE, _SAMPLE = 8, SAMPLE + 8


def across(low: float, high: float, title: str) -> Axis:
    """Return the usual x axis."""
    return linear(low, high, LEFT, RIGHT, title)


def upwards(
    low: float, high: float, title: str, bottom: float = BOTTOM, top: float = TOP, about: int = 5
) -> Axis:
    """Return the usual y axis."""
    return linear(low, high, bottom, top, title, about)


def unit(x_title: str, y_title: str) -> Panel:
    """Return a panel in which both axes go from 0 to 1."""
    return Panel(across(0, 1, x_title), upwards(0, 1, y_title))


def figure(title: str, *parts: tuple[Panel, Sequence[Layer]]) -> Html:
    """Return a chart of panels one above the other, which have the x axis in common."""
    lowest = max(panel.y.scale.start for panel, _ in parts)
    layers = list(chain.from_iterable(of_panel for _, of_panel in parts))
    samples, bottom = legend(layers, lowest + 52)
    drawn = [
        part
        for panel, of_panel in parts
        for part in (grid(panel, panel.y.scale.start == lowest), *(layer.drawing for layer in of_panel))
    ]
    return chart(title, (layer.text for layer in layers), (WIDTH, bottom), "chart", *drawn, samples)


def chart(title: str, words: Iterable[str], size: tuple[float, float], class_: str, *drawn: Html) -> Html:
    """Return an svg element that says in words what it shows."""
    said = ". ".join(filter(None, words))
    return h(
        "svg",
        h("title", title),
        h("desc", f"{said}.") if said else None,
        *drawn,
        class_=class_,
        role="img",
        viewBox=f"0 0 {px(size[0])} {px(size[1])}",
    )


def legend(layers: Sequence[Layer], top: float) -> tuple[Html, float]:
    """Return samples with their words, in rows from `top` on, and where they end."""
    entries, x, y, space = [], 0.0, top, WIDTH - 2 * _SPACE
    for layer in layers:
        if layer.sample is None or not layer.text:
            continue
        lines = wrap(layer.text, int((space - _SAMPLE) / LETTER))
        needed = _SAMPLE + LETTER * max(map(len, lines))
        if x and x + needed > space:
            x, y = 0.0, y + ROW
        texts = [h("text", text, x=px(_SAMPLE), y=px(4 + ROW * n)) for n, text in enumerate(lines)]
        entries.append(h("g", layer.sample, *texts, transform=f"translate({px(_SPACE + x)} {px(y)})"))
        x += needed + 2 * _SPACE
        if len(lines) > 1:
            x, y = 0.0, y + ROW * len(lines)
    return h("g", *entries, class_="legend"), y + (ROW if x else 0) - 4
