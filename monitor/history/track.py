"""The past of one model version in one window. Immutable."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from monitor.report import Value


class Metric(NamedTuple):
    """Which number it is: the family of the exported series, and its labels beyond those of the window."""

    family: str
    labels: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, value: Value) -> Metric:
        """Return which one a value of a report is."""
        return cls.named(value.name, value.labels)

    @classmethod
    def named(cls, family: str, labels: Mapping[str, str]) -> Metric:
        """Return which one a value of this family with these labels is."""
        return cls(family, tuple(sorted(labels.items())))


Key = tuple[str, str, str]
"""Model, version and window."""


@dataclass(frozen=True, slots=True, eq=False)
class Track:
    """N points in time of M metrics; the arrays are never changed.

    Attributes
    ----------
    model, version, window
        Which one; over all events.
    metrics
        M of them.
    times : ndarray of int64, shape (N,)
        Event time at which the window ended, in microseconds, increasing.
    evaluated : ndarray of int64, shape (N,)
        Wall-clock time of the evaluation, in microseconds.
    labeled : ndarray of int64, shape (N,)
        Labeled events in the window.
    values : ndarray of float64, shape (N, M, 3)
        Value, lower and upper bound; NaN where undefined, or without an interval.
    """

    model: str
    version: str
    window: str
    metrics: tuple[Metric, ...]
    times: NDArray[np.int64]
    evaluated: NDArray[np.int64]
    labeled: NDArray[np.int64]
    values: NDArray[np.float64]

    @classmethod
    def empty(cls, model: str, version: str, window: str) -> Track:
        """Return one without a point."""
        none = np.empty(0, np.int64)
        return cls(model, version, window, (), none, none, none, np.empty((0, 0, 3)))

    @property
    def key(self) -> Key:
        """Which one it is."""
        return self.model, self.version, self.window


Tracks = Mapping[Key, Track]
