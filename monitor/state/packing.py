"""Versions as a few large arrays, and back: the arrays of all whose shapes are alike are joined.

Every array costs some 20 microseconds to be written and read, and a version has 27 of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, chain, pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch

from monitor.events.batch import Columns
from monitor.events.position import OFFSET_BITS, OFFSET_MASK
from monitor.events.spec import OTHER, UNLABELED, ModelSpec
from monitor.events.vocabulary import MISSING
from monitor.state import columns, histogram, tally
from monitor.state.columns import COLUMN_NAMES, Events, concatenate, upload
from monitor.state.grouping import ALL, Group
from monitor.state.histogram import ScoreHistogram
from monitor.state.keys import KEY_BITS
from monitor.state.reading import GREATEST, array, count, maybe, take
from monitor.state.store import VersionView
from monitor.state.tally import Tally, score_rows
from monitor.state.version import Version
from monitor.state.windows import Plan

Packed = dict[str, Any]
"""Plain data and arrays of versions of one shape."""

_CPU = torch.device("cpu")


class _Head(NamedTuple):
    """What a version is beside its arrays, and how many of their rows are its own."""

    model: str
    version: str
    last_event: int
    since: int
    labeled: int
    unlabeled: int
    dropped_until: int | None
    over_limit: int
    held: int
    waiting: int
    groups: int


def pack(versions: Iterable[VersionView]) -> list[Packed]:
    """Return what `unpack` makes the same versions from."""
    alike: defaultdict[tuple[object, ...], list[VersionView]] = defaultdict(list)
    for version in versions:
        alike[_shape(version.base.plan.spec)].append(version)
    return [_pack(same) for same in alike.values()]


def _shape(spec: ModelSpec) -> tuple[object, ...]:
    """Return what the shapes of a version's arrays follow from."""
    return spec.task, len(spec.classes), len(spec.scored), len(spec.top_k), len(spec.segments)


def _pack(versions: Sequence[VersionView]) -> Packed:
    bases = [version.base.to(_CPU) for version in versions]
    groups = chain.from_iterable(chain.from_iterable(base.groups for base in bases))
    held = concatenate([base.held for base in bases])
    table = histogram.joined([base.histogram for base in bases])
    counts = tally.joined([base.counts for base in bases])
    return {
        "versions": [
            {
                "model": version.model,
                "version": version.version,
                "last_event": version.last_event,
                "since": version.since,
                "labeled": version.labeled,
                "unlabeled": version.unlabeled,
                "dropped_until": base.dropped_until,
                "over_limit": base.over_limit,
                "held": len(base.held),
                "waiting": len(version.waiting),
                "groups": len(base.groups),
            }
            for version, base in zip(versions, bases, strict=True)
        ],
        "held": {name: getattr(held, name).numpy() for name in COLUMN_NAMES},
        "waiting": {
            name: np.concatenate([getattr(version.waiting, name) for version in versions])
            for name in COLUMN_NAMES
        },
        "groups": np.fromiter(groups, np.int16).reshape(-1, 2),
        "counts": {name: getattr(counts, name).numpy() for name in tally.NAMES},
        "histogram": {name: getattr(table, name).numpy() for name in ("key", "count", "shift")},
    }


def unpack(
    packed: Packed,
    plan_of: Callable[[str], Plan],
    codes_of: Callable[[str, str], int],
    device: torch.device,
) -> list[VersionView]:
    """Return the versions that `pack` packed.

    Parameters
    ----------
    packed
        One of its results; other trees are refused.
    plan_of
        What was remembered of a model's versions.
    codes_of
        How many codes there were of a model's segment key.
    device
        Where columns and counts are to live.

    Raises
    ------
    ValueError
        If it is none of its results.
    """
    heads = [_head(entry) for entry in take(packed, "versions", list)]
    if not heads:
        return []
    plans = [plan_of(head.model) for head in heads]
    spec = plans[0].spec
    if any(_shape(plan.spec) != _shape(spec) for plan in plans):
        raise ValueError(f"versions packed with {heads[0].model} have other shapes")
    codes = [
        [codes_of(head.model, key) for key in plan.spec.segments]
        for head, plan in zip(heads, plans, strict=True)
    ]
    held_lengths, waiting_lengths = [head.held for head in heads], [head.waiting for head in heads]
    held = _columns(take(packed, "held", dict), spec, held_lengths, codes)
    _check_order(held, held_lengths)
    waiting = _columns(take(packed, "waiting", dict), spec, waiting_lengths, codes)
    sizes = [head.groups for head in heads]
    rows = [size * score_rows(spec.kind) for size in sizes]
    parts = zip(
        heads,
        plans,
        _split(upload(held, device), held_lengths),
        _split_columns(waiting, waiting_lengths),
        _groups(packed, sizes, codes),
        _counts(take(packed, "counts", dict), spec, sum(sizes), device).split(sizes),
        _histogram(take(packed, "histogram", dict), sum(rows), device).split(rows),
        strict=True,
    )
    return [
        VersionView(
            model=head.model,
            version=head.version,
            base=Version(plan, events, groups, counts, table, head.dropped_until, head.over_limit),
            waiting=arrived,
            last_event=head.last_event,
            since=head.since,
            labeled=head.labeled,
            unlabeled=head.unlabeled,
        )
        for head, plan, events, arrived, groups, counts, table in parts
    ]


