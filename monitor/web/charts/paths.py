"""Lines and areas as data of SVG paths. Pure."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from monitor.report import Floats

FEW = 256
"""So many points are drawn as they are."""


def px(value: float) -> str:
    """Write a length in pixels."""
    return f"{value:.1f}".removesuffix(".0")


def line(x: Floats, y: Floats) -> str:
    """Return a line through points in pixels, with gaps where one is NaN; a single point becomes a dot."""
    return "".join(f"M{_points(x[run], y[run])}{'h0' if len(run) == 1 else ''}" for run in _runs(x + y))


def between(x: Floats, lower: Floats, upper: Floats) -> str:
    """Return the area between two lines, with gaps where one of them is NaN."""
    return "".join(
        f"M{_points(x[run], upper[run])}L{_points(x[run[::-1]], lower[run[::-1]])}Z"
        for run in _runs(x + lower + upper)
    )


def thin(x: Floats, y: Floats, width: float = 2.0) -> NDArray[np.int64]:
    """Choose points of a line that look like all of them: first, lowest, highest and last by column (M4).

    Parameters
    ----------
    x, y : shape (N,)
        In pixels, x in order.
    width
        Of a column in pixels.

    Returns
    -------
    ndarray of int64
        Which points, in order; a gap keeps one NaN.
    """
    if len(x) <= FEW:
        return np.arange(len(x))
    starts, ends = _columns(x, x + y, width)
    by_height = np.lexsort((y, np.repeat(np.arange(len(starts)), ends - starts + 1)))
    return np.unique(np.concatenate((starts, by_height[starts], by_height[ends], ends)))


def envelope(x: Floats, lower: Floats, upper: Floats, width: float = 2.0) -> tuple[Floats, Floats, Floats]:
    """Return an area with one point for each column of `width` pixels, which holds all that is in the column.

    `lower` is at the bottom of the picture, where pixels are greater.
    """
    if len(x) <= FEW:
        return x, lower, upper
    starts, ends = _columns(x, x + lower + upper, width)
    at = np.append(x[starts[:-1]], x[ends[-1]])
    return at, np.maximum.reduceat(lower, starts), np.minimum.reduceat(upper, starts)


def _columns(x: Floats, known: Floats, width: float) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first and the last point of each column of pixels and of each gap."""
    column = np.where(np.isnan(known), -1, np.floor(np.nan_to_num(x) / width))
    starts = np.flatnonzero(np.diff(column, prepend=np.nan) != 0)
    return starts, np.append(starts[1:], len(x)) - 1


def _points(x: Floats, y: Floats) -> str:
    points = "L".join([f"{a:.1f} {b:.1f}" for a, b in zip(x.tolist(), y.tolist(), strict=True)])
    return f"{points} ".replace(".0 ", " ").replace(".0L", "L").rstrip()


def _runs(values: Floats) -> list[NDArray[np.int64]]:
    """Return the places of neighbours that are finite."""
    places = np.flatnonzero(np.isfinite(values))
    runs = np.split(places, np.flatnonzero(np.diff(places) > 1) + 1)
    return [run for run in runs if len(run)]
