"""Everything that a pipeline remembers, in a form that no batching, interleaving or restart changes.

Versions are settled at the watermark, their groups stand by the names of segment values (codes are given in
the order of arrival), arrays are hashed bit by bit.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import torch
from kafka import KafkaConsumer, TopicPartition

from monitor.alerting import Present
from monitor.alerts.alert import Transition
from monitor.checkpoint.folder import Folder
from monitor.clock import SystemClock
from monitor.config import Config
from monitor.deciding import Deciding
from monitor.events.batch import Columns, Rejected
from monitor.events.vocabulary import Vocabulary
from monitor.memory.restore import restore
from monitor.pipeline import Pipeline
from monitor.records import Partition, Record, RecordBatch
from monitor.state.columns import COLUMN_NAMES
from monitor.state.grouping import ALL
from monitor.state.store import VersionView
from monitor.state.version import Version
from monitor.watch import comparing, packing, remembering
from monitor.watch.matured import Matured

Digest = dict[str, Any]
Place = tuple[str, int, int]
"""Topic, partition, offset."""

STEP = 200
"""Records of a partition that the uninterrupted run reads at once."""


def digest(pipeline: Pipeline) -> Digest:
    """Return numbers as they are and arrays by their hashes, for comparison part by part.

    Left out is what only the last poll decides: which partitions lag, and which brought nothing valid.
    """
    state = pipeline.state
    view, clocks = state.view(), state.clocks
    return {
        "next_offsets": _by_place(state.next_offsets),
        "consumed": dict(sorted(pipeline.consumed.items())),
        "rejected": {f"{model}: {reason}": n for (model, reason), n in sorted(pipeline.rejected.items())},
        "late": dict(sorted((+state.late).items())),
        "unlabeled": dict(sorted((+state.unlabeled).items())),
        "limits_reached": dict(sorted(pipeline.limits_reached().items())),
        "watermark": clocks.watermark,
        "frontier": clocks.frontier,
        "covered_since": clocks.covered_since,
        "gap": clocks.gap,
        "partitions": _by_place(clocks.partitions),
        "versions": {
            f"{v.model}/{v.version}": _version(v, pipeline, view.watermark or 0)
            for v in sorted(view.versions, key=lambda v: (v.model, v.version))
        },
        "alerts": alerts(pipeline),
    }


def alerts(pipeline: Pipeline) -> Digest:
    """Return everything that alerts remember but what only people are told by; nothing without rules."""
    if pipeline.alerting is None:
        return {}
    tree = pipeline.alerting.tree()
    watch = tree["watch"]
    return {
        "mark": tree["mark"],
        "reached": tree["reached"],
        "rules": tree["rules"],
        "newest": sorted(tree["newest"]),
        "tracks": {"/".join(key): track for *key, _, track in sorted(tree["tracks"], key=_names)},
        "feed": {
            f"{model}/{version}": _waiting(events, pipeline, model)
            for (model, version), events in _unpacked(tree["feed"]["waiting"], pipeline)
        },
        "dropped": tree["feed"]["dropped"],
        "observations": watch["observations"],
        "champions": watch["champions"],
        "refused": sorted(watch["refused"]),
        "detectors": {"/".join(row.key): _detector(row) for row in remembering.unpack(watch["detectors"])},
        "comparisons": {
            "/".join(each.which): {
                "champion": each.champion,
                "sides": {name: repr(side) for name, side in sorted(each.sides.items())},
                "waiting": sorted([*key, *values] for key, values in each.waiting.items()),
            }
            for each in comparing.unpack(watch["comparisons"])
        },
    }


def _names(row: list[Any]) -> list[str]:
    return row[:-1]


def _unpacked(packs: list[Any], pipeline: Pipeline) -> Iterator[tuple[tuple[str, str], Matured]]:
    plans = pipeline.state.plans
    return packing.unpack(packs, lambda model: plans[model if model in plans else "*"].spec, None)


def _waiting(events: Matured, pipeline: Pipeline, model: str) -> dict[str, str]:
    columns = {name: getattr(events.ordered().columns, name) for name in Columns.__slots__}
    plans = pipeline.state.plans
    keys = plans[model if model in plans else "*"].spec.segments
    columns["segments"] = _by_name(columns["segments"], [pipeline.decoder.vocabulary(model, k) for k in keys])
    return {name: _hash(column) for name, column in columns.items()}


def _detector(row: remembering.Remembered) -> Digest:
    values = row._asdict()
    del values["key"]
    return {name: _hash(v) if isinstance(v, np.ndarray) else v for name, v in values.items()}


def sha256(found: Digest) -> str:
    """Return one hash of all."""
    return hashlib.sha256(json.dumps(found, sort_keys=True).encode()).hexdigest()


def differences(found: Any, expected: Any, path: str = "") -> list[str]:
    """Say where two digests differ."""
    if isinstance(found, dict) and isinstance(expected, dict):
        keys = sorted(found.keys() | expected.keys())
        return [
            text for key in keys for text in differences(found.get(key), expected.get(key), f"{path}/{key}")
        ]
    return [] if found == expected else [f"{path}: {found!r:.200} instead of {expected!r:.200}"]


def restored(directory: str | Path, config: Config) -> Pipeline:
    """Return the state of a group's newest checkpoint; no newer file may be damaged."""
    found = Folder(directory, config.kafka.group_id).newest(lambda tree: restore(tree, config, SystemClock()))
    assert found is not None, "there is no checkpoint"
    assert found.content is not None, found.problems
    assert not found.problems
    assert not found.content.changes
    return found.content.pipeline


