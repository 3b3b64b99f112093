"""Detectors of a mean in [0, 1]: partial AUC below a floor, squared error and cost above a ceiling."""

from __future__ import annotations

import numpy as np

from monitor.detection.evalues import Bets, within
from monitor.detection.procedure import Procedure

STAKES = np.array([0.1, 0.2, 0.4, 0.8, 1.5, 3.0])

SAFE = 0.9
"""Share of the wealth that the worst observation may take at most."""


def mean_floor(mu0: float, threshold: float) -> Procedure:
    """Return the detector of E[x] < mu0 for x in [0, 1].

    For the partial AUC up to a false positive rate a, each positive is an observation: x = max(0, 1 - u / a)
    with u the share of past negatives that score above it (ties half). Its mean is that of the ROC curve up
    to a. Fewer than 20,000 such negatives are themselves in error by more than the guarantee forgives.

    Parameters
    ----------
    mu0
        Floor, in (0, 1).
    threshold
        Mean number of observations between false alarms, at least; above 1.

    Raises
    ------
    ValueError
        A parameter is out of range.
    """
    within("the floor", mu0, 0, 1)
    return Procedure(_below(mu0), {"": _above(mu0)}, threshold)


def mean_ceiling(mu0: float, threshold: float) -> Procedure:
    """Return the detector of E[x] > mu0 for x in [0, 1]; otherwise as `mean_floor`."""
    within("the ceiling", mu0, 0, 1)
    return Procedure(_above(mu0), {"": _below(mu0)}, threshold)


def _below(mu0: float) -> Bets:
    return Bets(mu0, -np.minimum(STAKES, SAFE / (1 - mu0)))


def _above(mu0: float) -> Bets:
    return Bets(mu0, np.minimum(STAKES, SAFE / mu0))
