"""The history of a window as JSON."""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from monitor.history import Track


def history_object(track: Track) -> dict[str, Any]:
    """Return a track as columns of the same length, one entry a point; null is undefined.

    ``timestamps`` are event times and ``evaluated`` wall-clock times, both in seconds since the epoch.
    """
    return {
        "model": track.model,
        "version": track.version,
        "window": track.window,
        "timestamps": (track.times / 1e6).tolist(),
        "evaluated": (track.evaluated / 1e6).tolist(),
        "labeled": track.labeled.tolist(),
        "metrics": [
            {
                "name": metric.family,
                "labels": dict(metric.labels),
                "value": _numbers(track.values[:, column, 0]),
                "lower": _numbers(track.values[:, column, 1]),
                "upper": _numbers(track.values[:, column, 2]),
            }
            for column, metric in enumerate(track.metrics)
        ],
    }


def _numbers(values: NDArray[np.float64]) -> list[float | None]:
    return [number if isfinite(number) else None for number in values.tolist()]
