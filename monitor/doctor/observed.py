"""What the sampled messages of one model have in common, as sent and as read."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from monitor.config import ModelConfig
from monitor.doctor.evidence import Mask, sigmoid
from monitor.doctor.reading import Reading
from monitor.events.classes import class_codes
from monitor.events.spec import UNLABELED, ModelSpec


@dataclass(frozen=True, slots=True)
class Observed:
    """m messages of a model, of which n are valid events; S scored classes, C classes.

    Attributes
    ----------
    name
        The model's name.
    config
        Its entry in the configuration.
    spec
        The same for decoding.
    fields
        Canonical name to the path, or the paths, that are read.
    sent
        Fields of the m messages as they were sent, None where absent.
    record_us : int64, shape (m,)
        Time of their records in microseconds, negative where there is none.
    rejected
        Rejected messages by reason.
    timestamp : int64, shape (n,)
        Microseconds.
    label, decision
        As in `monitor.events.batch.Columns`.
    score : float32, shape (n, S)
        As in `Columns`.
    predicted : bool, shape (n,)
        Whether the decision was sent.
    """

    name: str
    config: ModelConfig
    spec: ModelSpec
    fields: Mapping[str, Any]
    sent: Sequence[Mapping[str, Any]]
    record_us: NDArray[np.int64]
    rejected: Counter[str]
    timestamp: NDArray[np.int64]
    label: NDArray[np.integer[Any]]
    decision: NDArray[np.integer[Any]]
    score: NDArray[np.float32]
    predicted: Mask

    def __len__(self) -> int:
        """Return the number of valid events."""
        return len(self.timestamp)

    @property
    def labeled(self) -> Mask:
        """Which events have a label, shape (n,)."""
        known = self.label != UNLABELED
        return np.asarray(known if known.ndim == 1 else known.all(axis=1))

    @property
    def scored(self) -> Mask:
        """Which events have a score, shape (n,)."""
        return ~np.isnan(self.score[:, 0])

    @property
    def probability(self) -> NDArray[np.float64]:
        """Scores as probabilities, shape (n, S)."""
        if self.spec.raw_logits:
            return sigmoid(self.score / np.float32(self.spec.temperature))
        return self.score.astype(np.float64)

    @property
    def true(self) -> Mask:
        """Whether each scored class is true, shape (n, S); False where there is no label."""
        true: Mask = (
            self.label == 1
            if self.spec.task == "multilabel"
            else self.label[:, None] == np.array(self.spec.scored)
        )
        return true

    @property
    def class_counts(self) -> dict[str, int]:
        """Labeled events of each class."""
        if self.spec.task == "multilabel":
            counts = (self.label == 1).sum(axis=0)
        else:
            counts = np.bincount(self.label[self.labeled], minlength=len(self.spec.classes))
        return dict(zip(self.spec.classes, counts.tolist(), strict=True))

    @property
    def labels_known(self) -> bool:
        """Whether there are labels, and each is a spelling of a class, also in messages that are rejected."""
        codes = class_codes(self.spec)
        labels = self.column("label")
        elements = [e for value in labels for e in (value if isinstance(value, list) else [value])]
        return bool(labels) and all(isinstance(e, Hashable) and e in codes for e in elements)

    def path(self, field: str) -> str:
        """Return where a field is looked for."""
        where = self.fields[field]
        return where if isinstance(where, str) else ", ".join(where.values())

    def column(self, field: str) -> list[Any]:
        """Return what was sent for a field, messages without it left out."""
        return [sent[field] for sent in self.sent if sent.get(field) is not None]

    def vectors(self) -> list[list[float]]:
        """Return the scores that were sent, one list a message; messages without numbers left out."""
        fields = {"binary": ("score", "scores"), "multiclass": ("scores",), "multilabel": ("scores",)}
        found = []
        for sent in self.sent:
            value = next((v for f in fields[self.spec.task] if (v := sent.get(f)) is not None), None)
            given = (
                value.values() if isinstance(value, dict) else value if isinstance(value, list) else [value]
            )
            numbers = [float(number) for number in given if is_number(number)]
            if len(numbers) == len(given):
                found.append(numbers)
        return found


def is_number(value: object) -> TypeGuard[float]:
    """Tell whether a value is a finite number."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def observe(
    readings: Iterable[Reading],
    models: Mapping[str, ModelConfig],
    specs: Mapping[str, ModelSpec],
    fields: Mapping[str, Any],
) -> list[Observed]:
    """Return what each configured model's messages have in common, in the order of their names.

    Parameters
    ----------
    readings
        All messages.
    models, specs
        By name; "*" stands for models that are not named.
    fields
        Canonical name to the path, or the paths, that are read.
    """
    groups: defaultdict[str, list[Reading]] = defaultdict(list)
    for reading in readings:
        if reading.sent and (reading.model in models or "*" in models):
            groups[reading.model].append(reading)
    return [
        _observed(name, group, models.get(name) or models["*"], specs.get(name) or specs["*"], fields)
        for name, group in sorted(groups.items())
    ]


def _observed(
    name: str, group: Sequence[Reading], config: ModelConfig, spec: ModelSpec, fields: Mapping[str, Any]
) -> Observed:
    valid = [(reading, reading.event) for reading in group if reading.event is not None]
    width = (len(spec.classes),) if spec.task == "multilabel" else ()
    wider = (len(spec.classes) + 1,) if spec.task == "multilabel" else ()

    def joined(column: str, dtype: Any, shape: tuple[int, ...]) -> NDArray[Any]:
        parts = [getattr(event, column) for _, event in valid]
        return np.concatenate([np.empty((0, *shape), dtype), *parts])

    return Observed(
        name=name,
        config=config,
        spec=spec,
        fields=fields,
        sent=[reading.sent for reading in group],
        record_us=np.array([-1 if (t := r.record.timestamp) is None else t * 1000 for r in group], np.int64),
        rejected=Counter(r.rejected.reason for r in group if r.rejected is not None),
        timestamp=joined("timestamp", np.int64, ()),
        label=joined("label", np.int8 if width else np.int16, width),
        decision=joined("decision", np.int8 if wider else np.int16, wider),
        score=joined("score", np.float32, (len(spec.scored),)),
        predicted=np.array([reading.sent.get("prediction") is not None for reading, _ in valid], dtype=bool),
    )
