"""The daemon's pipeline over files: event time as in the file, no broker, no schedule."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from monitor.clock import Clock, SystemClock
from monitor.config import Config
from monitor.evaluation import Evaluation
from monitor.events.batch import Rejected
from monitor.pipeline import Pipeline
from monitor.report_json import metric_objects
from monitor.sources.files import FileSource
from monitor.text_report import render_report


class Replay:
    """One pass over files.

    Parameters
    ----------
    config
        The configuration; its `kafka` section is not used.
    paths
        JSON Lines (.gz), CSV or Parquet.
    clock
        For what counts as the future.

    Raises
    ------
    SourceError
        If a file cannot be read.
    """

    def __init__(self, config: Config, paths: Sequence[Path], clock: Clock | None = None) -> None:
        fields = config.events.fields
        texts = [fields.id, fields.model, fields.version]
        texts += [fields.segments] if isinstance(fields.segments, str) else fields.segments.values()
        self._source = FileSource(paths, text_columns=texts)
        self._pipeline = Pipeline(config, [FileSource.TOPIC], clock or SystemClock(), from_files=True)
        self.samples: dict[str, Rejected] = {}
        """One rejected record of each reason."""

    def run(self, progress: Callable[[float], None] = lambda _: None) -> Evaluation:
        """Read everything and evaluate once at the end.

        Parameters
        ----------
        progress
            Told the share that is done, from 0 to 1.
        """
        source, pipeline = self._source, self._pipeline
        while not source.finished:
            batch = pipeline.decode(source.poll(0).batches)
            lagging = frozenset(partition for partition, rows in source.lag().items() if rows > 0)
            pipeline.apply(batch)
            pipeline.advance(lagging)
            source.hold(pipeline.ahead(lagging))
            for rejected in batch.rejected:
                self.samples.setdefault(rejected.reason, rejected)
            progress(source.progress)
        pipeline.advance(frozenset())
        return pipeline.evaluate(pipeline.state.view())

    def counts(self) -> dict[str, Any]:
        """Return how many records were consumed, rejected by reason, unlabeled and late."""
        pipeline = self._pipeline
        rejected: Counter[str] = Counter()
        for (_, reason), n in pipeline.rejected.items():
            rejected[reason] += n
        return {
            "consumed": pipeline.consumed.total(),
            "rejected": dict(rejected),
            "unlabeled": pipeline.state.unlabeled.total(),
            "late": pipeline.state.late.total(),
        }


def replay_object(replay: Replay, evaluation: Evaluation) -> dict[str, Any]:
    """Return the result for machines; alerts are not decided by this version."""
    windows = evaluation.report.windows
    return {
        "events": replay.counts(),
        "metrics": list(itertools.chain.from_iterable(map(metric_objects, windows))),
        "alerts": [],
    }


def summary(replay: Replay, evaluation: Evaluation) -> str:
    """Return the result for people."""
    counts = replay.counts()
    rejected = counts["rejected"]
    lines = [
        f"{counts['consumed']} records, {sum(rejected.values())} rejected, {counts['unlabeled']} unlabeled, "
        f"{counts['late']} late"
    ]
    for reason, n in sorted(rejected.items(), key=lambda item: -item[1]):
        sample = replay.samples[reason]
        lines.append(f"  {n} {reason}, as in row {sample.record.offset}: {sample.detail}")
    if evaluation.report.windows:
        return "\n".join([*lines, "", render_report(evaluation.report)])
    return "\n".join([*lines, "", "No valid event: nothing to report."])
