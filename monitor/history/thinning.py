"""Which points of a track stay when it has too many: the older they are, the fewer. Pure."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

LEAST_POINTS = 2
"""The first and the newest, which always stay."""


def thinned(times: NDArray[np.int64], most: int) -> NDArray[np.intp]:
    """Return which points stay so that there are `most` of them.

    A point costs the gap that it would leave, in relation to its age: where all cost the same, density goes
    with 1 / age, and a day ago is as wide on a logarithmic axis as an hour ago. The cheapest go. Only every
    second point is asked at a time: neighbours that went together would leave more than either costs. With n
    points there are n / 2 such gaps, whose sum is at most 1 + log(span / shortest gap), so that the cheapest
    is never dear.

    Parameters
    ----------
    times : ndarray of int64, shape (N,)
        Increasing.
    most
        At least `LEAST_POINTS`.

    Returns
    -------
    ndarray of intp, shape (min(N, most),)
        Their indices, increasing.
    """
    stay = np.arange(len(times))
    while (excess := len(stay) - most) > 0:
        left = times[stay]
        before = left[:-2:2]
        cost = (left[2::2] - before) / (left[-1] - before)
        count = min(excess, max(1, len(cost) // 2))
        cheapest = np.argpartition(cost, count - 1)[:count]
        going = np.zeros(len(stay), np.bool_)
        going[2 * cheapest + 1] = True
        stay = stay[~going]
    return stay
