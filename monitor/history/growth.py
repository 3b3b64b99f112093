"""One more point of a track. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from math import nan
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from monitor.history.thinning import thinned
from monitor.history.track import Metric, Track
from monitor.report import Value, WindowReport
from monitor.wording import interval_of

MOST_METRICS = 40
"""Of a track. What is picked can be another class each time: those that come later are left out."""

Pick = Callable[[WindowReport], Iterable[Value]]
"""Chooses the values of a window that are kept."""

Bounded = tuple[float, float, float]
"""Value, lower and upper bound; NaN for what there is not."""

_NOTHING: Bounded = (nan, nan, nan)


class Point(NamedTuple):
    """What is known of a window at one moment; `row` has a triple for each of the metrics."""

    time: int
    evaluated: int
    labeled: int
    metrics: tuple[Metric, ...]
    row: list[Bounded]


def next_point(track: Track, window: WindowReport, pick: Pick, evaluated: int) -> Point | None:
    """Return what a report adds to a track, None where that is nothing.

    Metrics that the track has go on, whether they are picked again or not.
    """
    if not window.events or window.end is None:
        return None
    if len(track.times) and (window.end, window.labeled) == (track.times[-1], track.labeled[-1]):
        return None
    found = {Metric.of(value): _bounded(value) for value in pick(window)}
    if missing := set(track.metrics) - found.keys():
        families = {metric.family for metric in missing}
        for value in window.values:
            if value.name in families and (metric := Metric.of(value)) in missing:
                found[metric] = _bounded(value)
    metrics = track.metrics
    if new := [metric for metric in found if metric not in metrics]:
        metrics = _shared((*metrics, *new)[:MOST_METRICS])
    row = [found.get(metric, _NOTHING) for metric in metrics]
    return Point(window.end, evaluated, window.labeled, metrics, row)


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

    What the track has at the time of the point or later belongs to an evaluation that has been overtaken, or
    to another past, and goes.
    """
    if point is None:
        if len(track.times) <= most:
            return track
        stay = thinned(track.times, most)
        return Track(
            *track.key,
            track.metrics,
            track.times[stay],
            track.evaluated[stay],
            track.labeled[stay],
            track.values[stay],
        )
    before = int(np.searchsorted(track.times, point.time))
    times = _with(track.times[:before], point.time)
    stay = thinned(times, most)
    old = stay[:-1]
    known = len(track.metrics)
    values = np.empty((len(stay), len(point.metrics), 3))
    np.take(track.values, old, axis=0, out=values[:-1, :known], mode="clip")  # "raise" would copy twice
    values[:-1, known:] = nan
    values[-1] = point.row
    return Track(
        *track.key,
        point.metrics,
        times[stay],
        _with(track.evaluated[old], point.evaluated),
        _with(track.labeled[old], point.labeled),
        values,
    )


def _with(numbers: NDArray[np.int64], last: int) -> NDArray[np.int64]:
    found = np.empty(len(numbers) + 1, np.int64)  # np.append takes ten times as long
    found[:-1] = numbers
    found[-1] = last
    return found
