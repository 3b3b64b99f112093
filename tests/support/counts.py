"""Counts from raw arrays, in plain numpy: independent of the code that is tested."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from monitor.metrics.counts import CELLS, Counts
from monitor.metrics.labels import label_sets
from monitor.metrics.outcome import Outcome
from monitor.metrics.parameters import Parameters, Task

EPSILON = 2.0**-24
PER_GROUP = ("positives", "negatives", "older_positives", "older_negatives", "threshold", "probability")
PER_MICRO_GROUP = ("micro_positives", "micro_negatives")

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]


def parameters(n_classes: int = 2, *, task: Task | None = None, **changes: object) -> Parameters:
    """Return parameters of a task with classes "0", "1", …; of two classes: binary, "1" positive."""
    task = task or ("binary" if n_classes == 2 else "multiclass")
    scored = {"binary": 1, "multiclass": 0, "multilabel": n_classes}[task]
    settings: dict[str, object] = {
        "task": task,
        "classes": tuple(map(str, range(n_classes))),
        "positive": 1 if task == "binary" else None,
        "thresholds": (0.5,) * scored,
        "max_fpr": (0.05, 0.1),
        "costs": None if task == "multiclass" else (5.0, 1.0),
        "confidence_level": 0.95,
    }
    return Parameters(**(settings | changes))  # type: ignore[arg-type]


def binary_counts(
    y_true: ArrayLike, y_score: ArrayLike, y_pred: ArrayLike | None = None, *, bins: int | None = None
) -> Counts:
    """Return the counts of one binary case whose positive class is 1, decided at 0.5."""
    score = np.asarray(y_score, np.float64).reshape(-1, 1)
    y_pred = (score[:, 0] >= 0.5).astype(int) if y_pred is None else y_pred
    return make_counts(y_true, score, y_pred, n_classes=2, bins=bins)


def multiclass_counts(
    y_true: ArrayLike,
    y_score: ArrayLike,
    y_pred: ArrayLike | None = None,
    *,
    n_classes: int,
    bins: int | None = None,
    top_k: Sequence[int] = (),
) -> Counts:
    """Return the counts of one multiclass case, decided by argmax."""
    score = np.asarray(y_score, np.float64).reshape(-1, n_classes)
    y_pred = score.argmax(axis=1) if y_pred is None else y_pred
    return make_counts(y_true, score, y_pred, n_classes=n_classes, bins=bins, top_k=top_k, task="multiclass")


def make_counts(
    y_true: ArrayLike,
    y_score: Floats,
    y_pred: ArrayLike,
    *,
    n_classes: int,
    bins: int | None = None,
    top_k: Sequence[int] = (),
    task: Task = "binary",
) -> Counts:
    """Return the counts of one single-label case, the events in order of time.

    Labels of -1 are missing, decisions of -1 are none of the classes, NaN scores are missing; with
    `bins`, scores in [0, 1] are merged to that many bins of equal width.
    """
    true, decided = np.asarray(y_true, np.int64), np.asarray(y_pred, np.int64)
    labeled = true >= 0
    confusion = np.zeros((n_classes, n_classes + 1), np.int64)
    np.add.at(confusion, (true[labeled], decided[labeled]), 1)  # column -1 is the last: "other"
    scored = (1,) if task == "binary" else tuple(range(n_classes))
    truth = true[:, None] == np.array(scored)
    used = labeled & ~np.isnan(y_score).any(axis=1)
    return _counts(
        labeled,
        truth,
        y_score,
        bins,
        task,
        decisions=np.bincount(decided % (n_classes + 1), minlength=n_classes + 1),
        confusion=confusion,
        right=(labeled & (true == decided)).sum(),
        samples=np.zeros((3, 2), np.int64),
        top_k=np.array([_top_k(y_score[used], true[used], k) for k in top_k], np.int64),
    )


def multilabel_counts(
    y_true: ArrayLike, y_score: ArrayLike, y_pred: ArrayLike | None = None, *, bins: int | None = None
) -> Counts:
    """Return the counts of one multilabel case, decided at 0.5; rows of -1 have no labels.

    Decisions have a column for each class, and may have one more for unknown classes.
    """
    true, score = np.asarray(y_true, np.int64), np.asarray(y_score, np.float64)
    n_classes = true.shape[1]
    decided = (score >= 0.5) if y_pred is None else np.asarray(y_pred, np.int64) == 1
    decided = np.pad(decided, ((0, 0), (0, n_classes + 1 - decided.shape[1])))
    labeled = (true >= 0).all(axis=1)
    t, d = true[labeled] == 1, decided[labeled]
    known = d[:, :-1]
    confusion = np.stack(
        [[(~t & ~known).sum(0), (~t & known).sum(0)], [(t & ~known).sum(0), (t & known).sum(0)]]
    )
    hits, of_true, of_decided = (t & known).sum(1), t.sum(1), d.sum(1)
    samples = [
        _ratios(hits, of_decided),
        _ratios(hits, of_true),
        _ratios(2 * hits, of_true + of_decided),
    ]
    return _counts(
        labeled,
        true == 1,
        score,
        bins,
        "multilabel",
        decisions=decided.sum(0),
        confusion=np.moveaxis(confusion, 2, 0),
        right=((t == known).all(1) & ~d[:, -1]).sum(),
        samples=np.array(samples, np.int64),
        top_k=np.zeros(0, np.int64),
    )


def _counts(
    labeled: Bools, truth: Bools, score: Floats, bins: int | None, task: Task, **given: object
) -> Counts:
    has_score = ~np.isnan(score).any(axis=1)
    used = labeled & has_score
    p, y = score[used], truth[used]
    clipped = np.clip(p, EPSILON, 1 - EPSILON)
    squared, logs = (y - p) ** 2, -np.log(np.where(y, clipped, 1 - clipped))
    if task == "multiclass":
        whole = squared.sum(1), (logs * y).sum(1)
        top = p.argmax(1)[:, None]
        p, y = (np.hstack([a, np.take_along_axis(a, top, 1)]) for a in (p, y))
    else:
        whole = squared.mean(1), logs.mean(1)
    squared, logs = _units(squared), _units(logs, 26)

    def split(values: NDArray[np.int64]) -> NDArray[np.int64]:
        sides = truth[used]
        return np.stack([(values * ~sides).sum(axis=0), (values * sides).sum(axis=0)], axis=-1)

    older = np.arange(len(p)) < len(p) // 2
    groups = [_groups(p[:, k], y[:, k], older, bins) for k in range(p.shape[1])]
    width = max((len(group) for group in groups), default=0)
    padded = np.stack([np.pad(group, ((0, width - len(group)), (0, 0))) for group in groups])
    by_name = dict(zip(PER_GROUP, np.moveaxis(padded, 2, 0), strict=True))
    no_micro = np.zeros((0, 6))
    r = truth.shape[1]
    micro = no_micro if task == "binary" else _groups(p[:, :r].ravel(), y[:, :r].ravel(), None, bins)
    arrays = {
        "events": len(labeled),
        "score_events": has_score.sum(),
        "score_sum": _units(score[has_score]).sum(axis=0),
        "squared_error": split(squared),
        "loss": split(logs),
        "whole": np.array(
            [
                [_units(whole[0]).sum(), _units(whole[0] ** 2).sum()],
                [_units(whole[1], 26).sum(), _units(whole[1] ** 2, 26).sum()],
            ]
        ),
        "cells": np.stack([_cells(p[:, k], y[:, k]) for k in range(p.shape[1])]),
        **{
            name: a if name in ("threshold", "probability") else a.astype(np.int64)
            for name, a in by_name.items()
        },
        "exact": np.full(p.shape[1], bins is None),
        "micro_positives": micro[:, 0].astype(np.int64),
        "micro_negatives": micro[:, 1].astype(np.int64),
        "micro_exact": bins is None,
        **given,
    }
    return Counts(**{name: torch.as_tensor(np.asarray(a))[None] for name, a in arrays.items()})


def _units(values: Floats, bits: int = 30) -> NDArray[np.int64]:
    return np.rint(values * 2**bits).astype(np.int64)


def _ratios(numerator: NDArray[np.int64], denominator: NDArray[np.int64]) -> tuple[int, int]:
    defined = denominator > 0
    return int(_units(numerator[defined] / denominator[defined]).sum()), int(defined.sum())


def _top_k(score: Floats, true: NDArray[np.int64], k: int) -> int:
    own = np.take_along_axis(score, true[:, None], 1)
    above, tied = (score > own).sum(1), (score == own).sum(1)
    return int(_units(np.clip((k - above) / tied, 0, 1)).sum())


def _cells(p: Floats, y: Bools) -> NDArray[np.int64]:
    edges = (np.arange(1, CELLS) / CELLS).astype(np.float32).astype(np.float64)
    cell = np.searchsorted(edges, p, side="right")
    found = np.zeros((CELLS, 5), np.int64)
    np.add.at(
        found, cell, np.stack([np.ones(len(p), np.int64), _units(p), _units(p**2), y, _units(p) * y], 1)
    )
    return found


def _groups(score: Floats, y: Bools, older: Bools | None, bins: int | None) -> Floats:
    """Return the PER_GROUP columns of each distinct score, in descending order, shape (G, 6)."""
    key = score if bins is None else np.minimum(np.floor(score * bins), bins - 1)
    older = np.zeros(len(y), np.bool_) if older is None else older
    rows = []
    for k in np.unique(key)[::-1]:
        of, low = key == k, k if bins is None else k / bins
        middle = low if bins is None else low + 0.5 / bins
        sides = [(y & of), (~y & of), (y & of & older), (~y & of & older)]
        rows.append([*(side.sum() for side in sides), low, middle])
    return np.array(rows, np.float64).reshape(-1, 6)


def matrix_counts(confusion: ArrayLike) -> Counts:
    """Return the counts of one case without scores; a square matrix has no column for "other"."""
    matrix = np.asarray(confusion, np.int64)
    n_classes = len(matrix)
    matrix = np.pad(matrix, ((0, 0), (0, n_classes + 1 - matrix.shape[1])))
    none = make_counts(
        [],
        np.zeros((0, 1 if n_classes == 2 else n_classes)),
        [],
        n_classes=n_classes,
        task="binary" if n_classes == 2 else "multiclass",
    )
    return replace(
        none,
        events=torch.tensor([matrix.sum()]),
        decisions=torch.as_tensor(matrix.sum(axis=0))[None],
        confusion=torch.as_tensor(matrix)[None],
        right=torch.tensor([matrix.trace()]),
    )


def batch(cases: Sequence[Counts]) -> Counts:
    """Return the cases as one batch."""

    def join(name: str) -> torch.Tensor:
        tensors = [getattr(case, name) for case in cases]
        if name in (*PER_GROUP, *PER_MICRO_GROUP):
            width = max(t.shape[-1] for t in tensors)
            tensors = [torch.nn.functional.pad(t, (0, width - t.shape[-1])) for t in tensors]
        return torch.cat(tensors)

    return Counts(**{field.name: join(field.name) for field in fields(Counts)})


def values(outcome: Outcome, p: Parameters) -> dict[tuple[str, ...], float]:
    """Return the values of the first case by their label values; NaN where undefined."""
    keys = [tuple(labels.values()) for labels in label_sets(outcome.labels, p)]
    return dict(zip(keys, outcome.value[0].tolist(), strict=True))
