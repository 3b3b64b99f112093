"""How long decoding takes, in microseconds an event: the best of many batches of 2000.

Run as `python -m tests.benchmarks.decode`.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from monitor.events.decoder import Decoder
from monitor.events.position import Positions
from monitor.events.spec import ModelSpec
from tests.support.records import RECORD_MS, batch

EVENTS = 2000
BINARY = ModelSpec("fraud", "binary", ("legit", "fraud"), 1, thresholds=(0.5,), segments=("region",))
DIGITS = ModelSpec("digits", "multiclass", tuple("0123456789"), integers="names")
ANY = ModelSpec("*", "binary", ("legit", "fraud"), 1, thresholds=(0.5,), segments=("region",))
LOGITS = ModelSpec("fraud", "binary", ("legit", "fraud"), 1, thresholds=(0.5,), scores="logit")
TOPICS = tuple(f"topic-{i}" for i in range(10))
TAGS = ModelSpec("tags", "multilabel", TOPICS, thresholds=(0.5,) * 10)
NESTED = {"label": "outcome.label", "score": "model.probability", "timestamp": "meta.time"}


def canonical(rng: random.Random, i: int) -> dict[str, Any]:
    return {
        "id": f"req-{i:08d}",
        "model": "fraud",
        "version": "2026-11-01",
        "timestamp": RECORD_MS / 1000 + i / 1000,
        "label": rng.choice(["legit", "fraud"]),
        "score": round(rng.random(), 6),
        "segments": {"region": rng.choice(["eu", "us", "apac"])},
    }


def with_prediction(rng: random.Random, i: int) -> dict[str, Any]:
    return canonical(rng, i) | {"prediction": rng.choice(["legit", "fraud"])}


def nested(rng: random.Random, i: int) -> dict[str, Any]:
    time = datetime.fromtimestamp(RECORD_MS / 1000 + i / 1000, UTC).isoformat()
    return {
        "outcome": {"label": rng.choice([0, 1])},
        "model": {"probability": rng.random()},
        "meta": {"time": time},
    }


def ten_classes(rng: random.Random, i: int) -> dict[str, Any]:
    weights = [rng.random() for _ in range(10)]
    scores = [w / sum(weights) for w in weights]
    return {"timestamp": RECORD_MS / 1000, "label": rng.randrange(10), "scores": scores}


def ten_logits(rng: random.Random, i: int) -> dict[str, Any]:
    return ten_classes(rng, i) | {"scores": [rng.gauss(0, 3) for _ in range(10)]}


def one_logit(rng: random.Random, i: int) -> dict[str, Any]:
    return canonical(rng, i) | {"score": rng.gauss(0, 3)}


def label_vectors(rng: random.Random, i: int) -> dict[str, Any]:
    scores = [rng.random() for _ in TOPICS]
    label = [int(rng.random() < p) for p in scores]
    return {"timestamp": RECORD_MS / 1000, "label": label, "scores": scores}


def label_names(rng: random.Random, i: int) -> dict[str, Any]:
    label = [name for name in TOPICS if rng.random() < 0.2]
    return label_vectors(rng, i) | {"label": label, "prediction": label[:1]}


def many_models(rng: random.Random, i: int) -> dict[str, Any]:
    return canonical(rng, i) | {"model": f"model-{rng.randrange(500)}"}


def one_in_fifty_is_bad(rng: random.Random, i: int) -> dict[str, Any]:
    return canonical(rng, i) | ({"score": "high"} if i % 50 == 0 else {})


CASES: list[tuple[Callable[[random.Random, int], dict[str, Any]], ModelSpec, dict[str, str]]] = [
    (canonical, BINARY, {}),
    (with_prediction, BINARY, {}),
    (nested, BINARY, NESTED),
    (one_logit, LOGITS, {}),
    (ten_classes, DIGITS, {}),
    (ten_logits, replace(DIGITS, scores="logit"), {}),
    (label_vectors, TAGS, {}),
    (label_names, TAGS, {}),
    (many_models, ANY, {}),
    (one_in_fifty_is_bad, BINARY, {}),
]


def main() -> None:
    for make, spec, fields in CASES:
        rng = random.Random(0)
        records = batch(make(rng, i) for i in range(EVENTS))
        decoder = Decoder(fields, {spec.name: spec}, Positions(["t"]))
        best = float("inf")
        for _ in range(200):
            start = time.perf_counter()
            result = decoder.decode([records])
            best = min(best, time.perf_counter() - start)
        size = sum(len(r.value or b"") for r in records.records) / EVENTS
        print(
            f"{make.__name__:20s} {best / EVENTS * 1e6:6.2f} us/event {EVENTS / best:10,.0f} events/s "
            f"({size:.0f} bytes, {len(result.columns)} columns, {len(result.rejected)} rejected)"
        )


if __name__ == "__main__":
    main()
