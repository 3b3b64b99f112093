"""Counts of many cases at once, as the state would give them for exact windows: one group an event."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from monitor.metrics.counts import CELLS, Counts

EPSILON = 2.0**-24

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


def binary_counts(logits: Floats, y: Bools, cut: float) -> Counts:
    """Return the counts of cases that are decided from `cut` on: both of shape (cases, events).

    No two logits of a case may be equal. Cells and halves of the window stay 0: no interval rests on them.
    """
    logits, y = _descending(logits, y)
    p = 1 / (1 + np.exp(-logits))
    squared, logs = losses(p, y)
    decided = logits >= cut
    confusion = np.zeros((len(y), 2, 3), np.int64)
    for true in (0, 1):
        for decision in (0, 1):
            confusion[:, true, decision] = ((y == true) & (decided == decision)).sum(1)
    return _counts(
        p[:, None],
        y[:, None],
        confusion=confusion,
        top_k=np.zeros((len(y), 0), np.int64),
        score_sum=_units(p).sum(1)[:, None],
        squared_error=_sides(_units(squared), y)[:, None],
        loss=_sides(_units(logs, 26), y)[:, None],
        whole=_moments(squared, logs),
    )


def multiclass_counts(logits: Floats, true: Ints, top_k: Sequence[int]) -> Counts:
    """Return the counts of cases that are decided by argmax: (cases, events, classes), (cases, events)."""
    cases, _, classes = logits.shape
    p = np.exp(logits)
    p /= p.sum(-1, keepdims=True)
    decided = p.argmax(-1)
    y = true[..., None] == np.arange(classes)
    confusion = np.zeros((cases, classes, classes + 1), np.int64)
    np.add.at(confusion, (np.arange(cases)[:, None], true, decided), 1)
    above = (p > np.take_along_axis(p, true[..., None], -1)).sum(-1)
    squared, logs = losses(p, y)
    rows = np.concatenate([p, p.max(-1, keepdims=True)], axis=-1)
    positive = np.concatenate([y, (true == decided)[..., None]], axis=-1)
    ordered = _descending(np.moveaxis(rows, 2, 1), np.moveaxis(positive, 2, 1))
    return _counts(
        *ordered,
        confusion=confusion,
        top_k=np.stack([(above < k).sum(-1) << 30 for k in top_k], axis=-1),
        score_sum=_units(p).sum(1),
        squared_error=_sides(np.moveaxis(_units(squared), 2, 1), np.moveaxis(y, 2, 1)),
        loss=_sides(np.moveaxis(_units(logs, 26), 2, 1), np.moveaxis(y, 2, 1)),
        whole=_moments(squared.sum(-1), (logs * y).sum(-1)),
    )


def _descending(score: Floats, y: Bools) -> tuple[Floats, Bools]:
    """Sort along the last axis. A label travels as the last bit of its score: to sort numbers is fast."""
    bits = (-score).view(np.int64)
    bits = np.sort((bits & ~1 | y).view(np.float64))
    return -bits, (bits.view(np.int64) & 1).astype(np.bool_)


def losses(p: Floats, y: Bools) -> tuple[Floats, Floats]:
    """Return the squared error and the log loss of probabilities, one-vs-rest, in the shape given."""
    right = np.where(y, p, 1 - p)
    return (1 - right) ** 2, -np.log(np.clip(right, EPSILON, 1 - EPSILON))


def _sides(values: Ints, y: Bools) -> Ints:
    return np.stack([(values * ~y).sum(-1), (values * y).sum(-1)], axis=-1)


def _moments(squared: Floats, logs: Floats) -> Ints:
    units = (squared, 30), (squared**2, 30), (logs, 26), (logs**2, 26)
    sums = [_units(values, bits).sum(-1) for values, bits in units]
    return np.stack(sums, axis=-1).reshape(-1, 2, 2)


def _units(values: Floats, bits: int = 30) -> Ints:
    return np.rint(values * 2**bits).astype(np.int64)


def _counts(p: Floats, y: Bools, **given: Ints) -> Counts:
    """Fill in what follows from the descending probabilities and labels of each row of scores."""
    cases, rows, events = p.shape
    none = np.zeros((cases, rows, events), np.int64)
    arrays = {
        "events": np.full(cases, events),
        "decisions": given["confusion"].sum(1),
        "right": np.trace(given["confusion"], axis1=1, axis2=2),
        "samples": np.zeros((cases, 3, 2), np.int64),
        "score_events": np.full(cases, events),
        "cells": np.zeros((cases, rows, CELLS, 5), np.int64),
        "positives": y.astype(np.int64),
        "negatives": (~y).astype(np.int64),
        "older_positives": none,
        "older_negatives": none,
        "threshold": p,
        "probability": p,
        "exact": np.ones((cases, rows), np.bool_),
        "micro_positives": none[:, 0, :0],
        "micro_negatives": none[:, 0, :0],
        "micro_exact": np.ones(cases, np.bool_),
        **given,
    }
    return Counts(**{name: torch.from_numpy(np.ascontiguousarray(a)) for name, a in arrays.items()})
