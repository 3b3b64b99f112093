"""Detector of a version that is worse than another one by more than a margin."""

from __future__ import annotations

import numpy as np

from monitor.detection.evalues import Bets
from monitor.detection.procedure import Procedure

STAKES = np.array([0.05, 0.1, 0.2, 0.4, 0.8])


def difference_ceiling(margin: float, threshold: float) -> Procedure:
    """Return the detector of E[x] > margin for x = loss of the challenger - loss of the champion, in [-1, 1].

    Losses of the same event (paired) differ less than those of two events; without the same events, the k-th
    of the one may be paired with the k-th of the other.

    Parameters
    ----------
    margin
        By which the challenger may be worse, in [0, 1).
    threshold
        Mean number of observations between false alarms, at least; above 1.

    Raises
    ------
    ValueError
        A parameter is out of range.
    """
    if not 0 <= margin < 1:
        raise ValueError(f"the margin must be at least 0 and below 1: {margin:g}")
    stakes = STAKES / (1 + margin)
    return Procedure(Bets(margin, stakes), {"": Bets(margin, -stakes)}, threshold)
