"""Valid events of one configured model as columns, before they are told apart by name and version."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from monitor.events.decisions import Decisions
from monitor.events.message import Event, SegmentValue
from monitor.events.spec import ModelSpec


@dataclass(frozen=True, slots=True)
class Draft:
    """n events, S score columns, K segment keys.

    Attributes
    ----------
    rows : int64, shape (n,)
        Where each event stands among the records of the batch; ascending.
    models, versions
        Names, one an event.
    timestamp, label, decision, score
        As in `monitor.events.batch.Columns`.
    segments
        K columns of n values; None for a column without any.
    identity : int64, shape (n,), or None
        Hashes of ids (`monitor.events.identity`); None where nobody asked for them.
    """

    rows: NDArray[np.int64]
    models: list[str]
    versions: list[str]
    timestamp: NDArray[np.int64]
    label: Decisions
    decision: Decisions
    score: NDArray[np.float32]
    segments: tuple[list[SegmentValue] | None, ...]
    identity: NDArray[np.int64] | None

    def select(self, keep: NDArray[np.bool_]) -> Draft:
        """Return the events where `keep` holds."""
        return Draft(
            self.rows[keep],
            list(compress(self.models, keep)),
            list(compress(self.versions, keep)),
            self.timestamp[keep],
            self.label[keep],
            self.decision[keep],
            self.score[keep],
            tuple(None if column is None else list(compress(column, keep)) for column in self.segments),
            None if self.identity is None else self.identity[keep],
        )

    def merge(self, rows: Sequence[int], events: Sequence[Event]) -> Draft:
        """Return these events and others, ordered by row."""
        both = np.concatenate([self.rows, np.array(rows, dtype=np.int64)])
        order = np.argsort(both)
        index = order.tolist()

        def texts(ours: list[str], theirs: list[str]) -> list[str]:
            joined = ours + theirs
            return [joined[i] for i in index]

        def numbers(ours: NDArray[Any], theirs: list[Any]) -> NDArray[Any]:
            joined = np.concatenate([ours, np.array(theirs, dtype=ours.dtype)])
            return joined[order]

        segments: list[list[SegmentValue] | None] = []
        for k, column in enumerate(self.segments):
            values = (column or [None] * len(self.rows)) + [event.segments[k] for event in events]
            segments.append([values[i] for i in index])
        return Draft(
            both[order],
            texts(self.models, [event.model for event in events]),
            texts(self.versions, [event.version for event in events]),
            numbers(self.timestamp, [event.timestamp for event in events]),
            numbers(self.label, [event.label for event in events]),
            numbers(self.decision, [event.decision for event in events]),
            numbers(self.score, [event.scores for event in events]),
            tuple(segments),
            None if self.identity is None else numbers(self.identity, [event.identity for event in events]),
        )


def empty_draft(spec: ModelSpec, *, identities: bool) -> Draft:
    """Return no events of a model, with or without hashes of their ids."""
    classes = len(spec.classes)
    several = spec.task == "multilabel"
    return Draft(
        np.empty(0, np.int64),
        [],
        [],
        np.empty(0, np.int64),
        np.empty((0, classes), np.int8) if several else np.empty(0, np.int16),
        np.empty((0, classes + 1), np.int8) if several else np.empty(0, np.int16),
        np.empty((0, len(spec.scored)), np.float32),
        (None,) * len(spec.segments),
        np.empty(0, np.int64) if identities else None,
    )
