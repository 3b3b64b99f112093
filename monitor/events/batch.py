"""Decoded events as columns, and the rejected ones with their reasons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from monitor.records import Partition, Record

PROBABILITY_UNIT = 2.0**-30
"""Weight of one unit in every fixed-point sum of probabilities and squared errors."""

LOSS_UNIT = 2.0**-26
"""Weight of one unit in every fixed-point sum of log losses."""

PROBABILITY_FLOOR = 2.0**-24
"""Probabilities are clipped to [2**-24, 1 - 2**-24] under a logarithm."""


@dataclass(frozen=True, slots=True)
class Columns:
    """Events of one model and version, in the order read. n events, S score columns, K segment keys.

    Attributes
    ----------
    timestamp : int64, shape (n,)
        Event time in microseconds since the epoch.
    position : int64, shape (n,)
        Place in the log (`monitor.events.position`); (timestamp, position) is a total order.
    label : int16, shape (n,); multilabel: int8, shape (n, C)
        Index of the true class, or UNLABELED. Multilabel: 1 for each true class, else 0; UNLABELED in
        all columns of an unlabeled event.
    decision : int16, shape (n,); multilabel: int8, shape (n, C + 1)
        Index of the decided class, or OTHER. Multilabel: 1 for each decided class, else 0; the last
        column is 1 where a class that is not known was decided too.
    score : float32, shape (n, S)
        Score of each scored class (`ModelSpec.scored`): its probability, or its raw logit where
        `ModelSpec.raw_logits` is true; NaN in all columns of an event without scores.
    segments : int16, shape (n, K)
        Codes of the segment values (`monitor.events.vocabulary`).
    """

    timestamp: NDArray[np.int64]
    position: NDArray[np.int64]
    label: NDArray[np.int16] | NDArray[np.int8]
    decision: NDArray[np.int16] | NDArray[np.int8]
    score: NDArray[np.float32]
    segments: NDArray[np.int16]

    def __len__(self) -> int:
        """Return the number of events."""
        return len(self.timestamp)


class Marks(NamedTuple):
    """What is known of the n events of `Columns` beside what they say.

    Attributes
    ----------
    recorded : int64, shape (n,)
        Kafka's time of each record in microseconds; the event's own time where the record has none, as in
        files.
    identity : int64, shape (n,), or None
        Hash of each event's id, 0 where it has none; None where nobody asked for it.
    """

    recorded: NDArray[np.int64]
    identity: NDArray[np.int64] | None = None


class Rejected(NamedTuple):
    """A record that is no valid event."""

    partition: Partition
    record: Record
    model: str
    reason: str
    detail: str


class Span(NamedTuple):
    """What a batch read of one partition: offsets [first, next), valid or not."""

    first: int
    next: int
    records: int
    first_timestamp: int | None
    """Event time of the first valid event, in microseconds; None where there was none."""
    last_timestamp: int | None
    """Greatest event time of a valid event, in microseconds; None where there was none."""


@dataclass(frozen=True, slots=True)
class EventBatch:
    """One decoded micro-batch: every record read is in `columns` or in `rejected`."""

    columns: Mapping[tuple[str, str], Columns]
    rejected: Sequence[Rejected] = ()
    spans: Mapping[Partition, Span] = field(default_factory=dict)
    marks: Mapping[tuple[str, str], Marks] = field(default_factory=dict)
    """Of the same events, in the same order."""
