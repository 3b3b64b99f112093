"""The numbers of a cut that stand beside versions: places in the log, clocks, counters, names."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from monitor.checkpoint.tree import Tree
from monitor.events.position import OFFSET_BITS
from monitor.events.vocabulary import FIXED, OTHER_NAME
from monitor.pipeline import Pipeline
from monitor.records import Partition
from monitor.state.reading import count, maybe, plain, take

CODES = 1 << 15
"""Segment values are codes in int16."""


def read_places(tree: Tree, pipeline: Pipeline, topics: Collection[str]) -> set[str]:
    """Set next offsets and clocks for these topics alone; return the others of which there is something.

    Raises
    ------
    ValueError
        If the tree has none.
    """
    state, clocks = pipeline.state, take(tree, "clocks", dict)
    offsets = _by_partition(tree, "next_offsets")
    if any(not 0 <= offset < 1 << OFFSET_BITS for offset in offsets.values()):
        raise ValueError("an offset is out of range")
    times = _by_partition(clocks, "partitions")
    silent = {_partition(row) for row in take(clocks, "silent", list)}
    state.next_offsets = {p: offset for p, offset in offsets.items() if p.topic in topics}
    state.clocks.watermark = maybe(clocks, "watermark", int)
    state.clocks.frontier = maybe(clocks, "frontier", int)
    state.clocks.covered_since = maybe(clocks, "covered_since", int)
    state.clocks.gap = take(clocks, "gap", bool)
    state.clocks.lost = take(clocks, "lost", bool)
    state.clocks.partitions = {p: time for p, time in times.items() if p.topic in topics}
    state.clocks.silent = {p for p in silent if p.topic in topics}
    return {p.topic for p in {*offsets, *times, *silent}} - set(topics)


def read_counters(tree: Tree, pipeline: Pipeline) -> None:
    """Set what was counted, and what is known of versions that are gone.

    Raises
    ------
    ValueError
        If the tree has none.
    """
    state = pipeline.state
    pipeline.consumed.update(_counts(tree, "consumed"))
    pipeline.decoder.limits_reached.update(_counts(tree, "limits_reached"))
    state.late.update(_counts(tree, "late"))
    state.unlabeled.update(_counts(tree, "unlabeled"))
    state.over_limit_before = count(take(tree, "over_limit_before", int), "over_limit_before")
    state.missing_until = {
        name: plain(time, int, "a time") for name, time in take(tree, "missing_until", dict).items()
    }
    for row in take(tree, "rejected", list):
        model, reason, n = _row(row, "rejected", str, str, int)
        pipeline.rejected[model, reason] = count(n, "rejected")
    for row in take(tree, "retired", list):
        model, version, last = _row(row, "retired", str, str, int)
        state.retired[model, version] = last


def segment_values(tree: Tree) -> dict[tuple[str, str], tuple[list[str], int]]:
    """Return the names of each (model, segment key) by code, and how many overflowed.

    Raises
    ------
    ValueError
        If the tree has none.
    """
    found = {}
    for row in take(tree, "segment_values", list):
        model, key, names, overflowed = _row(row, "segment_values", str, str, list, int)
        texts = [plain(name, str, "a segment value") for name in names]
        if len({*texts, OTHER_NAME}) <= len(texts) or FIXED + len(texts) > CODES:
            raise ValueError(f"segment values of {model!r} and {key!r} are there twice, or too many")
        found[model, key] = texts, count(overflowed, "overflowed")
    return found


def _counts(tree: object, key: str) -> dict[str, int]:
    return {plain(name, str, key): count(n, key) for name, n in take(tree, key, dict).items()}


def _by_partition(tree: object, key: str) -> dict[Partition, int]:
    rows = (_row(row, key, str, int, int) for row in take(tree, key, list))
    return {_partition([topic, number]): value for topic, number, value in rows}


def _partition(row: object) -> Partition:
    topic, number = _row(row, "a partition", str, int)
    return Partition(topic, count(number, "a partition"))


def _row(row: object, what: str, *kinds: type[Any]) -> list[Any]:
    values = plain(row, list, what)
    if len(values) != len(kinds):
        raise ValueError(f"{what} has a row of {len(values)}")
    return [plain(value, kind, what) for value, kind in zip(values, kinds, strict=True)]
