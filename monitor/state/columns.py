"""Events of one model version as tensors on the configured device, in arrival or in event order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import torch

from monitor.events.batch import Columns
from monitor.state.ordering import stable_argsort


@dataclass(frozen=True, slots=True)
class Events:
    """The tensors of `monitor.events.batch.Columns`, same names, shapes and dtypes.

    Never changed in place: whoever holds one may read it without a lock.
    """

    timestamp: torch.Tensor
    position: torch.Tensor
    label: torch.Tensor
    decision: torch.Tensor
    score: torch.Tensor
    loss: torch.Tensor
    segments: torch.Tensor

    def __len__(self) -> int:
        """Return the number of events."""
        return self.timestamp.shape[0]

    def __getitem__(self, index: torch.Tensor | slice) -> Events:
        """Return the events at `index`, in that order; a slice shares memory with this."""
        return Events(*(column[index] for column in self.tensors()))

    def tensors(self) -> tuple[torch.Tensor, ...]:
        """Return the columns in the order of the fields."""
        return tuple(getattr(self, name) for name in COLUMN_NAMES)

    def nbytes(self) -> int:
        """Return the bytes held by the columns."""
        return sum(column.nbytes for column in self.tensors())


COLUMN_NAMES = tuple(f.name for f in fields(Events))


def empty(score_columns: int, segment_keys: int, device: torch.device) -> Events:
    """Return no events with the given numbers of score columns and segment keys."""
    return Events(
        timestamp=torch.empty(0, dtype=torch.int64, device=device),
        position=torch.empty(0, dtype=torch.int64, device=device),
        label=torch.empty(0, dtype=torch.int16, device=device),
        decision=torch.empty(0, dtype=torch.int16, device=device),
        score=torch.empty((0, score_columns), dtype=torch.float32, device=device),
        loss=torch.empty((0, score_columns), dtype=torch.int32, device=device),
        segments=torch.empty((0, segment_keys), dtype=torch.int16, device=device),
    )


def concatenate(parts: Sequence[Events]) -> Events:
    """Return the events of all parts, one after the other."""
    return Events(*(torch.cat(columns) for columns in zip(*(p.tensors() for p in parts), strict=True)))


def upload(columns: Columns, device: torch.device) -> Events:
    """Move decoded columns to the device; on the CPU nothing is copied."""
    return Events(*(torch.from_numpy(getattr(columns, name)).to(device) for name in COLUMN_NAMES))


def in_order(events: Events) -> bool:
    """Whether the events already stand in the order of (timestamp, position)."""
    t, p = events.timestamp, events.position
    ahead = (t[1:] > t[:-1]) | ((t[1:] == t[:-1]) & (p[1:] > p[:-1]))
    return bool(ahead.all())


def sort(events: Events) -> Events:
    """Return the events in the order of (timestamp, position), which is total."""
    if in_order(events):
        return events
    by_position = stable_argsort(events.position)
    by_time = stable_argsort(events.timestamp[by_position])
    return events[by_position[by_time]]


def insert(held: Events, arrived: Events) -> Events:
    """Return sorted `held` with `arrived` (any order) put where they belong.

    Only the part of `held` that is not older than the oldest arrival is sorted again.
    """
    arrived = sort(arrived)
    if not len(held) or not len(arrived):
        return held if len(held) else arrived
    cut = int(torch.searchsorted(held.timestamp, arrived.timestamp[:1]))
    if cut == len(held):
        return concatenate([held, arrived])
    return concatenate([held[:cut], sort(concatenate([held[cut:], arrived]))])
