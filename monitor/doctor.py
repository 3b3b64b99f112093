"""`monitor doctor`: what the mapping makes of the newest messages, and what is wrong, in plain words."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from monitor.clock import SystemClock
from monitor.config import Config
from monitor.events.batch import Columns, Rejected
from monitor.events.decoder import Decoder
from monitor.events.spec import OTHER, UNLABELED, ModelSpec
from monitor.pipeline import decoder, spec
from monitor.proposal import propose
from monitor.records import Partition, Record, RecordBatch
from monitor.sources.probe import Sample, sample
from monitor.wording import printable, utc

_WIDTH = 160


@dataclass(frozen=True, slots=True)
class Reading:
    """One message and what became of it: one event, or a rejection."""

    partition: Partition
    record: Record
    model: str = ""
    version: str = ""
    event: Columns | None = None
    rejected: Rejected | None = None


@dataclass(slots=True)
class Seen:
    """What the sampled events of one model have in common."""

    labels: Counter[str] = field(default_factory=Counter)
    scores: list[float] = field(default_factory=list)
    events: int = 0


def examine(config: Config, messages: int) -> str:
    """Sample the configured topics, without joining the group, and return the findings as text.

    Parameters
    ----------
    config
        The configuration.
    messages
        How many of the newest messages to look at.

    Raises
    ------
    SourceError
        If the brokers or a topic cannot be reached or read.
    """
    kafka = config.kafka
    settings = {**kafka.consumer_settings(), "group_id": kafka.group_id}
    return findings(config, sample(settings, kafka.topics, messages))


def findings(config: Config, sampled: Sample) -> str:
    """Return what there is to say of some records."""
    reads = decoder(config, config.kafka.topics, SystemClock())
    specs = {name: spec(name, model) for name, model in config.models.items()}
    readings = [r for batch in sampled.batches for r in read(reads, batch)]
    seen = collect(readings, specs)
    sections = {
        "Topics": _topics(sampled),
        f"The newest {len(readings)} messages": _messages(readings, specs),
        "Models": _models(seen),
        "What is wrong": list(problems(readings, seen)) or ["Nothing that these messages show."],
        "Proposed configuration": propose(
            [r.record.value for r in readings], config.events.fields.model_dump()
        ),
    }
    return "\n".join(
        f"{title}\n" + "".join(f"  {line}\n" for line in lines) for title, lines in sections.items()
    )


def read(reads: Decoder, batch: RecordBatch) -> Iterator[Reading]:
    """Decode records one by one, so that each keeps its outcome."""
    for record in batch.records:
        decoded = reads.decode([RecordBatch(batch.partition, [record])])
        for rejected in decoded.rejected:
            yield Reading(batch.partition, record, rejected.model, rejected=rejected)
        for (model, version), event in decoded.columns.items():
            yield Reading(batch.partition, record, model, version, event)


def collect(readings: Sequence[Reading], specs: Mapping[str, ModelSpec]) -> dict[str, Seen]:
    """Return class counts and scores by model."""
    seen: defaultdict[str, Seen] = defaultdict(Seen)
    for reading in readings:
        if reading.event is not None:
            model = seen[reading.model]
            model.events += 1
            model.labels[_label(reading.event, _spec(specs, reading.model))] += 1
            model.scores += [float(s) for s in reading.event.score[0] if not np.isnan(s)]
    return dict(seen)


def problems(readings: Sequence[Reading], seen: Mapping[str, Seen]) -> Iterator[str]:
    """Yield what is wrong or looks wrong, most urgent first."""
    if not readings:
        yield "The topics are empty. Check kafka.topics, and whether producers are running."
        return
    reasons = Counter(r.rejected.reason for r in readings if r.rejected is not None)
    for reason, n in reasons.most_common():
        detail = next(r.rejected.detail for r in readings if r.rejected and r.rejected.reason == reason)
        yield f"{n} of {len(readings)} messages are rejected as {reason}: {detail}"
    for name, model in seen.items():
        labels = {label for label in model.labels if label != "(unlabeled)"}
        if not labels:
            yield (
                f"{name}: no message has a label. Metrics need the true class: check events.fields.label, "
                "and whether this topic carries events before their outcome is known."
            )
        elif len(labels) == 1 and model.events >= 10:
            yield (
                f"{name}: every label is {next(iter(labels))}. With one class there is no recall of the "
                "other and no ROC curve: look at more messages (--messages 1000)."
            )
        if not model.scores:
            yield f"{name}: no message has a score; only metrics of decisions can be computed."
        elif len(set(model.scores)) == 1 and model.events >= 10:
            yield f"{name}: every score is {model.scores[0]}: check events.fields.score."


def _topics(sampled: Sample) -> list[str]:
    lines = []
    for partition, span in sorted(sampled.ranges.items()):
        lag = sampled.lag.get(partition)
        lines.append(
            f"{partition.topic}/{partition.partition}: {span.end - span.first} offsets "
            f"({span.first} to {span.end}), {sampled.rates.get(partition, 0.0):.1f} records/s, "
            + ("never read by this group" if lag is None else f"lag of this group {lag}")
        )
    return lines


def _messages(readings: Sequence[Reading], specs: Mapping[str, ModelSpec]) -> list[str]:
    lines = []
    for reading in readings:
        place = f"{reading.partition.topic}/{reading.partition.partition}/{reading.record.offset}"
        lines.append(f"{place}  {_shortened(reading.record.value)}")
        if reading.rejected is not None:
            lines.append(f"    rejected: {reading.rejected.reason}: {reading.rejected.detail}")
        elif reading.event is not None:
            lines.append(f"    {_described(reading, _spec(specs, reading.model))}")
    return lines


def _described(reading: Reading, model: ModelSpec) -> str:
    event = reading.event
    assert event is not None
    decision = "other" if event.decision[0] == OTHER else model.classes[event.decision[0]]
    scores = ", ".join(
        f"p({model.classes[c]})={s:.6g}"
        for c, s in zip(model.scored, event.score[0], strict=True)
        if not np.isnan(s)
    )
    return (
        f"model {reading.model}, version {reading.version or '(none)'}, {utc(int(event.timestamp[0]))}, "
        f"label {_label(event, model)}, decision {decision}, {scores or 'no score'}"
    )


def _models(seen: Mapping[str, Seen]) -> list[str]:
    lines = []
    for name, model in sorted(seen.items()):
        counts = ", ".join(f"{label} {n}" for label, n in model.labels.most_common())
        scores = f"scores {min(model.scores):.6g} to {max(model.scores):.6g}" if model.scores else "no scores"
        lines.append(f"{name}: {model.events} events, labels: {counts}; {scores}")
    return lines or ["No valid event."]


def _label(event: Columns, model: ModelSpec) -> str:
    return "(unlabeled)" if event.label[0] == UNLABELED else model.classes[event.label[0]]


def _spec(specs: Mapping[str, ModelSpec], model: str) -> ModelSpec:
    return specs.get(model) or specs["*"]


def _shortened(value: bytes | None) -> str:
    if value is None:
        return "(no value)"
    text = printable(value[: 4 * _WIDTH].decode(errors="replace"))
    return text if len(text) <= _WIDTH else text[: _WIDTH - 1] + "…"
