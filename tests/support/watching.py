"""Events for detectors: columns of every task cut into batches, as a decoder would give them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from monitor.events.batch import Columns, EventBatch, Marks
from monitor.events.spec import ModelSpec
from monitor.watch.matured import Matured
from tests.support.tasks import Mix, random_columns

Version = tuple[str, str]
USUAL = Mix()


def events(
    spec: ModelSpec, n: int, seed: int, *, mix: Mix = USUAL, spread: int | None = None, ids: int = 0
) -> Matured:
    """Return n random events in order, several at the same time; with `ids` some have one of so many ids."""
    rng = np.random.default_rng(seed)
    columns = random_columns(spec, n, seed, mix)
    times = np.sort(rng.integers(0, n if spread is None else spread, n))
    columns = Columns(times, *(getattr(columns, name) for name in Columns.__slots__[1:]))
    identity = rng.integers(0, ids, n) if ids else None
    return Matured(columns, Marks(times + 7, identity))


def part(whole: Matured, index: np.ndarray) -> Matured:
    """Return some of the events, in memory of their own."""
    return whole.select(np.asarray(index))


def batch(found: Mapping[Version, Matured]) -> EventBatch:
    """Return what a decoder would have read."""
    return EventBatch(
        {version: each.columns for version, each in found.items()},
        marks={version: each.marks for version, each in found.items()},
    )


def rows(matured: Matured) -> list[tuple]:
    """Return events as comparable tuples: scores as texts, since no NaN equals another."""
    columns = (a.tolist() if a.dtype.kind == "i" else map(str, a.tolist()) for a in matured.arrays)
    return list(zip(*columns, strict=True))
