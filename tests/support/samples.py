"""Samples of topics for tests of doctor: healthy traffic of each task, and what doctor says of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from monitor.config import Config, load_config
from monitor.doctor import findings
from monitor.records import Partition, RecordBatch
from monitor.sources.positions import Range
from monitor.sources.probe import Sample
from tests.support.records import RECORD_MS, raw

CONFIG = """
kafka: {{bootstrap_servers: [b], topics: [t]}}
models: {models}
{rest}
"""
WINDOWS = "windows: [{name: last_10k, events: 10000}]"
FRAUD = f"{{fraud: {{task: binary, classes: [legit, fraud], {WINDOWS}}}}}"
IRIS = f"{{iris: {{task: multiclass, classes: [a, b, c], {WINDOWS}}}}}"
TAGS = f"{{tags: {{task: multilabel, classes: [x, y, z], {WINDOWS}}}}}"

Message = dict[str, Any]


def configured(folder: Path, models: str = FRAUD, rest: str = "") -> Config:
    path = folder / "monitor.yaml"
    path.write_text(CONFIG.format(models=models, rest=rest))
    return load_config(path, {})


def sampled(*messages: Any, lag: int | None = None, rate: float = 1.25, more: int = 4) -> Sample:
    values = [m if isinstance(m, bytes) or m is None else json.dumps(m).encode() for m in messages]
    partition = Partition("t", 0)
    records = [raw(7 + i, value, RECORD_MS + 1000 * i) for i, value in enumerate(values)]
    return Sample(
        batches=[RecordBatch(partition, records)] if values else [],
        ranges={partition: Range(7 - more, 7 + len(values))},
        rates={partition: rate},
        lag={} if lag is None else {partition: lag},
    )


def sections(text: str) -> dict[str, list[str]]:
    """Return the indented lines by the title above them."""
    found: dict[str, list[str]] = {}
    title = ""
    for line in text.splitlines():
        if line.startswith("  "):
            found[title].append(line[2:])
        elif line:
            title = line
            found[title] = []
    return found


def said(config: Config, messages: list[Any], **options: Any) -> dict[str, list[str]]:
    """Return what doctor says of messages, by section."""
    return sections(findings(config, sampled(*messages, **options)))


def softmax(z: np.ndarray) -> np.ndarray:
    weight = np.exp(z - z.max(axis=1, keepdims=True))
    return weight / weight.sum(axis=1, keepdims=True)


def sigmoid(z: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-z))


def binary(n: int, seed: int = 0, intercept: float = 0.0, slope: float = 3.0) -> list[Message]:
    """Return events of a calibrated model; `logit` is carried beside, and not read."""
    rng = np.random.default_rng(seed)
    z = intercept + slope * rng.normal(size=n)
    p = sigmoid(z)
    fraud = rng.random(n) < p
    return [
        {"label": "fraud" if f else "legit", "score": float(s), "logit": float(x)}
        for f, s, x in zip(fraud, p, z, strict=True)
    ]


def multiclass(n: int, seed: int = 0, slope: float = 4.0, classes: str = "abc") -> list[Message]:
    rng = np.random.default_rng(seed)
    z = slope * rng.normal(size=(n, len(classes)))
    p = softmax(z)
    true = [rng.choice(len(classes), p=row) for row in p]
    return [
        {"label": classes[t], "scores": row.tolist(), "logits": x.tolist()}
        for t, row, x in zip(true, p, z, strict=True)
    ]


def multilabel(n: int, seed: int = 0, slope: float = 3.0, classes: str = "xyz") -> list[Message]:
    rng = np.random.default_rng(seed)
    z = slope * rng.normal(size=(n, len(classes))) - 1
    p = sigmoid(z)
    true = rng.random(p.shape) < p
    return [
        {
            "label": [c for c, t in zip(classes, row, strict=True) if t],
            "scores": s.tolist(),
            "logits": x.tolist(),
        }
        for row, s, x in zip(true, p, z, strict=True)
    ]


def replaced(messages: list[Message], field: str, values: list[Any]) -> list[Message]:
    return [{**message, field: value} for message, value in zip(messages, values, strict=True)]
