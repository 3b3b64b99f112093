"""Numbers of scores: range, normalisation and loss, in numpy float64 on the CPU.

Both readers call these, so that an event has the same bits whichever way it was read, and whatever
else is in its batch: no sum here depends on how many rows there are.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from monitor.events.batch import LOSS_UNIT
from monitor.events.spec import UNLABELED

RANGE_TOLERANCE = 1e-6
SUM_TOLERANCE = 1e-3
SUM_EXACT = 1e-6
"""Rounding of float32 vectors, which are taken as they are: a score is the float32 nearest to the input."""
PROBABILITY_FLOOR = 2.0**-24
"""Probabilities are clipped to [2**-24, 1 - 2**-24] under a logarithm."""

Floats = NDArray[np.float64]


def clip(p: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """Return probabilities moved into [0, 1], and which were within 1e-6 of it (NaN: not)."""
    inside = (p >= -RANGE_TOLERANCE) & (p <= 1.0 + RANGE_TOLERANCE)
    return np.clip(p, 0.0, 1.0), inside


def normalise(p: Floats) -> tuple[Floats, NDArray[np.bool_], Floats]:
    """Return rows divided by their sums, which sums were within 1e-3 of 1, and the sums.

    Parameters
    ----------
    p : float64, shape (n, C)
    """
    # Adds from left to right, in every shape; sum(axis=1) adds in pairs, depending on the layout.
    total = np.cumsum(p, axis=1)[:, -1]
    close = np.abs(total - 1.0) <= SUM_TOLERANCE
    divisor = np.where(close & (np.abs(total - 1.0) > SUM_EXACT), total, 1.0)
    return p / divisor[:, None], close, total


def log_loss(
    score: NDArray[np.float32], label: NDArray[np.int16], scored: tuple[int, ...]
) -> NDArray[np.int32]:
    """Return the one-vs-rest log loss of each scored class in LOSS_UNIT, 0 where it is undefined.

    Parameters
    ----------
    score : float32, shape (n, S)
        NaN where the event has no scores.
    label : int16, shape (n,)
        Class, or UNLABELED.
    scored
        Class of each column of `score`.
    """
    p = np.clip(score.astype(np.float64), PROBABILITY_FLOOR, 1.0 - PROBABILITY_FLOOR)
    p = np.where(label[:, None] == np.array(scored, dtype=np.int16), p, 1.0 - p)
    p[(label == UNLABELED)[:, None] | np.isnan(p)] = 1.0
    return np.rint(np.log(p) * (-1.0 / LOSS_UNIT)).astype(np.int32)
