"""What probabilities meant once: a map from scores to the rates of a baseline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from monitor.detection.evalues import Floats

LEAST = 1000
"""Events of either class without which a baseline tells too little."""

CLIP = 1e-3
"""Without a baseline, how near to 0 and 1 probabilities come at most."""


@dataclass(frozen=True, slots=True, eq=False)
class CalibrationMap:
    """Rates of the positive class by score, constant beyond the ends, linear between blocks.

    Attributes
    ----------
    scores
        Ends of the blocks of equal rate, ascending, (2 * blocks,).
    rates
        At these scores, strictly between 0 and 1, (2 * blocks,).
    """

    scores: Floats
    rates: Floats

    @classmethod
    def fit(
        cls, scores: Floats, positives: NDArray[np.int64], events: NDArray[np.int64], least: int = LEAST
    ) -> Self:
        """Fit the isotonic regression of the outcomes on the scores; a block's rate is (k + 1/2) / (n + 1).

        Parameters
        ----------
        scores : (G,)
            Distinct, in any order.
        positives, events : (G,)
            With that score; groups without events do not count.
        least
            Events of either class that it takes.

        Raises
        ------
        ValueError
            Fewer than `least` events of either class.
        """
        found = int(positives.sum())
        others = int(events.sum()) - found
        if min(found, others) < least:
            raise ValueError(
                f"a calibration map needs {least} events of either class: {found} positive, {others} others"
            )
        order = np.argsort(scores)
        order = order[events[order] > 0]
        k, n, first = _pool(positives[order].tolist(), events[order].tolist())
        last = np.append(first[1:], len(order)) - 1
        ends = np.stack((first, last), axis=1).ravel()
        return cls(scores[order][ends].astype(np.float64), np.repeat((k + 0.5) / (n + 1), 2))

    def logit(self, p: Floats) -> Floats:
        """Return z, the log-odds of the rate at each score: same shape."""
        return _logit(np.interp(p, self.scores, self.rates))


def identity_logit(p: Floats) -> Floats:
    """Return the log-odds of probabilities, clipped at 0.001 from 0 and 1: what stands in for a map."""
    return _logit(np.clip(p, CLIP, 1 - CLIP))


def _logit(p: Floats) -> Floats:
    return np.asarray(np.log(p / (1 - p)), np.float64)


def _pool(positives: list[int], events: list[int]) -> tuple[Floats, Floats, NDArray[np.intp]]:
    """Pool adjacent violators: return k, n and the first group of each block, rates ascending.

    Integers, so that the blocks are the same however the groups came about.
    """
    blocks: list[tuple[int, int, int]] = []
    for group, (k, n) in enumerate(zip(positives, events, strict=True)):
        first = group
        while blocks and blocks[-1][0] * n >= k * blocks[-1][1]:
            k, n, first = k + blocks[-1][0], n + blocks[-1][1], blocks[-1][2]
            blocks.pop()
        blocks.append((k, n, first))
    table = np.array(blocks)
    return table[:, 0].astype(np.float64), table[:, 1].astype(np.float64), table[:, 2].astype(np.intp)
