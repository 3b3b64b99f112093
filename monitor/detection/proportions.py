"""Detectors of a proportion: recall, precision, specificity, NPV, accuracy below a floor."""

from __future__ import annotations

import numpy as np

from monitor.detection.evalues import Bets, within
from monitor.detection.procedure import Procedure

DROPS = np.array([0.03, 0.07, 0.13, 0.20, 0.30, 0.45])
"""How far beyond the floor the alternatives lie."""

NEAREST = 0.01
"""How near to 0 and 1 alternatives come at most, unless the floor is even nearer."""


def proportion_floor(p0: float, threshold: float) -> Procedure:
    """Return the detector of P(x = 1) < p0.

    Parameters
    ----------
    p0
        Floor, in (0, 1).
    threshold
        Mean number of observations between false alarms, at least; above 1.

    Returns
    -------
    Procedure
        Of observations x in {0, 1}, or means of equally many such. Six components: likelihood ratios of
        alternatives below the floor; those that clear, above it.

    Raises
    ------
    ValueError
        A parameter is out of range.
    """
    within("the floor", p0, 0, 1)
    below = np.maximum(p0 - DROPS, min(NEAREST, p0 / 2))
    above = np.minimum(p0 + DROPS, max(1 - NEAREST, (1 + p0) / 2))
    return Procedure(_ratios(p0, below), {"": _ratios(p0, above)}, threshold)


def _ratios(p0: float, p1: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> Bets:
    """Return (p1 / p0)**x ((1 - p1) / (1 - p0))**(1 - x), linear in x."""
    return Bets(p0, (p1 - p0) / (p0 * (1 - p0)))
