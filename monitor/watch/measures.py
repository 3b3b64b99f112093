"""What single events say of a metric, as integers: so sums are the same whatever they are taken over."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from monitor.events.batch import Columns
from monitor.events.spec import UNLABELED, ModelSpec

UNIT = 2.0**-30
"""Weight of one unit of an observation."""

ONE = 1 << 30

Mask = NDArray[np.bool_]
Units = NDArray[np.int64]
Floats = NDArray[np.float64]
Index = NDArray[np.intp]


class Observed(NamedTuple):
    """Observations of m events: which events they are, ascending, (m,), and what they say, (m, width)."""

    events: Index
    units: Units


@dataclass(frozen=True, slots=True)
class Measure:
    """How a metric that is a mean over events is observed.

    Attributes
    ----------
    observe
        Observations from 0 to 1 of the events that count, (m, 1) in `UNIT`.
    scale
        What the mean is multiplied by to give the metric.
    proportion
        Whether each observation is 0 or 1.
    by_label
        Whether the label alone tells which events count: then two versions that decide about the same events
        observe the same.
    """

    observe: Callable[[Columns], Observed]
    scale: float = 1.0
    proportion: bool = False
    by_label: bool = True


def labeled(columns: Columns) -> Mask:
    """Return which events have a label."""
    label = columns.label if columns.label.ndim == 1 else columns.label[:, 0]
    mask: Mask = label != UNLABELED
    return mask


def truth(columns: Columns, code: int) -> Mask:
    """Return of which events a class is true; of unlabeled ones it is not."""
    mask: Mask = columns.label == code if columns.label.ndim == 1 else columns.label[:, code] == 1
    return mask


def decided(columns: Columns, code: int) -> Mask:
    """Return for which events a class was decided."""
    mask: Mask = columns.decision == code if columns.decision.ndim == 1 else columns.decision[:, code] == 1
    return mask


def scored(columns: Columns) -> Mask:
    """Return which events have scores."""
    return ~np.isnan(columns.score[:, 0])


def probability(spec: ModelSpec, score: NDArray[np.float32]) -> Floats:
    """Return the probability that each score stands for."""
    values = score.astype(np.float64)
    if not spec.raw_logits:
        return values
    scaled = values / spec.temperature
    small = np.exp(-np.abs(scaled))  # does not overflow
    p: Floats = np.where(scaled < 0, small, 1.0) / (1 + small)
    return p


def quantised(values: Floats) -> Units:
    """Return values in whole units."""
    return np.rint(values * ONE).astype(np.int64)


def observed(where: Mask, values: NDArray[Any]) -> Observed:
    """Return observations of the events at `where`: bool or units, (events,)."""
    index = np.flatnonzero(where)
    found = values[index]
    return Observed(index, (found * ONE if found.dtype == np.bool_ else found)[:, None])
