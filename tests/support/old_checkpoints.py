"""Makes the checkpoints in tests/data/checkpoints: files that versions to come must be able to read.

Run as `python -m tests.support.old_checkpoints` once, before a minor version comes out; what is there stays.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from monitor import __version__
from monitor.checkpoint.format import encode
from monitor.config import Config
from monitor.memory.cut import cut
from monitor.pipeline import Pipeline
from tests.support.pasts import Traffic, configured, consume, settle, started

FOLDER = Path(__file__).parents[1] / "data" / "checkpoints"

MODELS: dict[str, Any] = {
    "one": {
        "task": "binary",
        "classes": ["legit", "fraud"],
        "windows": [{"name": "last_20", "events": 20}, {"name": "30m", "duration": "30m"}],
        "segments": ["region"],
    },
    "several": {
        "task": "multiclass",
        "classes": ["a", "b", "c"],
        "top_k": [2],
        "windows": [{"name": "last_20", "events": 20}],
        "label_maturity": "30s",
    },
    "sets": {"task": "multilabel", "classes": ["a", "b", "c"], "scores": "logit", "windows": []},
}


def config() -> Config:
    return configured(MODELS, held_events=100, segment_values=1)


def example() -> Pipeline:
    """Return a pipeline with settled, waiting, retired and rejected events."""
    pipeline, traffic = started(config()), Traffic(2)
    consume(pipeline, traffic.poll(10, model="one", version="old"))
    traffic.time += 600
    consume(pipeline, traffic.poll(90))
    pipeline.advance(())
    settle(pipeline)
    consume(pipeline, traffic.poll(20))
    pipeline.advance(())
    return pipeline


def numbers(pipeline: Pipeline) -> dict[str, Any]:
    """Return counts that every version must find in the file, however metrics change."""
    report = pipeline.evaluate(pipeline.snapshot()).report
    state = pipeline.state
    return {
        "next_offsets": {f"{p.topic}/{p.partition}": offset for p, offset in state.next_offsets.items()},
        "frontier": state.clocks.frontier,
        "consumed": dict(pipeline.consumed),
        "rejected": sorted([*key, n] for key, n in pipeline.rejected.items()),
        "late": dict(state.late),
        "unlabeled": dict(state.unlabeled),
        "limits_reached": dict(pipeline.limits_reached()),
        "versions": [
            [v.model, v.version, v.last_event, v.since, v.labeled_events, v.unlabeled_events]
            for v in report.versions
        ],
        "windows": [
            [w.model, w.version, w.window, w.segment, w.complete, w.start, w.end, w.events, w.confusions]
            for w in report.windows
        ],
    }


def main() -> None:
    """Write a checkpoint of this version, and the numbers in it."""
    folder = FOLDER / ".".join(__version__.split(".")[:2])
    folder.mkdir(parents=True)
    pipeline = example()
    (folder / "checkpoint").write_bytes(b"".join(encode(cut(pipeline, {"t": "an-id"}).tree())))
    (folder / "numbers.json").write_text(json.dumps(numbers(pipeline)) + "\n")


if __name__ == "__main__":
    main()
