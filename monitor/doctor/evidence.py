"""How strongly a sample speaks for a suspicion: pure functions of numpy arrays.

A healthy sample must not be suspected, so that each limit is several standard errors wide: `CLEAR` is
reached by chance in fewer than one of two thousand samples, even by a model that guesses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]
Codes = NDArray[np.integer[Any]]
Mask = NDArray[np.bool_]

CLEAR = 3.3
"""Standard errors from which on chance is ruled out."""

_REPEATED = 3
"""Fewer events of a class that were all decided as another may be chance: there may be many classes."""


class Ranking(NamedTuple):
    """How well scores put positives above negatives.

    Attributes
    ----------
    auc
        Area under the ROC curve; ties count one half.
    standard_error
        Of the area where scores say nothing about labels (the Mann-Whitney test):
        sqrt((n1 + n0 + 1) / (12 n1 n0)).
    """

    auc: float
    standard_error: float

    @property
    def reversed(self) -> bool:
        """Whether the area is clearly below one half."""
        return (self.auc - 0.5) / self.standard_error < -CLEAR

    @property
    def undecided(self) -> bool:
        """Whether the sample is too small to show even perfectly reversed scores, and looks like it."""
        return self.auc < 0.5 and 0.5 / self.standard_error < CLEAR + 1


def ranking(score: Floats, positive: Mask) -> Ranking | None:
    """Return how well scores rank, None without an event of either class.

    Parameters
    ----------
    score : float, shape (n,)
    positive : bool, shape (n,)
    """
    n1 = int(positive.sum())
    n0 = len(positive) - n1
    if not n1 or not n0:
        return None
    _, group, size = np.unique(score, return_inverse=True, return_counts=True)
    midrank = np.cumsum(size) - (size - 1) / 2
    auc = (midrank[group][positive].sum() - n1 * (n1 + 1) / 2) / (n1 * n0)
    return Ranking(float(auc), float(np.sqrt((n1 + n0 + 1) / (12 * n1 * n0))))


def excess(p: Floats, positive: Mask) -> float:
    """Return by how many standard errors probabilities promise more positives than there are.

    The variance is that of calibrated probabilities, at least one event.
    """
    return float((p.sum() - positive.sum()) / np.sqrt(max(1.0, float((p * (1 - p)).sum()))))


def likelihood_gain(p: Floats, q: Floats, positive: Mask) -> float:
    """Return how much likelier labels are under probabilities p than under q, in nats.

    Probabilities are clipped to [.01, .99], so that no single event decides.
    """

    def log_likelihood(probability: Floats) -> float:
        clipped = np.clip(probability, 0.01, 0.99)
        return float(np.log(np.where(positive, clipped, 1 - clipped)).sum())

    return log_likelihood(p) - log_likelihood(q)


def sigmoid(x: Floats) -> NDArray[np.float64]:
    """Return 1 / (1 + exp(-x)) without overflow."""
    return np.asarray(0.5 * (1 + np.tanh(0.5 * x.astype(np.float64))))


def relabelling(true: Codes, decided: Codes, classes: int) -> dict[int, int]:
    """Return which class another one seems to be: {class as read: class as decided}, {} where all is well.

    Two classes are taken for one where most events of the one were decided as the other, and most that
    were decided as the other are of the one. At least two such pairs have to explain clearly more events
    than are right as read (McNemar's test).

    Parameters
    ----------
    true, decided : int, shape (n,)
        Codes from 0 to `classes` - 1.
    classes
        How many there are.
    """
    pairs, count = np.unique(true.astype(np.int64) * classes + decided, return_counts=True)
    row, column = np.divmod(pairs, classes)
    of_row = np.bincount(true, minlength=classes)[row]
    of_column = np.bincount(decided, minlength=classes)[column]
    mutual = (2 * count > of_row) & (2 * count > of_column) & (count >= _REPEATED)
    moved = mutual & (row != column)
    gained = int(count[moved].sum())
    lost = int(count[(row == column) & np.isin(row, row[moved])].sum())
    if moved.sum() < 2 or gained - lost <= CLEAR * np.sqrt(gained + lost):
        return {}
    return dict(zip(row[moved].tolist(), column[moved].tolist(), strict=True))


def reordered(classes: Sequence[str], means: Mapping[int, int]) -> tuple[list[str], bool]:
    """Return classes in the order in which their scores are sent, "?" where it is not known, and if all are.

    Parameters
    ----------
    classes
        In the order in which they are read.
    means
        Class to the place where its score stands instead.
    """
    order = list(classes)
    for place in {*means, *means.values()}:
        order[place] = "?"
    for code, place in means.items():
        order[place] = classes[code]
    return order, "?" not in order


class Cut(NamedTuple):
    """How far a threshold explains decisions.

    Attributes
    ----------
    differ
        Decisions that differ from the threshold that is configured.
    between
        Any threshold above the first and up to the second explains all decisions; None where none does.
    """

    differ: int
    between: tuple[float, float] | None


def cut(score: Floats, decided: Mask, threshold: float) -> Cut:
    """Return how far `score >= threshold` explains decisions, and which threshold does wholly.

    Parameters
    ----------
    score : float, shape (n,)
    decided : bool, shape (n,)
        Whether the positive class was decided.
    threshold
        The one that is configured.
    """
    differ = int(((score >= np.float32(threshold)) != decided).sum())
    low = float(score[~decided].max(initial=0.0))
    high = float(score[decided].min(initial=1.0))
    return Cut(differ, (low, high) if low < high else None)


def round_between(low: float, high: float) -> float:
    """Return a number above `low` and up to `high`, near their middle, with as few digits as can be."""
    middle = (low + high) / 2
    return next((r for digits in range(1, 9) if low < (r := round(middle, digits)) <= high), high)


def most_likely_share(count: int, total: int, z: float = 1.96) -> float:
    """Return the upper bound of a share that was seen in a sample (Wilson).

    Parameters
    ----------
    count, total
        Seen, of how many.
    z
        Standard errors.
    """
    p = count / total
    spread = z * np.sqrt(p * (1 - p) / total + z * z / (4 * total * total))
    return float(min(1.0, (p + z * z / (2 * total) + spread) / (1 + z * z / total)))
