"""How many points tracks may have. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from monitor.history.thinning import LEAST_POINTS
from monitor.history.track import Track

MOST_POINTS = 500
"""More than that nobody sees in a chart."""

TRACK_BYTES = 1000
"""Of a track beside its points: objects and names. (Measured; metrics are shared.)"""

TRIPLE_BYTES = 24
"""A point is a triple of whole numbers, and one of floats for each metric."""


class Share(NamedTuple):
    """For how many tracks there is room, and for how many points of each."""

    tracks: int
    points: int


def nbytes(track: Track) -> int:
    """Return the size of a track."""
    return TRACK_BYTES + TRIPLE_BYTES * len(track.times) * (1 + len(track.metrics))


def share(budget: int, metrics: Sequence[int]) -> Share:
    """Return what fits into so many bytes, given how many metrics each track has.

    Each track gets the same number of points; where there is no room for `LEAST_POINTS`, the last tracks
    get none.
    """
    each = TRIPLE_BYTES * (1 + np.array(metrics, np.int64))
    least = np.cumsum(TRACK_BYTES + LEAST_POINTS * each)
    tracks = int(np.searchsorted(least, budget, "right"))
    if not tracks:
        return Share(0, 0)
    free = budget - TRACK_BYTES * tracks
    return Share(tracks, min(MOST_POINTS, free // int(each[:tracks].sum())))
