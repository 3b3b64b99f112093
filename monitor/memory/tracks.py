"""Tracks of the history as four arrays and a table of metrics, and back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from monitor.checkpoint.tree import Tree
from monitor.history import Metric, Track
from monitor.state.reading import GREATEST, array, count, plain, take

_WHOLE = ("times", "evaluated", "labeled")


def pack_tracks(tracks: Iterable[Track]) -> Tree:
    """Return what `unpack_tracks` makes the same tracks from."""
    tracks = list(tracks)
    tables: dict[tuple[Metric, ...], int] = {}
    heads = [
        [*track.key, len(track.times), tables.setdefault(track.metrics, len(tables))] for track in tracks
    ]
    whole, floats = np.empty(0, np.int64), np.empty(0)
    return {
        "tracks": heads,
        "metrics": [[[metric.family, dict(metric.labels)] for metric in table] for table in tables],
        **{name: np.concatenate([whole, *(getattr(track, name) for track in tracks)]) for name in _WHOLE},
        "values": np.concatenate([floats, *(track.values.ravel() for track in tracks)]),
    }


def unpack_tracks(packed: Tree) -> list[Track]:
    """Return the tracks that `pack_tracks` packed.

    Raises
    ------
    ValueError
        If it is none of its results.
    """
    heads = [_head(row) for row in take(packed, "tracks", list)]
    tables = [_table(rows) for rows in take(packed, "metrics", list)]
    if any(number >= len(tables) for *_, number in heads):
        raise ValueError("a track has metrics that stand nowhere")
    lengths = [points for *_, points, _ in heads]
    sizes = [points * len(tables[number]) * 3 for *_, points, number in heads]
    times, evaluated, labeled = (array(packed, name, np.int64, (sum(lengths),)) for name in _WHOLE)
    values = array(packed, "values", np.float64, (sum(sizes),))
    if labeled.min(initial=0) < 0 or any(abs(a).max(initial=0) >= GREATEST for a in (times, evaluated)):
        raise ValueError("a number of a track is out of range")
    found = {}
    for head, (a, b), (c, d) in zip(heads, _bounds(lengths), _bounds(sizes), strict=True):
        model, version, window, points, number = head
        if not points or (times[a + 1 : b] <= times[a : b - 1]).any():
            raise ValueError("a track has no points, or its times do not increase")
        found[model, version, window] = Track(
            model,
            version,
            window,
            tables[number],
            times[a:b].copy(),
            evaluated[a:b].copy(),
            labeled[a:b].copy(),
            values[c:d].reshape(points, -1, 3).copy(),
        )
    if len(found) < len(heads):
        raise ValueError("a track is there twice")
    return list(found.values())


def _bounds(lengths: Sequence[int]) -> Iterable[tuple[int, int]]:
    return pairwise(accumulate(lengths, initial=0))


def _head(row: object) -> tuple[str, str, str, int, int]:
    model, version, window, points, table = _row(row, 5)
    return (
        plain(model, str, "the model of a track"),
        plain(version, str, "the version of a track"),
        plain(window, str, "the window of a track"),
        count(points, "the length of a track"),
        count(table, "the metrics of a track"),
    )


def _table(rows: object) -> tuple[Metric, ...]:
    table = tuple(_metric(row) for row in plain(rows, list, "the metrics of a track"))
    if not table or len(set(table)) < len(table):
        raise ValueError("a track has no metrics, or one twice")
    return table


def _metric(row: object) -> Metric:
    family, labels = _row(row, 2)
    texts = {
        plain(name, str, "a label"): plain(text, str, "a label")
        for name, text in plain(labels, dict, "the labels of a metric").items()
    }
    return Metric(plain(family, str, "a metric"), tuple(sorted(texts.items())))


def _row(row: object, length: int) -> list[Any]:
    values = plain(row, list, "what a track is")
    if len(values) != length:
        raise ValueError(f"a row of the history has {len(values)} values")
    return values
