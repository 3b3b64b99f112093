"""One more point of a track. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from itertools import chain
from math import nan
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from monitor.history.thinning import thinned
from monitor.history.track import Metric, Track
from monitor.report import Names, Value, WindowReport
from monitor.wording import interval_of

MOST_METRICS = 40
"""Of a track. What is picked can be another class each time: those that come later are left out."""

Pick = Callable[[WindowReport], Iterable[Value]]
"""Chooses the values of a window that are kept."""

Bounded = tuple[float, float, float]
"""Value, lower and upper bound; NaN for what there is not."""

_NOTHING: Bounded = (nan, nan, nan)


class Point(NamedTuple):
    """What is known of a window at one moment; `row` has three numbers for each of the metrics."""

    time: int
    evaluated: int
    labeled: int
    metrics: tuple[Metric, ...]
    row: list[float]


def next_point(track: Track, window: WindowReport, pick: Pick, evaluated: int) -> Point | None:
    """Return what a report adds to a track, None where that is nothing.

    Metrics that the track has go on, whether they are picked again or not.
    """
    if not window.events or window.end is None:
        return None
    if len(track.times) and (window.end, window.labeled) == (track.times[-1], track.labeled[-1]):
        return None
    picked = list(pick(window))
    metrics, row = _metrics(Names.of(picked)), list(map(_bounded, picked))
    if metrics == track.metrics:
        metrics = track.metrics
    else:
        metrics, row = _merged(track.metrics, dict(zip(metrics, row, strict=True)), window)
    return Point(window.end, evaluated, window.labeled, metrics, list(chain.from_iterable(row)))


def _merged(
    known: tuple[Metric, ...], found: dict[Metric, Bounded], window: WindowReport
) -> tuple[tuple[Metric, ...], list[Bounded]]:
    """Return the metrics of a track and those found beyond, and what a window has of them."""
    missing = set(known) - found.keys()
    families = {metric.family for metric in missing}
    for value in window.values:
        if value.name in families and (metric := Metric.of(value)) in missing:
            found[metric] = _bounded(value)
    new = [metric for metric in found if metric not in known]
    metrics = _shared((*known, *new)[:MOST_METRICS])
    return metrics, [found.get(metric, _NOTHING) for metric in metrics]


@lru_cache(maxsize=32)
def _metrics(names: Names) -> tuple[Metric, ...]:
    return tuple(map(Metric.named, *names))


@lru_cache(maxsize=1000)
def _shared(metrics: tuple[Metric, ...]) -> tuple[Metric, ...]:
    """Return the same tuple for equal ones: they take more memory than ten points."""
    return metrics


def _bounded(value: Value) -> Bounded:
    if value.value is None:
        return _NOTHING
    interval = interval_of(value)
    return (value.value, nan, nan) if interval is None else (value.value, interval.lower, interval.upper)


def grown(track: Track, point: Point | None, most: int) -> Track:
    """Return a track with a point more, if there is one, and with `most` points at most.

    One that has more loses a quarter at once, since it costs no more than losing one.
    """
    if point is not None:
        track = _followed(track, point)
    return track if len(track.times) <= most else _thinned(track, most - most // 4)


def _followed(track: Track, point: Point) -> Track:
    """Return a track with a point at its end.

    What it has at the time of the point or later belongs to an evaluation that has been overtaken, or to
    another past, and goes.
    """
    before = int(track.times.searchsorted(point.time))
    known = len(track.metrics)
    values = np.empty((before + 1, len(point.metrics), 3))
    values[:before, :known] = track.values[:before]
    values[:before, known:] = nan
    values.reshape(before + 1, -1)[before] = point.row  # a flat list is read in half of the time
    return Track(
        *track.key,
        point.metrics,
        _with(track.times[:before], point.time),
        _with(track.evaluated[:before], point.evaluated),
        _with(track.labeled[:before], point.labeled),
        values,
    )


def _thinned(track: Track, most: int) -> Track:
    stay = thinned(track.times, most)
    return Track(
        *track.key,
        track.metrics,
        track.times[stay],
        track.evaluated[stay],
        track.labeled[stay],
        track.values[stay],
    )


def _with(numbers: NDArray[np.int64], last: int) -> NDArray[np.int64]:
    found = np.empty(len(numbers) + 1, np.int64)  # np.append takes ten times as long
    found[:-1] = numbers
    found[-1] = last
    return found
