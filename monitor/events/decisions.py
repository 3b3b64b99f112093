"""What is decided where an event brings no prediction: by thresholds, or for the greatest score."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from monitor.events.scores import rounded
from monitor.events.spec import ModelSpec

Decisions = NDArray[np.int16] | NDArray[np.int8]


def score_threshold(spec: ModelSpec, probability: float) -> float:
    """Return a threshold on the scale of the model's scores; 0 and 1 become infinite logits."""
    if not spec.raw_logits:
        return probability
    if probability in (0.0, 1.0):
        return math.inf if probability else -math.inf
    return spec.temperature * math.log(probability / (1.0 - probability))


class DecisionRule:
    """Decides for a model by its scores."""

    def __init__(self, spec: ModelSpec) -> None:
        self._task = spec.task
        self._positive = spec.positive
        if spec.task != "multiclass":
            thresholds = np.array([score_threshold(spec, p) for p in spec.thresholds])
            # As float32, like the scores: a tie in what was sent is a tie here.
            self._thresholds = rounded(thresholds.reshape(len(spec.scored)))

    def __call__(self, score: NDArray[np.float32]) -> Decisions:
        """Return decisions as in `monitor.events.batch.Columns`, of any value where scores are NaN.

        Parameters
        ----------
        score : float32, shape (n, S)
            Scores of the scored classes.
        """
        if self._task == "multiclass":
            greatest: Decisions = np.argmax(score, axis=1).astype(np.int16)
            return greatest
        if self._positive is not None:
            chosen = score[:, 0] >= self._thresholds[0]
            return np.where(chosen, self._positive, 1 - self._positive).astype(np.int16)
        decided = np.zeros((len(score), score.shape[1] + 1), dtype=np.int8)
        decided[:, :-1] = score >= self._thresholds
        return decided
