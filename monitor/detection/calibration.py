"""Detector of probabilities that no longer mean what they say, by more than a tolerance, and in which way."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

import numpy as np

from monitor.detection.evalues import Floats, equal_weights
from monitor.detection.procedure import Procedure

SHIFTS = (0.2, 0.4, 0.8)
"""How far beyond the tolerated shift the alternatives lie, in logits."""

FACTORS = (1.2, 1.5, 2.0)
"""How far beyond the tolerated slope the alternatives lie."""

DIRECTIONS = ("up", "down", "overconfident", "underconfident")

Line = tuple[float, float]
"""A calibration curve: intercept and slope of logit P(y = 1) as a function of z."""


class LikelihoodRatios:
    """Factors P(y given z; alternative) / P(y given z; null) of calibration curves that are lines in logits.

    Parameters
    ----------
    names
        Direction of each component, (J,).
    null, alternative
        Lines of each component, (J,).
    """

    def __init__(self, names: Sequence[str], null: Sequence[Line], alternative: Sequence[Line]) -> None:
        self.names = tuple(names)
        self.weights = equal_weights(len(self.names))
        lines = [*null, *alternative]
        slopes = sorted(
            {slope for _, slope in lines}
        )  # exponentials are the cost: one for each slope, not line
        self._slopes = np.array(slopes)
        self._column = np.array([slopes.index(slope) for _, slope in lines])
        self._scale = {y: np.array([np.exp(-sign * a) for a, _ in lines]) for y, sign in ((1, 1), (0, -1))}

    def of(self, observations: Floats) -> Floats:
        """Return the factors of observations (n, 2): z, of magnitude below 300, and y in {0, 1}; (n, J)."""
        z, y = observations[:, 0], observations[:, 1] > 0
        powers = np.exp(np.where(y, -z, z)[:, None] * self._slopes)
        # With s = 2 y - 1, P(y) of the line a + b z is 1 / (1 + exp(-s a) exp(-s b z)).
        scale = np.where(y[:, None], self._scale[1], self._scale[0])
        inverse = 1 + scale * powers[:, self._column]
        null, alternative = np.split(inverse, 2, axis=1)
        ratios: Floats = null / alternative
        return ratios


def calibration(shift: float, slope: float, threshold: float) -> Procedure:
    """Return the detector of P(y = 1 | z) beyond a band around expit(z).

    The guarantee holds where every P(y = 1 | z) lies in the band: its logit at most `shift` from z, and
    between z / slope and slope * z. (A pure shift within the tolerance leaves the second where z is near 0;
    in simulations, docs/detectors.md, false alarms are rarer than promised there too.) It is conditional on
    the map that gave z; the band pays for that map's own error.

    Parameters
    ----------
    shift
        Tolerated, in logits: at least 0.
    slope
        Tolerated, as a factor: at least 1.
    threshold
        Mean number of observations between false alarms, at least; above 1.

    Returns
    -------
    Procedure
        Of observations (z, y): the logit of a probability that was right once (`CalibrationMap.logit`) and
        the outcome. Twelve components, three a direction: events are more frequent than said ("up") or less
        ("down"), probabilities are too extreme ("overconfident") or too moderate ("underconfident"). It
        clears where the edge of the band explains the outcomes better than the alternatives of the
        direction that raised, averaged; where the truth lies between them, it may clear and raise again.

    Raises
    ------
    ValueError
        A parameter is out of range.
    """
    if not 0 <= shift < inf:
        raise ValueError(f"the tolerated shift must be at least 0, in logits: {shift:g}")
    if not 1 <= slope < inf:
        raise ValueError(f"the tolerated slope must be at least 1, a factor: {slope:g}")
    edges: dict[str, Line] = {
        "up": (shift, 1.0),
        "down": (-shift, 1.0),
        "overconfident": (0.0, 1 / slope),
        "underconfident": (0.0, slope),
    }
    alternatives: dict[str, list[Line]] = {
        "up": [(shift + k, 1.0) for k in SHIFTS],
        "down": [(-shift - k, 1.0) for k in SHIFTS],
        "overconfident": [(0.0, 1 / (slope * f)) for f in FACTORS],
        "underconfident": [(0.0, slope * f) for f in FACTORS],
    }
    names = [name for name in DIRECTIONS for _ in alternatives[name]]
    raising = LikelihoodRatios(
        names, [edges[name] for name in names], [line for name in DIRECTIONS for line in alternatives[name]]
    )
    clearing = {
        name: LikelihoodRatios([name] * len(lines), lines, [edges[name]] * len(lines))
        for name, lines in alternatives.items()
    }
    return Procedure(raising, clearing, threshold)
