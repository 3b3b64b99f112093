"""Counts from raw arrays, in plain numpy: independent of the code that is tested."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from monitor.metrics.counts import Counts
from monitor.metrics.outcome import Outcome, Parameters

EPSILON = 2.0**-24


def parameters(n_classes: int = 2, *, positive: int | None = None, **changes: object) -> Parameters:
    """Return parameters of a binary (class "1" positive) or multiclass task with classes "0", "1", …."""
    if positive is None and n_classes == 2:
        positive = 1
    settings: dict[str, object] = {
        "classes": tuple(map(str, range(n_classes))),
        "positive": positive,
        "threshold": 0.5,
        "max_fpr": (0.05, 0.1),
        "beta": 5**0.5,
        "confidence_level": 0.95,
    }
    return Parameters(**(settings | changes))  # type: ignore[arg-type]


def binary_counts(
    y_true: ArrayLike, y_score: ArrayLike, y_pred: ArrayLike | None = None, *, bins: int | None = None
) -> Counts:
    """Return the counts of one binary case whose positive class is 1, decided at 0.5."""
    score = np.asarray(y_score, np.float32).reshape(-1, 1)
    y_pred = (score[:, 0] >= 0.5).astype(int) if y_pred is None else y_pred
    return make_counts(y_true, score, y_pred, n_classes=2, scored=(1,), bins=bins)


def multiclass_counts(
    y_true: ArrayLike,
    y_score: ArrayLike,
    y_pred: ArrayLike | None = None,
    *,
    n_classes: int,
    bins: int | None = None,
) -> Counts:
    """Return the counts of one multiclass case, decided by argmax."""
    score = np.asarray(y_score, np.float32).reshape(-1, n_classes)
    y_pred = score.argmax(axis=1) if y_pred is None else y_pred
    return make_counts(y_true, score, y_pred, n_classes=n_classes, scored=tuple(range(n_classes)), bins=bins)


def make_counts(
    y_true: ArrayLike,
    y_score: NDArray[np.float32],
    y_pred: ArrayLike,
    *,
    n_classes: int,
    scored: tuple[int, ...],
    bins: int | None = None,
) -> Counts:
    """Return the counts of one case.

    Labels of -1 are missing, decisions of -1 are none of the classes, NaN scores are missing; with
    `bins`, scores in [0, 1] are merged to that many bins of equal width.
    """
    true, decided = np.asarray(y_true, np.int64), np.asarray(y_pred, np.int64)
    labeled, has_score = true >= 0, ~np.isnan(y_score).any(axis=1)
    confusion = np.zeros((n_classes, n_classes + 1), np.int64)
    np.add.at(confusion, (true[labeled], decided[labeled]), 1)  # column -1 is the last: "other"
    decisions = np.bincount(decided % (n_classes + 1), minlength=n_classes + 1)

    used = labeled & has_score
    p = y_score[used].astype(np.float64)
    y = true[used][:, None] == np.array(scored)
    clipped = np.clip(p, EPSILON, 1 - EPSILON)
    error = np.rint((y - p) ** 2 * 2**30).astype(np.int64)
    loss = np.rint(-np.log(np.where(y, clipped, 1 - clipped)) * 2**26).astype(np.int64)

    def split(values: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.stack([(values * ~y).sum(axis=0), (values * y).sum(axis=0)], axis=-1)

    groups = [_groups(p[:, k], y[:, k], bins) for k in range(len(scored))]
    width = max((len(group) for group in groups), default=0)
    padded = np.stack([np.pad(group, ((0, width - len(group)), (0, 0))) for group in groups])
    score_sum = np.rint(y_score[has_score].astype(np.float64) * 2**30).astype(np.int64).sum(axis=0)
    arrays = {
        "events": np.int64(len(true)),
        "decisions": decisions,
        "confusion": confusion,
        "score_events": has_score.sum(),
        "score_sum": score_sum,
        "squared_error": split(error),
        "loss": split(loss),
        "positives": padded[..., 1],
        "negatives": padded[..., 0],
        "exact": np.full(len(scored), bins is None),
    }
    return Counts(**{name: torch.as_tensor(np.asarray(a))[None] for name, a in arrays.items()})


def _groups(score: NDArray[np.float64], y: NDArray[np.bool_], bins: int | None) -> NDArray[np.int64]:
    """Return negatives and positives at each distinct score, in descending order, shape (G, 2)."""
    if bins is not None:
        score = np.minimum(np.floor(score * bins), bins - 1)
    distinct = np.unique(score)[::-1]
    groups = [[np.sum(~y & (score == s)), np.sum(y & (score == s))] for s in distinct]
    return np.array(groups, np.int64).reshape(-1, 2)


def matrix_counts(confusion: ArrayLike) -> Counts:
    """Return the counts of one case without scores; a square matrix has no column for "other"."""
    matrix = np.asarray(confusion, np.int64)
    n_classes = len(matrix)
    matrix = np.pad(matrix, ((0, 0), (0, n_classes + 1 - matrix.shape[1])))
    scored = 1 if n_classes == 2 else n_classes
    zeros = torch.zeros((1, scored), dtype=torch.int64)
    return Counts(
        events=torch.tensor([matrix.sum()]),
        decisions=torch.as_tensor(matrix.sum(axis=0))[None],
        confusion=torch.as_tensor(matrix)[None],
        score_events=torch.tensor([0]),
        score_sum=zeros,
        squared_error=zeros[..., None].repeat(1, 1, 2),
        loss=zeros[..., None].repeat(1, 1, 2),
        positives=zeros[..., None],
        negatives=zeros[..., None],
        exact=torch.ones((1, scored), dtype=torch.bool),
    )


def batch(cases: Sequence[Counts]) -> Counts:
    """Return the cases as one batch."""
    width = max(case.positives.shape[-1] for case in cases)

    def join(name: str) -> torch.Tensor:
        tensors = [getattr(case, name) for case in cases]
        if name in ("positives", "negatives"):
            tensors = [torch.nn.functional.pad(t, (0, width - t.shape[-1])) for t in tensors]
        return torch.cat(tensors)

    return Counts(**{field.name: join(field.name) for field in fields(Counts)})


def values(outcome: Outcome) -> dict[tuple[str, ...], float]:
    """Return the values of the first case by their label values; NaN where undefined."""
    keys = [tuple(value for _, value in labels) for labels in outcome.labels]
    return dict(zip(keys, outcome.value[0].tolist(), strict=True))
