"""Observations of how well scores rank a class above the others: positives among past negatives."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from monitor.events.batch import Columns
from monitor.events.spec import ModelSpec
from monitor.state.reading import array
from monitor.watch.measures import Observed, labeled, quantised, scored, truth

REFERENCE = 20_000
"""Past negatives that a positive is held against: with fewer, their own error is a lasting bias."""

Scores = NDArray[np.float32]


class Ranking:
    """Observes x = max(0, 1 - u / max_fpr) of each positive: u is the share of past negatives above it.

    Its mean is the area under the ROC curve up to max_fpr, over max_fpr. Negatives are taken in panes of
    `REFERENCE`: the last complete one is the reference, and there is no observation before the first is.
    """

    def __init__(self, spec: ModelSpec, code: int, max_fpr: float) -> None:
        self._code = code
        self._column = spec.scored.index(code)
        self._max_fpr = max_fpr
        self._reference: Scores = np.empty(0, np.float32)
        self._filling: Scores = np.empty(0, np.float32)

    @property
    def reason(self) -> str | None:
        """Why there is no observation yet."""
        return None if len(self._reference) else "too_few_past_negatives"

    def observe(self, columns: Columns) -> Observed:
        """Return the observations of the next events, and let their negatives count for what follows."""
        where = labeled(columns) & scored(columns)
        true = truth(columns, self._code)
        score = columns.score[:, self._column]
        positives = np.flatnonzero(where & true)
        # How many negatives stood before each positive, since the pane that is being filled began.
        before = np.cumsum(where & ~true)[positives] + len(self._filling)
        self._filling = np.concatenate([self._filling, score[where & ~true]])
        units = []
        for pane in range(len(self._filling) // REFERENCE + 1):
            held_against = score[positives[before // REFERENCE == pane]]
            if len(self._reference):
                units.append(self._units(held_against))
            else:
                positives, before = positives[len(held_against) :], before[len(held_against) :]
            if len(self._filling) >= (end := (pane + 1) * REFERENCE):
                self._reference = np.sort(self._filling[end - REFERENCE : end])
        self._filling = self._filling[len(self._filling) // REFERENCE * REFERENCE :].copy()
        return Observed(positives, np.concatenate([np.empty(0, np.int64), *units])[:, None])

    def _units(self, score: Scores) -> NDArray[np.int64]:
        left = np.searchsorted(self._reference, score, "left")
        right = np.searchsorted(self._reference, score, "right")
        above = 2 * len(self._reference) - left - right  # twice, ties once
        share = above / (2 * len(self._reference))
        return quantised(np.maximum(0.0, 1 - share / self._max_fpr))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return what is remembered."""
        return {"reference": self._reference, "filling": self._filling}

    def resume(self, tree: object) -> None:
        """Go on from `arrays`.

        Raises
        ------
        ValueError
            They are something else.
        """
        reference = array(tree, "reference", np.float32, (None,))
        filling = array(tree, "filling", np.float32, (None,))
        if len(reference) not in (0, REFERENCE) or len(filling) >= REFERENCE:
            raise ValueError("past negatives come in panes")
        if np.isnan(reference).any() or np.isnan(filling).any() or (reference[1:] < reference[:-1]).any():
            raise ValueError("past negatives are not in order")
        self._reference, self._filling = reference, filling
