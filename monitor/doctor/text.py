"""Records, messages and models of a sample as lines of text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from monitor.doctor.observed import Observed
from monitor.doctor.reading import Reading
from monitor.events.batch import Columns
from monitor.events.spec import OTHER, UNLABELED, ModelSpec
from monitor.sources.probe import Sample
from monitor.wording import message, utc

UNLABELED_TEXT = "(unlabeled)"

MOST_SHOWN = 40
"""Messages; findings stand below them, and must not scroll away."""

_OF_EACH_REASON = 3
_MOST_CLASSES = 10


def topics(sampled: Sample, group: str) -> list[str]:
    """Return offsets, rate and lag of each partition."""
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


def messages(readings: Sequence[Reading], spec_of: dict[str, ModelSpec]) -> list[str]:
    """Return messages beside what was made of them: all, or of many some of each rejection and the last.

    Parameters
    ----------
    readings
        Messages.
    spec_of
        How models are read, by the name in their messages.
    """
    shown = _shown(readings)
    lines = []
    for reading in shown:
        lines.append(f"{reading.place}  {message(reading.record.value)}")
        if reading.rejected is not None:
            lines.append(f"    rejected: {reading.rejected.reason}: {reading.rejected.detail}")
        elif reading.event is not None:
            lines.append(f"    {_described(reading, reading.event, spec_of[reading.model])}")
    if len(shown) < len(readings):
        lines.append(f"(and {len(readings) - len(shown)} more)")
    return lines or ["None."]


def _shown(readings: Sequence[Reading]) -> list[Reading]:
    if len(readings) <= MOST_SHOWN:
        return list(readings)
    of_reason: Counter[str] = Counter()
    chosen = set()
    for i, reading in enumerate(readings):
        if reading.rejected is not None:
            of_reason[reading.rejected.reason] += 1
            if of_reason[reading.rejected.reason] <= _OF_EACH_REASON:
                chosen.add(i)
    for i in range(len(readings) - 1, -1, -1):
        if len(chosen) >= MOST_SHOWN:
            break
        if readings[i].event is not None:
            chosen.add(i)
    return [readings[i] for i in sorted(chosen)]


def models(observed: Sequence[Observed]) -> list[str]:
    """Return how many events, labels and scores of each model there are."""
    return [_summary(seen) for seen in observed if len(seen)] or ["No valid event."]


def _summary(seen: Observed) -> str:
    counts = Counter({name: count for name, count in seen.class_counts.items() if count})
    if missing := len(seen) - int(seen.labeled.sum()):
        counts[UNLABELED_TEXT] = missing
    common = counts.most_common(_MOST_CLASSES)
    labels = ", ".join(f"{label} {n}" for label, n in common)
    labels += f", … ({len(counts)} classes)" if len(common) < len(counts) else ""
    numbers = seen.score[~np.isnan(seen.score)]
    scores = "no scores"
    if len(numbers):
        unscored = len(seen) - int(seen.scored.sum())
        scores = "logits " if seen.spec.raw_logits else "scores "
        scores += f"{numbers.min():.6g} to {numbers.max():.6g}"
        scores += f", {unscored} events without" if unscored else ""
    return f"{seen.name}: {len(seen)} events; labels: {labels or 'none'}; {scores}"


def _described(reading: Reading, event: Columns, model: ModelSpec) -> str:
    return (
        f"model {reading.model}, version {reading.version or '(none)'}, {utc(int(event.timestamp[0]))}, "
        f"label {_label(event, model)}, decision {_decision(event, model)}, "
        f"{', '.join(_scores(event, model)) or 'no score'}"
    )


def _scores(event: Columns, model: ModelSpec) -> Iterator[str]:
    kind = "logit" if model.raw_logits else "p"
    for code, score in zip(model.scored, event.score[0], strict=True):
        if not np.isnan(score):
            yield f"{kind}({model.classes[code]})={score:.6g}"


def _label(event: Columns, model: ModelSpec) -> str:
    label = event.label[0]
    if model.task == "multilabel":
        return UNLABELED_TEXT if label[0] == UNLABELED else _listed(label, model.classes)
    return UNLABELED_TEXT if label == UNLABELED else model.classes[label]


def _decision(event: Columns, model: ModelSpec) -> str:
    decision = event.decision[0]
    if model.task == "multilabel":
        return _listed(decision, (*model.classes, "other"))
    return "other" if decision == OTHER else model.classes[decision]


def _listed(flags: Sequence[int], names: Sequence[str]) -> str:
    return f"[{', '.join(name for name, flag in zip(names, flags, strict=True) if flag == 1)}]"
