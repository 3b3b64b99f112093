"""Windows with curves of every task, from events of known models."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from monitor.clock import ManualClock
from monitor.config import load_config
from monitor.pipeline import Pipeline
from monitor.report import WindowReport
from tests.support.records import RECORD_MS, batch
from tests.support.samples import binary, multiclass, multilabel

CONFIGURATION = """
kafka: {bootstrap_servers: [b], topics: [t]}
models:
  fraud: {task: binary, classes: [legit, fraud], costs: {false_negative: 20, false_positive: 1}}
  plain: {task: binary, classes: [legit, fraud]}
  iris: {task: multiclass, classes: [a, b, c]}
  tags: {task: multilabel, classes: [x, y, z]}
"""


def window_of(model: str, events: list[dict[str, Any]]) -> WindowReport:
    """Return the window over these events of one of the models above."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "monitor.yaml"
        path.write_text(CONFIGURATION)
        pipeline = Pipeline(load_config(path, {}), ["t"], ManualClock(RECORD_MS * 1000))
    start = RECORD_MS / 1000 - 3600
    named = {"model": model, "version": "1"}
    values = [{**named, "timestamp": start + place / 100, **event} for place, event in enumerate(events)]
    pipeline.apply(pipeline.decode([batch(values)]))
    return pipeline.evaluate(pipeline.snapshot()).report.select(model=model, window="all")[0]


@cache
def drawn(task: str) -> WindowReport:
    """Return a window of 3000 events: binary (with costs), plain (without), multiclass or multilabel."""
    if task == "multiclass":
        return window_of("iris", multiclass(3000))
    if task == "multilabel":
        return window_of("tags", multilabel(3000))
    return window_of({"binary": "fraud", "plain": "plain"}[task], binary(3000, intercept=-3.0))
