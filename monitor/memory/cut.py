"""A cut: everything that a pipeline remembers at one moment, as the tree of a checkpoint."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from monitor.checkpoint.tree import Tree
from monitor.history import Tracks
from monitor.memory.plans import describe, fingerprint
from monitor.memory.tracks import pack_tracks
from monitor.pipeline import Pipeline
from monitor.records import Partition
from monitor.state.clocks import Clocks
from monitor.state.packing import pack
from monitor.state.store import VersionView
from monitor.state.windows import Plan

SCHEMA = 1
"""Version of the tree. What only adds keys leaves it as it is: readers have defaults for what they miss."""


@dataclass(frozen=True)
class Cut:
    """What a pipeline remembered at one moment.

    Attributes
    ----------
    next_offsets
        For each partition, the offset from which on nothing is in it.
    """

    next_offsets: Mapping[Partition, int]
    _small: Tree
    _topics: Collection[str]
    _plans: Mapping[str, Plan]
    _clocks: Clocks
    _versions: Collection[VersionView]
    _segment_values: Mapping[tuple[str, str], tuple[list[str], int]]
    _tracks: Tracks

    def tree(self) -> Tree:
        """Return it as `monitor.memory.restore` reads it.

        Needs no lock: versions and tracks are immutable, and the events shown as waiting never change.
        """
        topics = sorted(self._topics)
        known = {(version.model, version.version) for version in self._versions}
        return {
            "schema": SCHEMA,
            **self._small,
            "topics": topics,
            "configuration": {
                "fingerprint": fingerprint(self._plans, topics),
                "models": {name: describe(plan) for name, plan in self._plans.items()},
            },
            "next_offsets": _by_partition(self.next_offsets),
            "clocks": _clocks(self._clocks),
            "segment_values": [
                [model, key, names, overflowed]
                for (model, key), (names, overflowed) in self._segment_values.items()
            ],
            "versions": pack(self._versions),
            "history": pack_tracks(t for t in self._tracks.values() if (t.model, t.version) in known),
        }


def cut(pipeline: Pipeline, topic_ids: Mapping[str, str | None], outbox: Tree | None = None) -> Cut:
    """Look at everything; takes a few milliseconds at most, and copies no event.

    Parameters
    ----------
    pipeline
        Must not change meanwhile.
    topic_ids
        Id of each topic; None where the broker gives none.
    outbox
        What the actions remember; None where there are none.
    """
    state, clocks = pipeline.state, pipeline.state.clocks
    return Cut(
        next_offsets=dict(state.next_offsets),
        _small={
            "taken": pipeline.clock.now(),
            "topic_ids": dict(topic_ids),
            "retired": [[*key, last] for key, last in state.retired.items()],
            "missing_until": dict(state.missing_until),
            "consumed": dict(pipeline.consumed),
            "rejected": [[*key, n] for key, n in pipeline.rejected.items()],
            "late": dict(state.late),
            "unlabeled": dict(state.unlabeled),
            "limits_reached": dict(+pipeline.decoder.limits_reached),
            "over_limit_before": state.over_limit_before,
            "caught_up": state.caught_up,
            "look_back": state.look_back,
            "alerting": None if pipeline.alerting is None else pipeline.alerting.tree(),
            "outbox": outbox,
        },
        _topics=pipeline.decoder.positions.topics,
        _plans=state.plans,
        _clocks=replace(clocks, partitions=dict(clocks.partitions), silent=set(clocks.silent)),
        _versions=state.view().versions,
        _segment_values=pipeline.decoder.vocabularies(),
        _tracks=pipeline.history.tracks,
    )


def _clocks(clocks: Clocks) -> Tree:
    return {
        "watermark": clocks.watermark,
        "frontier": clocks.frontier,
        "covered_since": clocks.covered_since,
        "gap": clocks.gap,
        "lost": clocks.lost,
        "partitions": _by_partition(clocks.partitions),
        "silent": _rows(clocks.silent),
    }


def _by_partition(values: Mapping[Partition, int]) -> list[list[Any]]:
    return [[*partition, value] for partition, value in values.items()]


def _rows(partitions: Iterable[Partition]) -> list[list[Any]]:
    return [list(partition) for partition in partitions]
