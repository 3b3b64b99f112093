"""From a sample of the topics to the text that doctor prints."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from monitor.assembly import decoder, spec
from monitor.clock import SystemClock
from monitor.config import WILDCARD, Config, ModelConfig
from monitor.doctor import text
from monitor.doctor.decisions import check_decisions
from monitor.doctor.finding import Finding, Said, Undecided
from monitor.doctor.labels import check_labels
from monitor.doctor.multilabel import check_multilabel
from monitor.doctor.observed import Observed, observe
from monitor.doctor.reading import Reading, read
from monitor.doctor.scores import check_scores
from monitor.doctor.times import check_times
from monitor.doctor.windows import check_windows
from monitor.events.fields import resolve_fields
from monitor.proposal import propose, seen_paths
from monitor.sources.probe import Sample, sample
from monitor.wording import printable

_READ_BY = ("task", "classes", "labels", "aliases", "scores", "temperature", "threshold")
"""Settings of a model that say how its messages are read."""

_MORE_MESSAGES = (1_000, 10_000)


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
    specs = {name: spec(name, model) for name, model in config.models.items()}
    fields = config.events.fields.model_dump()
    paths = resolve_fields(fields, {key for model in specs.values() for key in model.segments})
    reads = decoder(config, config.kafka.topics, SystemClock())
    readings = list(read(reads, paths, sampled.batches, default_model(config)))
    observed = observe(readings, config.models, specs, fields)
    rate = _rate(readings, sampled)
    said = {
        seen.name: list(diagnose(seen, rate * len(seen) / len(readings), config.limits.held_events))
        for seen in observed
    }
    found = [(name, one) for name, all_said in said.items() for one in all_said if isinstance(one, Finding)]
    sections = {
        "Topics": text.topics(sampled, config.kafka.group_id),
        f"Newest messages ({len(readings)})": text.messages(readings, {s.name: s.spec for s in observed}),
        "Models": text.models(observed),
        "What is wrong": [*_wrong(readings, found)] or ["Nothing that these messages show."],
        "Worth knowing": [*_notes(readings, found)],
        "Too few messages to tell": _undecided(said, len(readings), sampled),
        "Proposed configuration": _proposal(config, readings, observed, found),
    }
    return "\n".join(
        f"{title}\n" + "".join(f"  {printable(line)}\n" for line in lines)
        for title, lines in sections.items()
        if lines
    )


def default_model(config: Config) -> str:
    """Return the model of messages that name none, empty if they are rejected."""
    named = [name for name in config.models if name != WILDCARD]
    return config.events.default_model or (named[0] if len(named) == 1 else "")


def diagnose(seen: Observed, rate: float, held_events: int) -> Said:
    """Yield what is wrong with one model's messages.

    Parameters
    ----------
    seen
        The messages.
    rate
        Events a second, 0 if not known.
    held_events
        Most events that a version holds.
    """
    yield from check_times(seen)
    labels = list(check_labels(seen))
    yield from labels
    if any(isinstance(one, Finding) and (one.replaces or "task" in one.model) for one in labels):
        return  # another task reads scores in another way
    scores = list(check_scores(seen))
    yield from scores
    # What follows rests on labels and scores that are read rightly.
    if _all_well(labels + scores):
        meanings = [*check_multilabel(seen), *check_decisions(seen)]
        yield from meanings
        if _all_well(meanings):
            yield from check_windows(seen, rate or None, held_events)


def _all_well(said: Sequence[Finding | Undecided]) -> bool:
    return not any(isinstance(one, Finding) and one.urgent for one in said)


def _rate(readings: Sequence[Reading], sampled: Sample) -> float:
    """Return records a second: over the last minute, else over the event times of the sample."""
    rate = sum(sampled.rates.values())
    times = [int(reading.event.timestamp[0]) for reading in readings if reading.event is not None]
    span = (max(times) - min(times)) / 1e6 if times else 0.0
    return rate or ((len(readings) - 1) / span if span else 0.0)


def _wrong(readings: Sequence[Reading], found: Sequence[tuple[str, Finding]]) -> Iterator[str]:
    """Yield what is wrong, most urgent first: unread messages, then numbers that mean something else."""
    if not readings:
        yield "The topics are empty. Check kafka.topics, and whether producers are running."
        return
    explained = {(name, reason) for name, one in found for reason in one.explains}
    by_reason: defaultdict[str, list[Reading]] = defaultdict(list)
    for reading in readings:
        if reading.rejected and (reading.model, reading.rejected.reason) not in explained:
            by_reason[reading.rejected.reason].append(reading)
    urgent = [(name, one) for name, one in found if one.urgent]
    for name, one in sorted(urgent, key=lambda item: not item[1].explains):
        yield from _lines(name, one)
    for reason, rejected in sorted(by_reason.items(), key=lambda item: -len(item[1])):
        example = rejected[0]
        assert example.rejected is not None
        yield (
            f"{len(rejected)} of {len(readings)} messages rejected as {reason}, such as {example.place}: "
            f"{example.rejected.detail}"
        )
    if by_reason.keys() & {"missing_field", "wrong_type"} or any(one.unmapped for _, one in urgent):
        yield from _keys(readings)


def _notes(readings: Sequence[Reading], found: Sequence[tuple[str, Finding]]) -> Iterator[str]:
    """Yield what is not wrong, but better known."""
    notes = [(name, one) for name, one in found if not one.urgent]
    for name, one in notes:
        yield from _lines(name, one)
    if any(one.unmapped for _, one in notes):
        yield from _keys(readings)


def _keys(readings: Sequence[Reading]) -> Iterator[str]:
    if paths := seen_paths(r.record.value for r in readings):
        yield f"To map fields with events.fields: messages have {', '.join(paths)}."


def _lines(name: str, one: Finding) -> list[str]:
    return [f"{name}: {one.text}", f"    fix: {one.fix}"]


def _undecided(said: Mapping[str, Sequence[Finding | Undecided]], count: int, sampled: Sample) -> list[str]:
    lines = [
        f"{name}: {'; '.join(questions)}."
        for name, all_said in said.items()
        if (questions := [one.question for one in all_said if isinstance(one, Undecided)])
    ]
    if not lines:
        return []
    available = sum(span.end - span.first for span in sampled.ranges.values())
    more = next((n for n in _MORE_MESSAGES if n > count), None)
    if count >= available or more is None:
        return [*lines, "Look again when the topics hold more."]
    return [*lines, f"Look at more: --messages {more}."]


def _proposal(
    config: Config,
    readings: Sequence[Reading],
    observed: Sequence[Observed],
    found: Sequence[tuple[str, Finding]],
) -> list[str]:
    """Return the lines of a configuration that fits, and what it rests on."""
    changes: defaultdict[str, dict[str, Any]] = defaultdict(dict)
    remapped: dict[str, str] = {}
    for name, one in found:
        changes[name] |= one.model
        remapped |= one.fields
    replaced = {name for name, one in found if one.replaces}
    fitting = {
        seen.name: _entry(seen.config)
        for seen in observed
        if seen.name in config.models and seen.name not in replaced and _labels_fit(seen, changes[seen.name])
    }
    proposal = propose(
        [r.record.value for r in readings],
        config.events.fields.model_dump(),
        fitting,
        default_model(config) or "default",
        changes=changes,
        remapped=remapped,
    )
    return [*proposal.yaml.splitlines(), *(f"# {note}" for note in proposal.notes)]


def _labels_fit(seen: Observed, changes: Mapping[str, Any]) -> bool:
    """Tell whether labels are read, as configured or with the changes."""
    if changes.keys() & {"aliases", "classes", "labels", "task"}:
        return True
    return seen.labels_known and not seen.rejected["wrong_length"]


def _entry(model: ModelConfig) -> dict[str, Any]:
    """Return the settings that say how messages are read, as they are written."""
    written = model.model_dump(include=set(_READ_BY), mode="json", exclude_unset=True)
    positive = {} if model.positive_class is None else {"positive_class": model.positive_class}
    entry = {key: written[key] for key in _READ_BY if key in written}
    return {**{k: entry.pop(k) for k in ("task", "classes")}, **positive, **entry}
