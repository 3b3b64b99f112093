"""Standard errors and intervals of ranking metrics event by event, in plain numpy: all pairs are compared."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tests.support.recipes import recipe, tied_recipe

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


EFFECTIVE_N = {
    recipe: (
        (0.837680457619561, 0.933914373320531),
        (0.374411886000867, 0.667000604917447),
        (0.789990076543103, 0.913145247280308),
    ),
    tied_recipe: (
        (0.833903638560149, 0.931359110378846),
        (0.366125582638558, 0.657676965030208),
        (0.755518208306295, 0.892915885738853),
    ),
}
"""95% bounds of ROC AUC, partial ROC AUC up to .1 and average precision of R1 and R2.

Derived twice: event by event with the functions below, and by the batched functions of monitor.metrics.
"""


def _above(score: Floats, than: Floats) -> Floats:
    """Return for each score the share of the others above it; equal ones count half."""
    others, own = than[None, :], score[:, None]
    return ((others > own) + (others == own) / 2).mean(axis=1)


def _of_two_means(of_positives: Floats, of_negatives: Floats) -> float:
    variances = (np.var(v, ddof=1) / len(v) for v in (of_positives, of_negatives))
    return float(np.sqrt(sum(variances)))


def roc_auc(y_true: Ints, score: Floats) -> tuple[float, float]:
    """Return value and standard error (DeLong)."""
    positive, negative = score[y_true == 1], score[y_true == 0]
    above = _above(positive, negative)
    return 1 - float(above.mean()), _of_two_means(above, _above(negative, positive))


def partial_roc_auc(y_true: Ints, score: Floats, max_fpr: float) -> tuple[float, float]:
    """Return area over max_fpr, and its standard error.

    A negative that shares its score with others takes up a strip of the ROC plane that is evenly spread over
    theirs; of the group at max_fpr the share left of it counts.
    """
    positive, negative = score[y_true == 1], score[y_true == 0]
    reach = []
    for x in positive:
        start, end = (negative > x).mean(), (negative >= x).mean()
        places = np.linspace(start, end, 20001)
        heights = np.clip(max_fpr - places, 0, None)
        reach.append((heights[1:] + heights[:-1]).mean() / 2 / max_fpr)
    start, end = (
        (compare(negative[None], negative[:, None])).mean(1) for compare in (np.greater, np.greater_equal)
    )
    share = np.clip((max_fpr - start) / (end - start), 0, 1)
    distinct = np.unique(score)[::-1]
    fpr = [0, *((negative >= t).mean() for t in distinct)]
    tpr = [0, *((positive >= t).mean() for t in distinct)]
    height = _above(negative, positive) - np.interp(max_fpr, fpr, tpr)
    return float(np.mean(reach)), _of_two_means(np.array(reach), share * height / max_fpr)


def average_precision(y_true: Ints, score: Floats) -> tuple[float, float]:
    """Return value and standard error: event by event, by the derivative in the event's weight.

    Precision at a threshold s is A / D, A the weight of positives and D that of all events at or above s;
    AP is the mean precision over positives, of total weight P. Of one more event x, d(AP) is
    [x positive] (precision(x) - AP) / P + sum over positives s <= x of ([x positive] / D - A / D^2) / P.
    """
    positive = score[y_true == 1]
    at_least = score[None, :] >= positive[:, None]
    d, a = at_least.sum(1), (at_least & (y_true == 1)).sum(1)
    value = (a / d).mean()
    derivatives = []
    for x, y in zip(score, y_true, strict=True):
        below = positive <= x
        own = (score[y_true == 1] >= x).sum() / (score >= x).sum() - value if y else 0.0
        derivatives.append((own + ((y - a / d) / d)[below].sum()) / len(positive))
    return float(value), float(np.sqrt(np.square(derivatives).sum()))


def effective_n(value: float, standard_error: float, fewest: int, z: float) -> tuple[float, float]:
    """Return the bounds: the two rates at which the value is z standard errors off, by bisection."""
    most = max(2, fewest / 50) * fewest
    constant = value in (0, 1) or standard_error < 1e-9
    n = most if constant else min(max(value * (1 - value) / standard_error**2, 1), most)

    def off(p: float) -> float:
        return abs(value - p) - z * np.sqrt(p * (1 - p) / n)

    bounds = []
    for outer in (0.0, 1.0):
        inside, outside = value, outer
        for _ in range(200):
            middle = (inside + outside) / 2
            inside, outside = (inside, middle) if off(middle) > 0 else (middle, outside)
        bounds.append(inside)
    return bounds[0], bounds[1]
