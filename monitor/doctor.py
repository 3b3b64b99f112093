"""`monitor doctor`: what the mapping makes of the newest messages, and what is wrong, in plain words."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from monitor.clock import SystemClock
from monitor.config import WILDCARD, Config
from monitor.events.batch import Columns, Rejected
from monitor.events.decoder import Decoder
from monitor.events.spec import OTHER, UNLABELED, ModelSpec
from monitor.pipeline import decoder, spec
from monitor.proposal import propose, seen_paths
from monitor.records import Partition, Record, RecordBatch
from monitor.sources.probe import Sample, sample
from monitor.wording import message, printable, utc

UNLABELED_TEXT = "(unlabeled)"

_ENOUGH = 10
"""Events, from which on it is odd that all have the same score."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One message and what became of it: one event, or a rejection."""

    partition: Partition
    record: Record
    model: str = ""
    version: str = ""
    event: Columns | None = None
    rejected: Rejected | None = None

    @property
    def place(self) -> str:
        """Topic, partition and offset."""
        return f"{self.partition.topic}/{self.partition.partition}/{self.record.offset}"


@dataclass(slots=True)
class Seen:
    """What the sampled events of one model have in common."""

    labels: Counter[str] = field(default_factory=Counter)
    scores: list[float] = field(default_factory=list)
    unscored: int = 0
    events: int = 0

    @property
    def labeled(self) -> int:
        """How many events have a label."""
        return self.events - self.labels[UNLABELED_TEXT]


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
        "Topics": _topics(sampled, config.kafka.group_id),
        f"Newest messages ({len(readings)})": _messages(readings, specs) or ["None."],
        "Models": _models(seen),
        "What is wrong": list(problems(readings, seen, config.events.fields.model_dump()))
        or ["Nothing that these messages show."],
        "Proposed configuration": _proposal(config, readings, seen),
    }
    return "\n".join(
        f"{title}\n" + "".join(f"  {printable(line)}\n" for line in lines)
        for title, lines in sections.items()
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
            scores = [float(s) for s in reading.event.score[0] if not np.isnan(s)]
            model.scores += scores
            model.unscored += not scores
    return dict(seen)


def problems(
    readings: Sequence[Reading], seen: Mapping[str, Seen], fields: Mapping[str, Any]
) -> Iterator[str]:
    """Yield what is wrong or looks wrong, most urgent first."""
    if not readings:
        yield "The topics are empty. Check kafka.topics, and whether producers are running."
        return
    by_reason: defaultdict[str, list[Reading]] = defaultdict(list)
    for reading in readings:
        if reading.rejected is not None:
            by_reason[reading.rejected.reason].append(reading)
    for reason, rejected in sorted(by_reason.items(), key=lambda item: -len(item[1])):
        example = rejected[0]
        assert example.rejected is not None
        yield (
            f"{len(rejected)} of {len(readings)} messages rejected as {reason}, such as {example.place}: "
            f"{example.rejected.detail}"
        )
    unmapped = bool(by_reason.keys() & {"missing_field", "wrong_type"})
    for name, model in seen.items():
        found = list(_problems_of(name, model, fields))
        unmapped |= not (model.labeled and model.scores)
        yield from found
    if unmapped and (paths := seen_paths(r.record.value for r in readings)):
        yield f"To map fields with events.fields: messages have {', '.join(paths)}."


def _problems_of(name: str, model: Seen, fields: Mapping[str, Any]) -> Iterator[str]:
    if not model.labeled:
        yield (
            f"{name}: no message has a label at {_path(fields, 'label')}. Metrics need the true class: check "
            "events.fields.label, and whether this topic carries events before their outcome is known."
        )
    elif len(model.labels) - (UNLABELED_TEXT in model.labels) == 1:
        only = next(label for label in model.labels if label != UNLABELED_TEXT)
        yield (
            f"{name}: every label is {only}. With one class there is no recall of the other and no ROC "
            "curve: if the other is rare, look at more messages (--messages 1000)."
        )
    if not model.scores:
        yield (
            f"{name}: no message has a score at {_path(fields, 'score')} or scores at "
            f"{_path(fields, 'scores')}; only metrics of decisions can be computed."
        )
    elif len(set(model.scores)) == 1 and model.events >= _ENOUGH:
        yield f"{name}: every score is {model.scores[0]:.6g}: check events.fields.score."


def _path(fields: Mapping[str, Any], name: str) -> str:
    where = fields[name]
    return where if isinstance(where, str) else ", ".join(where.values())


def _proposal(config: Config, readings: Sequence[Reading], seen: Mapping[str, Seen]) -> list[str]:
    """Return the lines of a configuration that fits, and what it rests on."""
    misread = {
        r.rejected.model
        for r in readings
        if r.rejected and r.rejected.reason in ("unknown_label", "wrong_length")
    }
    fitting = {
        name: model.model_dump(include={"task", "classes", "positive_class"}, mode="json", exclude_none=True)
        for name, model in config.models.items()
        if name in seen and seen[name].labeled and name not in misread
    }
    named = [name for name in config.models if name != WILDCARD]
    only = named[0] if len(named) == 1 else "default"
    text, notes = propose(
        [r.record.value for r in readings],
        config.events.fields.model_dump(),
        fitting,
        config.events.default_model or only,
    )
    return [*text.splitlines(), *(f"# {note}" for note in notes)]


def _topics(sampled: Sample, group: str) -> list[str]:
    lines = []
    for partition, span in sorted(sampled.ranges.items()):
        lag = sampled.lag.get(partition)
        lines.append(
            f"{partition.topic}/{partition.partition}: {span.end - span.first} offsets "
            f"({span.first} to {span.end}), {sampled.rates.get(partition, 0.0):.1f} records/s, "
            + ("never committed" if lag is None else f"lag {lag}")
        )
    return [
        *lines,
        f"(lag: behind what the group {group!r} has committed, which the daemon does now and then)",
    ]


def _messages(readings: Sequence[Reading], specs: Mapping[str, ModelSpec]) -> list[str]:
    lines = []
    for reading in readings:
        lines.append(f"{reading.place}  {message(reading.record.value)}")
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
        if model.scores:
            scores = f"scores {min(model.scores):.6g} to {max(model.scores):.6g}"
            scores += f", {model.unscored} events without" if model.unscored else ""
        else:
            scores = "no scores"
        lines.append(f"{name}: {model.events} events; labels: {counts}; {scores}")
    return lines or ["No valid event."]


def _label(event: Columns, model: ModelSpec) -> str:
    return UNLABELED_TEXT if event.label[0] == UNLABELED else model.classes[event.label[0]]


def _spec(specs: Mapping[str, ModelSpec], model: str) -> ModelSpec:
    return specs.get(model) or specs["*"]