def digest_of_folder(directory: str | Path, config: Config) -> Digest:
    """Return the digest of a group's newest checkpoint, once what it knows is decided."""
    pipeline = restored(directory, config)
    Deciding(pipeline).turn(Present())
    return digest(pipeline)


class Uninterrupted:
    """A pipeline of this process that takes in whole partitions, aligned by time.

    Attributes
    ----------
    rejected
        Places of the records that are no valid events.
    transitions
        What happened to alerts.
    """

    def __init__(self, config: Config, topics: Collection[str]) -> None:
        self.pipeline = Pipeline(config, topics, SystemClock())
        self.rejected: list[Place] = []
        self.transitions: list[Transition] = []
        self._deciding = Deciding(self.pipeline)

    def take(self, logs: Mapping[Partition, Iterator[Sequence[Record]]]) -> None:
        """Read the partitions to their ends."""
        ahead: dict[Partition, Sequence[Record]] = {}
        rest = dict(logs)
        while True:
            for partition in [p for p in rest if p not in ahead]:
                if records := next(rest[partition], None):
                    ahead[partition] = records
                else:
                    del rest[partition]
            lagging = frozenset(ahead)
            waiting = self.pipeline.ahead(lagging)
            batches = [RecordBatch(p, ahead.pop(p)) for p in sorted(lagging - waiting)]
            batch = self.pipeline.decode(batches)
            self.pipeline.apply(batch)
            self.pipeline.advance(frozenset(ahead) | frozenset(rest))
            self.transitions += self._deciding.turn(Present())
            self.rejected += [_place(r) for r in batch.rejected]
            if not rest and not ahead:
                return

    def digest(self) -> Digest:
        """Return the digest of the state."""
        return digest(self.pipeline)


def run_over_log(bootstrap: str, topics: Collection[str], config: Config) -> Uninterrupted:
    """Read the topics once from beginning to end."""
    run = Uninterrupted(config, topics)
    consumers: list[KafkaConsumer] = []
    logs: dict[Partition, Iterator[Sequence[Record]]] = {}
    try:
        for topic in topics:
            consumer = KafkaConsumer(bootstrap_servers=bootstrap)
            consumers.append(consumer)
            for number in consumer.partitions_for_topic(topic) or ():
                mine = _consumer(bootstrap, TopicPartition(topic, number))
                consumers.append(mine)
                logs[Partition(topic, number)] = records(mine, TopicPartition(topic, number))
        run.take(logs)
    finally:
        for consumer in consumers:
            consumer.close(autocommit=False)
    return run


