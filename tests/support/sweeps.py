"""What every threshold would have decided, by plain loops: independent of the code that is tested."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def thresholds(y_score: Floats) -> Floats:
    """Return the float32 next above the greatest score, and the scores from high to low."""
    scores = np.unique(y_score)[::-1]
    above = np.nextafter(np.float32(scores[0]), np.float32(2))
    return np.array([above, *scores], np.float64)


def confusion(y_true: NDArray[np.int64], y_score: Floats, threshold: float) -> tuple[int, int, int, int]:
    """Return true and false positives, and false and true negatives."""
    decided, true = y_score >= threshold, y_true == 1
    return (
        int((decided & true).sum()),
        int((decided & ~true).sum()),
        int((~decided & true).sum()),
        int((~decided & ~true).sum()),
    )


def cost(false_negative: float, false_positive: float) -> Callable[[int, int, int, int], float]:
    """Return the cost per event as a function of what `confusion` returns."""
    return lambda tp, fp, fn, tn: (false_negative * fn + false_positive * fp) / (tp + fp + fn + tn)


def f1(tp: int, fp: int, fn: int, tn: int) -> float:
    """Return F1."""
    return 2 * tp / (2 * tp + fp + fn)


def fpr(tp: int, fp: int, fn: int, tn: int) -> float:
    """Return the false-positive rate; NaN without negatives."""
    return fp / (fp + tn) if fp + tn else np.nan


def best(
    y_true: NDArray[np.int64],
    y_score: Floats,
    criterion: str,
    costs: tuple[float, float],
    min_recall: float,
) -> float:
    """Return the greatest threshold that is best by a criterion."""
    found, least = np.nan, np.inf
    for threshold in thresholds(y_score):
        tp, fp, fn, tn = confusion(y_true, y_score, threshold)
        if criterion == "cost":
            loss = costs[0] * fn + costs[1] * fp
        elif criterion == "f1":
            loss = -f1(tp, fp, fn, tn)
        else:
            loss = fp if tp / (tp + fn) >= min_recall else np.inf
        if loss < least:
            found, least = threshold, loss
    return float(found)
