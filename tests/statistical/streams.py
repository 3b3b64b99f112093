"""Streams of observations with a known truth, for detectors: many independent runs at once."""

from __future__ import annotations

from collections.abc import Callable
from statistics import NormalDist, fmean
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from monitor.detection import Floats

MAX_FPR = 0.1

BINORMAL = NormalDist(-3.5, 1.3)
"""Log-odds of negatives; positives are N(mean, 1.5). With mean 0.3, statistics over them are "typical"."""


CUTS = [BINORMAL.inv_cdf(1 - (i + 0.5) / 2_000 * MAX_FPR) for i in range(2_000)]
"""Scores that equally many negatives exceed, up to MAX_FPR."""


class Stream(Protocol):
    """Draws the next n observations of some of the runs."""

    def __call__(self, rng: np.random.Generator, runs: NDArray[np.intp], n: int) -> Floats:
        """Return observations (runs, n) or (runs, n, columns)."""


def hits(recall: float) -> Stream:
    """Return whether each positive was found."""
    return lambda rng, runs, n: (rng.random((len(runs), n)) < recall).astype(float)


def outcomes(mean: float, curve: Callable[[Floats], Floats] = lambda z: z) -> Stream:
    """Return z ~ N(mean, 1.5) and outcomes with log-odds curve(z)."""

    def draw(rng: np.random.Generator, runs: NDArray[np.intp], n: int) -> Floats:
        z = rng.normal(mean, 1.5, (len(runs), n))
        y = rng.random(z.shape) * (1 + np.exp(-curve(z))) < 1
        return np.stack((z, y), axis=-1)

    return draw


def misses(challenger: float, shared: float, champion: float = 0.8) -> Stream:
    """Return misses of the challenger minus misses of the champion, of which a share has one cause."""

    def draw(rng: np.random.Generator, runs: NDArray[np.intp], n: int) -> Floats:
        one, other, common = rng.random((3, len(runs), n))
        theirs = np.where(common < shared, one, other)
        return (one < champion).astype(float) - (theirs < challenger)

    return draw


def partial_auc(mean: float) -> float:
    """Return the partial AUC, of 1 at best, up to MAX_FPR where positives have log-odds N(mean, 1.5)."""
    positives = NormalDist(mean, 1.5)
    return fmean(1 - positives.cdf(cut) for cut in CUTS)


def mean_of(target: float) -> float:
    """Return the mean of positives' log-odds that gives a partial AUC."""
    low, high = -5.0, 5.0
    for _ in range(20):
        middle = (low + high) / 2
        low, high = (middle, high) if partial_auc(middle) < target else (low, middle)
    return low


class Placements:
    """Placement values of positives among the reference negatives of their own run.

    Parameters
    ----------
    rng
        Draws the references.
    negatives
        In each.
    references
        How many there are; runs beyond share them.
    """

    def __init__(self, rng: np.random.Generator, negatives: int, references: int = 100) -> None:
        self.negatives = negatives
        self.references = np.sort(rng.normal(BINORMAL.mean, BINORMAL.stdev, (references, negatives)), axis=1)

    def of(self, mean: float) -> Stream:
        """Return max(0, 1 - u / MAX_FPR), u being the share of negatives above a positive ~ N(mean, 1.5)."""

        def draw(rng: np.random.Generator, runs: NDArray[np.intp], n: int) -> Floats:
            scores = rng.normal(mean, 1.5, (len(runs), n))
            own = [self.references[i % len(self.references)] for i in runs]
            below = np.stack([ref.searchsorted(row) for ref, row in zip(own, scores, strict=True)])
            return np.maximum(0, 1 - (1 - below / self.negatives) / MAX_FPR)

        return draw