def _consumer(bootstrap: str, partition: TopicPartition) -> KafkaConsumer:
    consumer = KafkaConsumer(
        bootstrap_servers=bootstrap, enable_auto_commit=False, isolation_level="read_committed"
    )
    consumer.assign([partition])
    consumer.seek_to_beginning(partition)
    return consumer


def records(consumer: Any, partition: TopicPartition) -> Iterator[list[Any]]:
    """Yield what a partition holds now, `STEP` records at a time."""
    end = consumer.end_offsets([partition])[partition]
    while consumer.position(partition) < end:
        yield from consumer.poll(1000, max_records=STEP).values()


def _place(rejected: Rejected) -> Place:
    return (*rejected.partition, rejected.record.offset)


def _by_place(values: Mapping[Partition, int]) -> dict[str, int]:
    return {f"{p.topic}/{p.partition}": value for p, value in sorted(values.items())}


def _version(view: VersionView, pipeline: Pipeline, watermark: int) -> Digest:
    version = view.settle(watermark)
    words = [pipeline.decoder.vocabulary(view.model, key) for key in version.plan.spec.segments]
    order, names = _groups(version, words)
    held = {name: getattr(version.held, name).cpu().numpy() for name in COLUMN_NAMES}
    held["segments"] = _by_name(held["segments"], words)
    return {
        "last_event": view.last_event,
        "since": view.since,
        "labeled": view.labeled,
        "unlabeled": view.unlabeled,
        "dropped_until": version.dropped_until,
        "over_limit": version.over_limit,
        "held_events": len(version.held),
        "held": {name: _hash(column) for name, column in held.items()},
        "segments": {
            key: sorted(filter(None, map(vocabulary.name, range(len(vocabulary)))))
            for key, vocabulary in zip(version.plan.spec.segments, words, strict=True)
        },
        "groups": names,
        "events": version.counts.events[order].tolist(),
        "counts": {
            f.name: _hash(getattr(version.counts, f.name)[order].cpu().numpy())
            for f in fields(version.counts)
        },
        "histogram": _histogram(version, order),
    }


def _groups(version: Version, words: Sequence[Vocabulary]) -> tuple[list[int], list[str]]:
    """Return the numbers of the groups in the order of their names, and the names."""
    named = []
    for number, (key, code) in enumerate(version.groups):
        if (key, code) == ALL:
            named.append(("", number))
        else:
            named.append((f"{version.plan.spec.segments[key]}={words[key].name(code)}", number))
    named.sort()
    return [number for _, number in named], [name for name, _ in named]


def _by_name(codes: np.ndarray, words: Sequence[Vocabulary]) -> np.ndarray:
    """Replace codes by the rank of what they stand for."""
    ranked = codes.copy()
    for column, vocabulary in enumerate(words):
        names = [vocabulary.name(code) for code in range(len(vocabulary))]
        order = sorted(range(len(names)), key=lambda code: (names[code] is not None, names[code] or ""))
        rank = np.empty(len(names), codes.dtype)
        rank[order] = np.arange(len(names))
        ranked[:, column] = rank[codes[:, column]]
    return ranked


def _histogram(version: Version, order: list[int]) -> dict[str, str]:
    rows = len(version.histogram.shift) // len(version.groups)
    chosen = torch.tensor([group * rows + row for group in order for row in range(rows)])
    table = version.histogram.take(chosen.to(version.device))
    return {f.name: _hash(getattr(table, f.name).cpu().numpy()) for f in fields(table)}


def _hash(array: np.ndarray) -> str:
    found = hashlib.sha256(f"{array.dtype.str}{array.shape}".encode())
    found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()
