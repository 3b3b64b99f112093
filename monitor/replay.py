"""The daemon's pipeline over files: event time as in the file, no broker, no schedule."""

from __future__ import annotations

import itertools
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from monitor.actions.desk import Desk
from monitor.alerts.alert import Transition
from monitor.assembly import presets
from monitor.clock import Clock, SystemClock
from monitor.config import Config
from monitor.deciding import at_once
from monitor.evaluation import Evaluation
from monitor.events.batch import EventBatch, Rejected
from monitor.events.position import OFFSET_BITS, OFFSET_MASK
from monitor.pipeline import Pipeline, Snapshot
from monitor.proposal import seen_paths
from monitor.recording import Recording
from monitor.records import Partition, RecordBatch
from monitor.rehearsal import Rehearsal
from monitor.rejections import most_rejected
from monitor.report import Report
from monitor.report_json import metric_objects
from monitor.series import ExportOptions, select_series
from monitor.sources.files import START_MS, FileSource
from monitor.suggested_alerts import suggestions
from monitor.text_report import render_report
from monitor.timeline import ChangePoint, alert_objects, timeline_text
from monitor.wording import message, utc

_FIRST_ROWS = 20

_BASIS = ExportOptions(families=(), segments="none", confusions="all", max_series=sys.maxsize)
"""Everything that is exported of a report but its metrics."""


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
    change_at
        Event time, in microseconds, from which on something is known to be different.
    record
        Whether the pipeline's history is to be filled, which takes a while.

    Attributes
    ----------
    pipeline
        What everything goes through.

    Raises
    ------
    SourceError
        If a file cannot be read.
    """

    def __init__(
        self,
        config: Config,
        paths: Sequence[Path],
        clock: Clock | None = None,
        change_at: int | None = None,
        record: bool = False,
    ) -> None:
        fields = config.events.fields
        texts = [fields.id, fields.model, fields.version]
        texts += [fields.segments] if isinstance(fields.segments, str) else fields.segments.values()
        self._config = config
        self._paths = paths
        self._source = FileSource(paths, text_columns=texts)
        self.pipeline = Pipeline(config, [FileSource.TOPIC], clock or SystemClock(), from_files=True)
        self._progress: Callable[[float], None] = lambda _: None
        self._change_at = change_at
        self._rehearsal = Rehearsal(config, self.pipeline, self._look)
        self._recording = Recording(self.pipeline) if record else None
        self._undated = 0
        self.change: ChangePoint | None = None
        """The first event since `change_at`, once it was read."""
        self.samples: dict[str, Rejected] = {}
        """One rejected record of each reason."""
        self.retired: list[tuple[str, str]] = []
        """Models and versions without an event for so long that they are not in the report."""
        self.first_rows: list[bytes | None] = []
        """What the files begin with."""

    def run(self, progress: Callable[[float], None] = lambda _: None) -> Evaluation:
        """Read everything and evaluate once at the end.

        Parameters
        ----------
        progress
            Told the share that is done, from 0 to 1.
        """
        self._progress = progress
        source, pipeline, recording = self._source, self.pipeline, self._recording
        while not source.finished:
            batches = source.poll(0).batches
            if not self.first_rows:
                self.first_rows = [r.value for records in batches for r in records.records[:_FIRST_ROWS]]
            lagging = frozenset(partition for partition, rows in source.lag().items() if rows > 0)
            if recording is None:
                self._take_in(batches, lagging)
            else:
                for piece, pending in recording.pieces(batches):
                    self._take_in(piece, lagging | pending)
                    recording.look(sum(len(batch.records) for batch in piece))
            source.hold(pipeline.ahead(lagging))
            self._tell()
        self._retire(pipeline.advance(frozenset()))
        pipeline.state.clocks.end()  # files end: there is no event that might come late
        self._rehearsal.turn()
        self._tell()
        evaluation = pipeline.evaluate(pipeline.snapshot())
        if recording is not None:
            pipeline.history.add(evaluation.report)
        return evaluation

    def _take_in(self, batches: Sequence[RecordBatch], lagging: frozenset[Partition]) -> None:
        batch = self.pipeline.decode(batches)
        self._note_change(batch)
        self._undated += _undated(batch)
        self.pipeline.apply(batch)
        self._retire(self.pipeline.advance(lagging))
        self._rehearsal.turn()
        for rejected in batch.rejected:
            self.samples.setdefault(rejected.reason, rejected)

    def _look(self, evaluate: Callable[[], Evaluation]) -> Future[Evaluation]:
        """Evaluate windows for alerts: of sparse events that takes longer than to read them."""
        self._tell()
        return at_once(evaluate)

    def _tell(self) -> None:
        """Tell the share of the files that was read and, where there are rules, decided about."""
        read, alerting = self.pipeline.consumed.total(), self.pipeline.alerting
        waiting = 0 if alerting is None else alerting.waiting
        self._progress(self._source.progress * (1 - waiting / max(read, 1)))

    def _retire(self, gone: Snapshot) -> None:
        self.retired += [(version.model, version.version) for version in gone.view.versions]

    def _note_change(self, batch: EventBatch) -> None:
        """Keep the first event of those that are behind the change."""
        if self._change_at is None:
            return
        for columns in batch.columns.values():
            since = columns.position[columns.timestamp >= self._change_at]
            if len(since):
                number = self.number(int(since.min()))
                if self.change is None or number < self.change.event:
                    self.change = ChangePoint(self._change_at, number)

    def number(self, position: int) -> int:
        """Return the number of an event in all files together, from 0, given its place."""
        file = self.pipeline.decoder.positions.partition(position >> OFFSET_BITS).partition
        before = (rows for (_, f), rows in self.pipeline.state.next_offsets.items() if f < file)
        return sum(before) + (position & OFFSET_MASK)

    @property
    def desk(self) -> Desk | None:
        """What decides about actions; None where none is configured."""
        return self._rehearsal.desk

    @property
    def transitions(self) -> Sequence[Transition]:
        """What happened to alerts, in the order of event time."""
        return self._rehearsal.transitions

    def alerts(self) -> list[dict[str, Any]]:
        """Return what happened to alerts, for machines."""
        return alert_objects(self.transitions, lambda moment: self.number(moment.position))

    def actions(self) -> list[dict[str, Any]]:
        """Return what would have been done, for machines."""
        return self._rehearsal.actions()

    def timeline(self) -> str:
        """Return what happened to alerts, for people; empty without a rule."""
        if self.pipeline.alerting is None:
            return ""
        return (
            timeline_text(
                self.transitions,
                lambda moment: self.number(moment.position),
                self.change,
                self._rehearsal.rates(),
            )
            + self._rehearsal.text()
        )

    def remarks(self) -> Iterator[str]:
        """Yield what makes less of the result than was asked for."""
        if self._undated:
            yield (
                f"{self._undated} rows have no timestamp (events.fields.timestamp), so they count as of "
                "2000-01-01: windows by time and timelines mean nothing."
            )
        if self._change_at is None:
            return
        if self.pipeline.alerting is None:
            yield "--change-at: no alert is configured (alerts.rules), so there is no delay to tell."
        elif self.change is None:
            yield f"--change-at: no event since {utc(self._change_at)}, so there is no delay to tell."

    def problem(self) -> str | None:
        """Return what is wrong with most of the rows, None while most are valid events."""
        counts = self.counts()
        details = {reason: sample.detail for reason, sample in self.samples.items()}
        found = most_rejected("rows", counts["consumed"], Counter(counts["rejected"]), details)
        return found and f"{found}. All numbers are of the other rows alone."

    def ending(self, report: Report) -> Iterator[str]:
        """Yield what to do next: mend what is wrong, or begin with rules where none is configured."""
        if problem := self.problem():
            yield problem
        elif not self._config.alerts.rules:
            yield from suggestions(report, presets(self._config))

    def example(self, reason: str) -> str:
        """Say why rows were rejected, by one of them: its file and row, and what is wrong there."""
        sample = self.samples[reason]
        place = f"{self._paths[sample.partition.partition]}, row {sample.record.offset} (from 0)"
        return f"{reason}, such as {place}: {sample.detail}"

    def counts(self) -> dict[str, Any]:
        """Return how many records were consumed, rejected by reason, unlabeled and late."""
        pipeline = self.pipeline
        rejected: Counter[str] = Counter()
        for (_, reason), n in pipeline.rejected.items():
            rejected[reason] += n
        return {
            "consumed": pipeline.consumed.total(),
            "rejected": dict(rejected),
            "unlabeled": pipeline.state.unlabeled.total(),
            "late": pipeline.state.late.total(),
        }


def _undated(batch: EventBatch) -> int:
    """Count events that have the time of their row, for want of their own."""
    columns = batch.columns.values()
    return sum(int((c.timestamp == (START_MS + (c.position & OFFSET_MASK)) * 1000).sum()) for c in columns)


def replay_object(replay: Replay, evaluation: Evaluation) -> dict[str, Any]:
    """Return the result for machines."""
    report = evaluation.report
    return {
        "events": replay.counts(),
        "metrics": [*_basis(report), *itertools.chain.from_iterable(map(metric_objects, report.windows))],
        "alerts": replay.alerts(),
        "actions": replay.actions(),
    }


def _basis(report: Report) -> Iterator[dict[str, Any]]:
    """Yield what is exported beside the metrics: extents of windows, counts and times of versions."""
    events = {(w.model, w.version, w.window): w.events for w in report.windows if not w.segment}
    labeled = {(v.model, v.version): v.labeled_events for v in report.versions}
    for family, labels, value in select_series(report, (), _BASIS)[0]:
        version = labels["model"], labels["version"]
        window = labels.get("window")
        yield {
            "name": family,
            "labels": dict(labels),
            "value": value,
            "numerator": None,
            "denominator": None,
            "support": labeled[version] if window is None else events[*version, window],
            "intervals": [],
        }


def summary(replay: Replay, evaluation: Evaluation) -> str:
    """Return the result for people."""
    counts, windows = replay.counts(), evaluation.report.windows
    rejected = counts["rejected"]
    lines = [
        f"{counts['consumed']} records: {sum(rejected.values())} rejected, {counts['unlabeled']} unlabeled, "
        f"{counts['late']} late"
    ]
    for reason, n in sorted(rejected.items(), key=lambda item: -item[1]):
        lines.append(f"  {n} {replay.example(reason)}")
        lines.append(f"      {message(replay.samples[reason].record.value)}")
    if replay.retired:
        names = ", ".join(f"{model} {version or '(none)'}" for model, version in replay.retired)
        lines.append(
            f"Not in this report, without an event for limits.retire_after: {message(names.encode())}"
        )
    lines += replay.remarks()
    if timeline := replay.timeline():
        lines += ["", timeline.rstrip("\n")]
    if not windows:
        return "\n".join(lines)
    return "\n".join([*lines, "", render_report(evaluation.report), *replay.ending(evaluation.report)])


def nothing_to_report(replay: Replay, evaluation: Evaluation) -> str | None:
    """Return why there never was a metric and what to do, None where there was one."""
    counts, windows = replay.counts(), evaluation.report.windows
    if counts["consumed"] > sum(counts["rejected"].values()) + counts["unlabeled"]:
        return None
    if not counts["consumed"]:
        return "no row in the files: nothing to report; name files that have rows"
    found = "no event has a label: metrics need the true class; check events.fields.label"
    if not windows:
        found = "no valid event: nothing to report"
    for reason, n in Counter(counts["rejected"]).most_common(1):
        found += f"; {n} of {counts['consumed']} rows are {replay.example(reason)}"
    paths = seen_paths(replay.first_rows)
    return f"{found}; to map fields with events.fields: the rows have {', '.join(paths)}" if paths else found
