"""Valid events of one configured model as columns, before they are told apart by name and version."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from monitor.events.message import Event, SegmentValue


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
    """

    rows: NDArray[np.int64]
    models: list[str]
    versions: list[str]
    timestamp: NDArray[np.int64]
    label: NDArray[np.int16]
    decision: NDArray[np.int16]
    score: NDArray[np.float32]
    segments: tuple[list[SegmentValue] | None, ...]

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
        )

    def merge(self, rows: Sequence[int], events: Sequence[Event]) -> Draft:
        """Return these events and others, ordered by row."""
        both = np.concatenate([self.rows, np.array(rows, dtype=np.int64)])
        order = np.argsort(both)
        index = order.tolist()

        def texts(ours: list[str], theirs: list[str]) -> list[str]:
            joined = ours + theirs
            return [joined[i] for i in index]

        segments: list[list[SegmentValue] | None] = []
        for k, column in enumerate(self.segments):
            values = (column or [None] * len(self.rows)) + [event.segments[k] for event in events]
            segments.append([values[i] for i in index])
        return Draft(
            both[order],
            texts(self.models, [event.model for event in events]),
            texts(self.versions, [event.version for event in events]),
            np.concatenate([self.timestamp, np.array([e.timestamp for e in events], dtype=np.int64)])[order],
            np.concatenate([self.label, np.array([e.label for e in events], dtype=np.int16)])[order],
            np.concatenate([self.decision, np.array([e.decision for e in events], dtype=np.int16)])[order],
            np.concatenate([self.score, np.array([e.scores for e in events], dtype=np.float32)])[order],
            tuple(segments),
        )


def empty_draft(scored: int, keys: int) -> Draft:
    """Return no events, with room for `scored` score columns and `keys` segment keys."""
    return Draft(
        np.empty(0, np.int64),
        [],
        [],
        np.empty(0, np.int64),
        np.empty(0, np.int16),
        np.empty(0, np.int16),
        np.empty((0, scored), np.float32),
        (None,) * keys,
    )
