"""What is drawn in a panel, each with its sample in the legend and its words. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from monitor.report import Floats
from monitor.web.charts import paths
from monitor.web.charts.axes import Panel
from monitor.web.charts.paths import px
from monitor.web.html import Html, h, join

SAMPLE = 24
"""Width of a sample in pixels."""

SHAPES: Mapping[str, str] = {
    "circle": "M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0Z",
    "diamond": "M0-6L6 0L0 6L-6 0Z",
    "square": "M-4.5-4.5H4.5V4.5H-4.5Z",
    "triangle": "M0-6L6 5H-6Z",
}
"""Around 0, 0: what tells points apart without colours."""


class Layer(NamedTuple):
    """One thing that is drawn.

    Attributes
    ----------
    drawing
        In the panel.
    sample
        For the legend, around the height 0; None where it needs none.
    text
        What it is, with its main numbers: in the legend, and in the description for those who cannot see it.
    """

    drawing: Html
    sample: Html | None = None
    text: str = ""


def line(panel: Panel, x: ArrayLike, y: ArrayLike, look: str, text: str = "") -> Layer:
    """Return a line; `look` is the class that styles it."""
    across, down = panel.x.scale(x), panel.y.scale(y)
    shown = paths.thin(across, down)
    class_ = f"curve {look}"
    return Layer(
        h("path", class_=class_, d=paths.line(across[shown], down[shown])),
        h("path", class_=class_, d=f"M0 0h{SAMPLE}"),
        text,
    )


def area(panel: Panel, x: ArrayLike, lower: ArrayLike, upper: ArrayLike, look: str, text: str = "") -> Layer:
    """Return an area between two lines."""
    across, low, high = panel.x.scale(x), panel.y.scale(lower), panel.y.scale(upper)
    class_ = f"area {look}"
    return Layer(
        h("path", class_=class_, d=paths.between(*paths.envelope(across, low, high))),
        h("path", class_=class_, d=f"M0-5H{SAMPLE}V5H0Z"),
        text,
    )


def points(panel: Panel, x: ArrayLike, y: ArrayLike, shape: str, look: str, text: str = "") -> Layer:
    """Return points of a shape of `SHAPES`; those that are NaN are left out."""
    places = _pixels(panel, x, y)
    class_ = f"point {look}"
    return Layer(
        join(*(marker(shape, class_, across, down) for across, down in places)),
        marker(shape, class_, SAMPLE / 2, 0),
        text,
    )


def bars(panel: Panel, x: ArrayLike, lower: ArrayLike, upper: ArrayLike) -> Layer:
    """Return vertical bars from `lower` to `upper`: intervals of points."""
    ends = zip(_pixels(panel, x, lower), _pixels(panel, x, upper), strict=True)
    drawn = "".join(f"M{px(x)} {px(low)}V{px(high)}" for (x, low), (_, high) in ends)
    return Layer(h("path", class_="curve interval", d=drawn))


def upright(panel: Panel, x: float, look: str, text: str = "") -> Layer:
    """Return a line from bottom to top."""
    scale = panel.y.scale
    drawn = f"M{px(float(panel.x.scale(x)))} {px(scale.start)}V{px(scale.end)}"
    class_ = f"curve {look}"
    return Layer(h("path", class_=class_, d=drawn), h("path", class_=class_, d="M12-6V6"), text)


def level(panel: Panel, y: float, look: str, text: str = "") -> Layer:
    """Return a line from left to right."""
    ends: Floats = np.array([panel.x.scale.low, panel.x.scale.high])
    return line(panel, ends, np.full(2, y), look, text)


def marker(shape: str, class_: str, x: float, y: float, *inner: Html) -> Html:
    """Return one point at a place in pixels."""
    return h("path", *inner, class_=class_, d=SHAPES[shape], transform=f"translate({x:.2f} {y:.2f})")


def _pixels(panel: Panel, x: ArrayLike, y: ArrayLike) -> list[tuple[float, float]]:
    both = np.column_stack((np.ravel(panel.x.scale(x)), np.ravel(panel.y.scale(y))))
    return [(across, down) for across, down in both[np.isfinite(both).all(axis=1)].tolist()]
