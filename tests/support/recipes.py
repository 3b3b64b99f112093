"""Reference data without random numbers: R1 and R2, and matrices whose averages are known."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def recipe(n: int = 200) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return labels (0, 1) and full-precision scores: R1 for n = 200."""
    i = np.arange(1, n + 1)
    u, v = (i * 0.6180339887498949) % 1, (i * 0.7548776662466927) % 1
    score = u**2
    return (v < np.clip(1.15 * score + 0.02, 0, 1)).astype(np.int64), score


def tied_recipe(n: int = 200) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the same labels with scores rounded to one decimal: R2 for n = 200."""
    y_true, score = recipe(n)
    return y_true, score.round(1)


IMBALANCED = np.array([[85, 5, 0], [2, 6, 0], [2, 0, 0]])
"""Three classes with 90, 8 and 2 events: F1 averages .5271 macro, .9053 weighted, .9100 micro."""

RARE = np.array([[960, 30], [2, 8]])
"""1000 events, 10 of them positive: accuracy .968, precision .211, recall .8, F1 .333."""


def expand(confusion: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return labels and decisions that give this confusion matrix."""
    true, predicted = np.indices(confusion.shape)
    return np.repeat(true.ravel(), confusion.ravel()), np.repeat(predicted.ravel(), confusion.ravel())
