"""Waiting events of all versions as a few large arrays, and back."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from monitor.events.batch import Columns
from monitor.events.spec import OTHER, UNLABELED, ModelSpec
from monitor.events.vocabulary import MISSING
from monitor.state.reading import GREATEST, array, count, plain, take
from monitor.watch.matured import Matured, joined

Version = tuple[str, str]
"""Model and version."""

Codes = Callable[[str, str], int]
"""How many codes there are of a model's segment key."""

_MARKS = ("recorded", "identity")
_NAMES = (*Columns.__slots__, *_MARKS)


def pack(waiting: Mapping[Version, Matured], spec_of: Callable[[str], ModelSpec]) -> list[dict[str, Any]]:
    """Return what `unpack` makes the same events from: one dict for versions with columns alike."""
    alike: defaultdict[tuple[object, ...], list[Version]] = defaultdict(list)
    for version, events in waiting.items():
        spec = spec_of(version[0])
        shapes = tuple((column.dtype, column.shape[1:]) for column in events.arrays)
        alike[(spec.task, spec.segments, *shapes)].append(version)
    return [
        {
            "segment_keys": list(spec_of(versions[0][0]).segments),
            "versions": [[*version, len(waiting[version].columns)] for version in versions],
            **dict(zip(_NAMES, joined([waiting[version] for version in versions]).arrays, strict=False)),
        }
        for versions in alike.values()
    ]


def unpack(
    packs: list[Any], spec_of: Callable[[str], ModelSpec | None], codes: Codes | None
) -> Iterator[tuple[Version, Matured]]:
    """Yield the events that `pack` packed; those of models that are not configured any more are left out.

    Raises
    ------
    ValueError
        If it is none of its results, or the configured classes are others.
    """
    for pack in packs:
        start = 0
        keys = [plain(key, str, "a segment key") for key in take(pack, "segment_keys", list)]
        for row in take(pack, "versions", list):
            model, version, size = _head(row)
            end = start + size
            spec = spec_of(model)
            if spec is not None:
                events = _events(pack, spec, len(keys)).select(np.arange(start, end))
                yield (model, version), _checked(_arranged(events, keys, spec), model, spec, codes)
            start = end
        if start != len(array(pack, "timestamp", np.int64, (None,))):
            raise ValueError("events that wait belong to no version")


def _head(row: object) -> tuple[str, str, int]:
    parts = plain(row, list, "a version")
    if len(parts) != 3:
        raise ValueError("a version is a name, a version and a number of events")
    model, version, size = parts
    return plain(model, str, "a model"), plain(version, str, "a version"), count(size, "its events")


def _events(pack: object, spec: ModelSpec, keys: int) -> Matured:
    """Return all events of a pack, as views."""
    n = len(array(pack, "timestamp", np.int64, (None,)))
    classes, many = len(spec.classes), spec.task == "multilabel"
    code = np.int8 if many else np.int16
    arrays: list[NDArray[Any]] = [
        array(pack, "timestamp", np.int64, (n,)),
        array(pack, "position", np.int64, (n,)),
        array(pack, "label", code, (n, classes) if many else (n,)),
        array(pack, "decision", code, (n, classes + 1) if many else (n,)),
        array(pack, "score", np.float32, (n, len(spec.scored))),
        array(pack, "segments", np.int16, (n, keys)),
        array(pack, "recorded", np.int64, (n,)),
    ]
    if plain(pack, dict, "a pack").get("identity") is not None:
        arrays.append(array(pack, "identity", np.int64, (n,)))
    return Matured.of(arrays)


def _arranged(events: Matured, keys: list[str], spec: ModelSpec) -> Matured:
    """Return the events with the segment keys of today, missing where they were not kept."""
    if tuple(keys) == spec.segments:
        return events
    old = events.columns.segments
    new = np.full((len(old), len(spec.segments)), MISSING, np.int16)
    for k, key in enumerate(spec.segments):
        if key in keys:
            new[:, k] = old[:, keys.index(key)]
    arrays = events.arrays
    arrays[Columns.__slots__.index("segments")] = new
    return Matured.of(arrays)


def _checked(events: Matured, model: str, spec: ModelSpec, codes: Codes | None) -> Matured:
    columns, many = events.columns, spec.task == "multilabel"
    end = 2 if many else len(spec.classes)
    _check_range(columns.timestamp, -GREATEST, GREATEST, "a time")
    _check_range(events.marks.recorded, -GREATEST, GREATEST, "a record's time")
    _check_range(columns.position, 0, 2**63 - 1, "a position")
    _check_range(columns.label, UNLABELED, end, "a label")
    _check_range(columns.decision, 0 if many else OTHER, end, "a decision")
    for k, key in enumerate(spec.segments):
        _check_range(columns.segments[:, k], MISSING, 2**15 if codes is None else codes(model, key), key)
    absent = np.isnan(columns.score)
    if (absent != absent[:, :1]).any():
        raise ValueError("an event has some of its scores")
    if not spec.raw_logits:
        _check_range(columns.score[~absent], 0, np.nextafter(np.float32(1), np.float32(2)), "a score")
    return events


def _check_range(values: NDArray[Any], least: float, end: float, what: str) -> None:
    if len(values) and not (values.min() >= least and values.max() < end):
        raise ValueError(f"{what} is out of range")
