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
"""Weight of one unit in a fixed-point log loss."""


@dataclass(frozen=True, slots=True)
class Columns:
    """Events of one model and version, in the order read. n events, S score columns, K segment keys.

    Attributes
    ----------
    timestamp : int64, shape (n,)
        Event time in microseconds since the epoch.
    position : int64, shape (n,)
        Place in the log (`monitor.events.position`); (timestamp, position) is a total order.
    label : int16, shape (n,)
        Index of the true class, or UNLABELED.
    decision : int16, shape (n,)
        Index of the decided class, or OTHER.
    score : float32, shape (n, S)
        Probability of each scored class (`ModelSpec.scored`); NaN in all columns of an event
        without scores.
    loss : int32, shape (n, S)
        One-vs-rest log loss of each scored class in LOSS_UNIT, probabilities clipped to
        [2**-24, 1 - 2**-24]; 0 where label or score is missing.
    segments : int16, shape (n, K)
        Codes of the segment values (`monitor.events.vocabulary`).
    """

    timestamp: NDArray[np.int64]
    position: NDArray[np.int64]
    label: NDArray[np.int16]
    decision: NDArray[np.int16]
    score: NDArray[np.float32]
    loss: NDArray[np.int32]
    segments: NDArray[np.int16]

    def __len__(self) -> int:
        """Return the number of events."""
        return len(self.timestamp)


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
