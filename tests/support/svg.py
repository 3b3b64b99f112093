"""Reads charts back: what is drawn where."""

from __future__ import annotations

import re
from xml.etree.ElementTree import Element, fromstring

import numpy as np

from monitor.web.charts.axes import Panel


def parsed(svg: str) -> Element:
    """Return the element of a chart, which has no number that is none."""
    assert not re.search(r"\b(nan|inf)\b", svg, re.IGNORECASE)
    return fromstring(svg)


def of_class(svg: Element, *classes: str) -> list[Element]:
    """Return the elements outside the legend that have all of these classes."""
    hidden = {id(e) for legend in svg.iter("g") if legend.get("class") == "legend" for e in legend.iter()}
    return [
        e for e in svg.iter() if id(e) not in hidden and set(classes) <= set((e.get("class") or "").split())
    ]


def texts(svg: Element) -> list[str]:
    """Return what is written."""
    return [e.text or "" for e in svg.iter("text")]


def described(svg: Element) -> str:
    """Return the chart in words."""
    found = svg.find("desc")
    return "" if found is None else found.text or ""


def points(path: Element) -> np.ndarray:
    """Return the corners of a line or an area in pixels, shape (N, 2)."""
    found = re.findall(r"(-?[\d.]+) (-?[\d.]+)", path.get("d", ""))
    return np.array(found, float).reshape(-1, 2)


def places(markers: list[Element]) -> np.ndarray:
    """Return where points stand in pixels, shape (N, 2)."""
    found = [re.findall(r"-?[\d.]+", m.get("transform", "")) for m in markers]
    return np.array(found, float).reshape(-1, 2)


def values(panel: Panel, pixels: np.ndarray) -> np.ndarray:
    """Return what pixels mean on linear axes."""
    both = zip((panel.x.scale, panel.y.scale), pixels.T, strict=True)
    return np.column_stack([s.low + (p - s.start) / (s.end - s.start) * (s.high - s.low) for s, p in both])


def area(corners: np.ndarray) -> float:
    """Return the area of a polygon (shoelace formula)."""
    x, y = corners.T
    return abs(float(np.dot(x, np.roll(y, 1)) - np.dot(y, np.roll(x, 1)))) / 2
