"""Pipelines of all tasks with random events, and what they remember for comparison to the bit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from monitor.checkpoint.format import decode, encode
from monitor.checkpoint.tree import Tree
from monitor.clock import ManualClock
from monitor.config import Config
from monitor.memory.cut import cut
from monitor.memory.restore import Past, restore
from monitor.pipeline import Pipeline
from monitor.records import Partition, RecordBatch
from monitor.state.columns import COLUMN_NAMES
from monitor.state.store import VersionView
from tests.support.records import RECORD_MS, batch

NOW = RECORD_MS * 1000
START = RECORD_MS / 1000 - 10_000
"""Event time, in seconds, that events begin at."""

WINDOWS = ({"name": "last_7", "events": 7}, {"name": "1m", "duration": "1m"})
MODELS: dict[str, dict[str, Any]] = {
    "one": {
        "task": "binary",
        "classes": ["legit", "fraud"],
        "windows": [*WINDOWS, {"name": "3_positives", "positives": 3}],
        "segments": ["region", "shop"],
        "label_maturity": "5s",
    },
    "several": {
        "task": "multiclass",
        "classes": ["a", "b", "c"],
        "top_k": [2],
        "windows": list(WINDOWS),
        "segments": ["region"],
    },
    "sets": {
        "task": "multilabel",
        "classes": ["a", "b", "c"],
        "scores": "logit",
        "temperature": 2.0,
        "windows": list(WINDOWS),
    },
    "*": {"task": "binary", "classes": ["legit", "fraud"], "windows": list(WINDOWS), "segments": ["region"]},
}
LIMITS = {"versions_per_model": 3, "models": 5, "segment_values": 3, "held_events": 8, "retire_after": "5m"}


def configured(
    models: Mapping[str, Any] = MODELS, /, *, topics: Iterable[str] = ("t",), **limits: Any
) -> Config:
    return Config.model_validate(
        {
            "kafka": {"bootstrap_servers": ["localhost:9092"], "topics": list(topics)},
            "models": dict(models),
            "limits": LIMITS | limits,
            "events": {"allowed_lateness": "10s"},
            "evaluation": {"device": "cpu"},
        }
    )


def started(config: Config) -> Pipeline:
    return Pipeline(config, config.kafka.topics, ManualClock(NOW))


class Traffic:
    """Random events of the models in partitions of their own, at times that grow a little.

    Attributes
    ----------
    time
        Seconds since `START`.
    """

    def __init__(self, seed: int, topics: Iterable[str] = ("t",), partitions: int = 2) -> None:
        self.time = 0.0
        self._rng = np.random.default_rng(seed)
        self._next = {Partition(topic, p): 0 for topic in topics for p in range(partitions)}

    def poll(self, count: int, **fixed: Any) -> list[RecordBatch]:
        """Return so many events for each partition; fields that are given are the same in all."""
        batches = []
        for partition, first in self._next.items():
            values = [b"bad" if self._chance(0.03) else self._event(fixed) for _ in range(count)]
            batches.append(RecordBatch(partition, batch(values, first).records))
            self._next[partition] += count
        return [b for b in batches if b.records]

    def rubbish(self, partition: Partition) -> list[RecordBatch]:
        """Return a record that is no event."""
        self._next[partition] += 1
        return [RecordBatch(partition, batch([b"bad"], self._next[partition] - 1).records)]

    def _event(self, fixed: Mapping[str, Any]) -> dict[str, Any]:
        self.time += self._rng.exponential(2.0)
        late = 40 if self._chance(0.1) else 0
        model = fixed.get("model") or self._one_of("one", "several", "sets", "else", "other")
        event = {
            "model": model,
            "version": self._one_of("1", "2"),
            "timestamp": round(START + self.time - late, 3),
            "segments": {
                "region": self._one_of("eu", "us", "cn", "jp", None),
                "shop": int(self._rng.integers(3)),
            },
            **_ANSWERS.get(model, _binary)(self._rng),
            **fixed,
        }
        if self._chance(0.2):
            event["label"] = None
        return event

    def _chance(self, share: float) -> bool:
        return bool(self._rng.random() < share)

    def _one_of(self, *choices: Any) -> Any:
        return choices[self._rng.integers(len(choices))]


def _binary(rng: np.random.Generator) -> dict[str, Any]:
    return {"label": int(rng.integers(2)), "score": round(rng.random(), 2)}


def _multiclass(rng: np.random.Generator) -> dict[str, Any]:
    scores = rng.dirichlet(np.ones(3)).round(6).tolist()
    return {
        "label": int(rng.integers(3)),
        "scores": scores,
        "prediction": None if rng.random() < 0.5 else "b",
    }


def _multilabel(rng: np.random.Generator) -> dict[str, Any]:
    return {"label": [c for c in "abc" if rng.random() < 0.4], "scores": rng.normal(size=3).round(1).tolist()}


_ANSWERS: dict[str, Callable[[np.random.Generator], dict[str, Any]]] = {
    "several": _multiclass,
    "sets": _multilabel,
}


def consume(pipeline: Pipeline, batches: Iterable[RecordBatch]) -> None:
    pipeline.apply(pipeline.decode(list(batches)))


def settle(pipeline: Pipeline, chosen: Callable[[VersionView], bool] = lambda _: True) -> None:
    """Add what waits to some versions, as an evaluation does."""
    for view in filter(chosen, pipeline.state.view().versions):
        pipeline.state.adopt(view, view.settle(pipeline.state.clocks.watermark or 0))


def evaluated(pipeline: Pipeline) -> None:
    """Add a report to the history, as an evaluation does."""
    pipeline.history.add(pipeline.evaluate(pipeline.snapshot()).report)


def tree_of(pipeline: Pipeline) -> Tree:
    return cut(pipeline, {"t": "an-id"}).tree()


def through_a_file(tree: Tree) -> Tree:
    return decode(b"".join(encode(tree)))


def restored(pipeline: Pipeline, config: Config) -> Past:
    return restore(through_a_file(tree_of(pipeline)), config, ManualClock(NOW))


def remembered(pipeline: Pipeline) -> dict[str, Any]:
    """Return everything but the history, which goes with evaluations, to the bit, in an order of its own."""
    tree = tree_of(pipeline)
    del tree["history"]
    del tree["versions"]
    del tree["caught_up"]  # about partitions, which are to be asked for again
    for part in (tree, tree["clocks"]):
        part |= {key: sorted(rows) for key, rows in part.items() if isinstance(rows, list)}
    versions = {(v.model, v.version): to_the_bit(v) for v in pipeline.state.view().versions}
    return {
        **tree,
        "versions": versions,
        "limits": pipeline.limits_reached(),
    }


def to_the_bit(view: VersionView) -> dict[str, Any]:
    """Return all that a version is; what waits apart from what is settled."""
    base = view.base
    tensors = {
        **{f"held {name}": getattr(base.held, name) for name in COLUMN_NAMES},
        **{f"count {i}": tensor for i, tensor in enumerate(base.counts.tensors())},
        **{f"histogram {name}": getattr(base.histogram, name) for name in ("key", "count", "shift")},
    }
    arrays = {name: tensor.cpu().numpy() for name, tensor in tensors.items()}
    arrays |= {f"waiting {name}": getattr(view.waiting, name) for name in COLUMN_NAMES}
    return {
        **{name: (array.dtype.str, array.shape, array.tobytes()) for name, array in arrays.items()},
        "groups": base.groups,
        "plan": base.plan,
        "rest": (
            base.dropped_until,
            base.over_limit,
            view.last_event,
            view.since,
            view.labeled,
            view.unlabeled,
        ),
    }
