"""Canonical events as polls bring them: records made just before they are used, hence in the cache."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from monitor.config import Config
from monitor.records import Partition, RecordBatch
from tests.support.records import RECORD_MS, Raw

TOPIC = "predictions"
POLL = 2000
"""Records of one poll."""


def configuration(
    models: Mapping[str, Any], *, kafka: Mapping[str, Any] | None = None, **sections: Mapping[str, Any]
) -> Config:
    """Return a configuration of these models, with defaults elsewhere."""
    where = {"bootstrap_servers": ["localhost:9092"], "topics": [TOPIC], "group_id": "benchmark"}
    return Config.model_validate({"kafka": where | dict(kafka or {}), "models": dict(models), **sections})


def binary(**changes: Any) -> dict[str, Any]:
    """Return a binary model with two windows, a count and a duration."""
    windows = [{"name": "last_10k", "events": 10_000}, {"name": "10s", "duration": "10s"}]
    return {"task": "binary", "classes": ["legit", "fraud"], "windows": windows} | changes


def events(*, models: int = 1, versions: int = 1, per_second: int = 1000, seed: int = 0) -> Iterator[bytes]:
    """Yield canonical events without end, one in five of them positive, scores of full precision."""
    rng = random.Random(seed)
    number = 0
    while True:
        model = "fraud" if models == 1 else f"model-{rng.randrange(models)}"
        version = "2026-11-01" if versions == 1 else f"2026-11-{rng.randrange(versions) + 1:02d}"
        score = rng.random() ** 4
        label = "fraud" if rng.random() < score else "legit"
        region = ("eu", "us", "apac")[number % 3]
        yield (
            f'{{"id": "req-{number:08d}", "model": "{model}", "version": "{version}", '
            f'"timestamp": {RECORD_MS / 1000 + number / per_second:.3f}, "label": "{label}", '
            f'"score": {score:.6f}, "segments": {{"region": "{region}"}}}}'
        ).encode()
        number += 1


def polls(
    values: Iterator[bytes], count: int, *, per_second: int = 1000, partitions: int = 1
) -> Iterator[RecordBatch]:
    """Yield `count` events as polls of 2000 from one partition after the other."""
    offsets = [0] * partitions
    for poll in range(count // POLL):
        place = poll % partitions
        made = [
            Raw(
                offsets[place] + i,
                RECORD_MS + (poll * POLL + i) * 1000 // per_second,
                None,
                bytes(memoryview(value)),
                (),
            )
            for i, value in enumerate(islice(values, POLL))
        ]
        offsets[place] += POLL
        yield RecordBatch(Partition(TOPIC, place), made)
