"""Numbers of scores: range, normalisation and logits, in numpy float64 on the CPU.

Both readers call these, so that an event has the same bits whichever way it was read, and whatever
else is in its batch: no sum here depends on how many rows there are.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from monitor.events.spec import ModelSpec

RANGE_TOLERANCE = 1e-6
SUM_TOLERANCE = 1e-3
SUM_EXACT = 1e-6
"""Rounding of float32 vectors, which are taken as they are: a score is the float32 nearest to the input."""

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


def clip(p: Floats) -> tuple[Floats, Mask]:
    """Return probabilities moved into [0, 1], and which were within 1e-6 of it (NaN: not)."""
    inside = (p >= -RANGE_TOLERANCE) & (p <= 1.0 + RANGE_TOLERANCE)
    return np.clip(p, 0.0, 1.0), inside


def normalise(p: Floats) -> tuple[Floats, Mask, Floats]:
    """Return rows divided by their sums, which sums were within 1e-3 of 1, and the sums.

    Parameters
    ----------
    p : float64, shape (n, C)
    """
    total = _row_sums(p)
    close = np.abs(total - 1.0) <= SUM_TOLERANCE
    divisor = np.where(close & (np.abs(total - 1.0) > SUM_EXACT), total, 1.0)
    return p / divisor[:, None], close, total


def softmax(z: Floats, temperature: float) -> Floats:
    """Return probabilities of logits; NaN in rows with +inf, or with -inf alone.

    Parameters
    ----------
    z : float64, shape (n, C)
    temperature
        Divides the logits.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        weight = np.exp((z - z.max(axis=1, keepdims=True)) / temperature)
    probabilities: Floats = weight / _row_sums(weight)[:, None]
    return probabilities


def read_score(spec: ModelSpec, score: Floats) -> tuple[Floats, Mask]:
    """Return single scores of a binary model as they are kept, and which are sound (NaN: not).

    Parameters
    ----------
    spec
        The model.
    score : float64, shape (n,)
        As sent: probabilities or logits of the positive class.
    """
    return (score, ~np.isnan(score)) if spec.scores == "logit" else clip(score)


def read_vectors(spec: ModelSpec, vectors: Floats) -> tuple[Floats, Mask]:
    """Return the scores of the scored classes, and which rows are sound.

    Parameters
    ----------
    spec
        The model.
    vectors : float64, shape (n, C)
        As sent, in the order of `ModelSpec.classes`.

    Returns
    -------
    scores : float64, shape (n, S)
        Binary logits are those of the two-class softmax: the positive class's minus the other's.
    sound : bool, shape (n,)
    """
    if spec.scores == "logit":
        if spec.task == "multiclass":
            scores = softmax(vectors, spec.temperature)
        elif spec.positive is not None:
            with np.errstate(invalid="ignore", over="ignore"):
                scores = vectors[:, [spec.positive]] - vectors[:, [1 - spec.positive]]
        else:
            scores = vectors
        defined: Mask = ~np.any(np.isnan(scores), axis=1)
        return scores, defined
    scores, inside = clip(vectors)
    sound: Mask = np.all(inside, axis=1)
    if spec.task != "multilabel":
        scores, close, _ = normalise(scores)
        sound &= close
    return (scores if spec.positive is None else scores[:, [spec.positive]]), sound


def rounded(scores: Floats) -> NDArray[np.float32]:
    """Return the nearest float32 of each score; logits may become infinite, and -0 is 0."""
    with np.errstate(over="ignore"):
        return scores.astype(np.float32) + np.float32(0.0)


def _row_sums(values: Floats) -> Floats:
    # Adds from left to right, in every shape; sum(axis=1) adds in pairs, depending on the layout.
    return np.cumsum(values, axis=1)[:, -1]