def positions(packed: Packed) -> list[npt.NDArray[np.int64]]:
    """Return the positions of held and waiting events.

    Raises
    ------
    ValueError
        If there are none, or one is negative.
    """
    found = [array(take(packed, name, dict), "position", np.int64, (None,)) for name in ("held", "waiting")]
    if any(codes.min(initial=0) < 0 for codes in found):
        raise ValueError("a position is negative")
    return found


def recoded(packed: Packed, sources: npt.NDArray[np.int64]) -> Packed:
    """Return the same with other positions.

    Parameters
    ----------
    sources : int64, shape (SOURCES,)
        For each old code of a partition (`monitor.events.position`) the new one.
    """
    held, waiting = (
        (sources[codes >> OFFSET_BITS] << OFFSET_BITS) | (codes & OFFSET_MASK) for codes in positions(packed)
    )
    return {
        **packed,
        "held": {**packed["held"], "position": held},
        "waiting": {**packed["waiting"], "position": waiting},
    }


def _head(entry: object) -> _Head:
    return _Head(
        model=take(entry, "model", str),
        version=take(entry, "version", str),
        dropped_until=maybe(entry, "dropped_until", int),
        last_event=take(entry, "last_event", int),
        since=take(entry, "since", int),
        **{
            name: count(take(entry, name, int), name)
            for name in ("labeled", "unlabeled", "over_limit", "held", "waiting", "groups")
        },
    )


def _columns(tree: Packed, spec: ModelSpec, lengths: list[int], codes: list[list[int]]) -> Columns:
    """Return the events of all versions."""
    like = columns.empty(spec, _CPU)
    arrays = {
        name: array(tree, name, column.numpy().dtype, (sum(lengths), *column.shape[1:]))
        for name, column in zip(COLUMN_NAMES, like.tensors(), strict=True)
    }
    many = spec.task == "multilabel"
    _check_range(arrays["timestamp"], -GREATEST, GREATEST, "a timestamp")
    _check_range(arrays["label"], UNLABELED, 2 if many else len(spec.classes), "a label")
    _check_range(arrays["decision"], 0 if many else OTHER, 2 if many else len(spec.classes), "a decision")
    if spec.segments:
        limits = np.array(codes, np.int32).repeat(lengths, axis=0)
        if (arrays["segments"] < MISSING).any() or (arrays["segments"] >= limits).any():
            raise ValueError("a segment value has no name")
    return Columns(**arrays)


def _check_range(values: npt.NDArray[Any], least: int, end: int, what: str) -> None:
    if values.min(initial=least) < least or values.max(initial=least) >= end:
        raise ValueError(f"{what} is out of range")


def _check_order(events: Columns, lengths: list[int]) -> None:
    t, p = events.timestamp, events.position
    # Not strictly: once a log was truncated, places in it are given out again.
    behind = (t[1:] < t[:-1]) | ((t[1:] == t[:-1]) & (p[1:] < p[:-1]))
    first = np.cumsum(lengths)[:-1]
    behind[first[(first > 0) & (first < len(t))] - 1] = False
    if behind.any():
        raise ValueError("held events are not in order")


def _split(events: Events, lengths: list[int]) -> Iterator[Events]:
    for start, end in _bounds(lengths):
        yield Events(*(column[start:end].clone() for column in events.tensors()))


def _split_columns(events: Columns, lengths: list[int]) -> Iterator[Columns]:
    arrays = [getattr(events, name) for name in COLUMN_NAMES]
    for start, end in _bounds(lengths):
        yield Columns(*(column[start:end].copy() for column in arrays))


def _bounds(lengths: list[int]) -> Iterator[tuple[int, int]]:
    return pairwise(accumulate(lengths, initial=0))


def _groups(packed: Packed, sizes: list[int], codes: list[list[int]]) -> Iterator[tuple[Group, ...]]:
    pairs: list[Group] = [
        (key, code) for key, code in array(packed, "groups", np.int16, (sum(sizes), 2)).tolist()
    ]
    for (start, end), of_version in zip(_bounds(sizes), codes, strict=True):
        groups = tuple(pairs[start:end])
        sound = all(
            0 <= key < len(of_version) and MISSING < code < of_version[key] for key, code in groups[1:]
        )
        if not sound or groups[:1] != (ALL,) or len(set(groups)) < len(groups):
            raise ValueError("the groups of a version are none")
        yield groups


def _counts(tree: Packed, spec: ModelSpec, cases: int, device: torch.device) -> Tally:
    shapes = tally.shapes(spec.kind)
    arrays = {name: array(tree, name, np.int64, (cases, *shape)) for name, shape in shapes.items()}
    return Tally(**{name: torch.from_numpy(values).to(device) for name, values in arrays.items()})


def _histogram(tree: Packed, rows: int, device: torch.device) -> ScoreHistogram:
    key = array(tree, "key", np.int64, (None,))
    counts = array(tree, "count", np.int64, (2, len(key)))
    shift = array(tree, "shift", np.int64, (rows,))
    _check_range(key, 0, rows << KEY_BITS, "a score")
    _check_range(shift, 0, KEY_BITS, "a resolution")
    if (key[1:] <= key[:-1]).any():
        raise ValueError("scores are not in order")
    return ScoreHistogram(*(torch.from_numpy(values).to(device) for values in (key, counts, shift)))
