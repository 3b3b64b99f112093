"""Events of one model version as tensors on the configured device, in arrival or in event order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import torch
from torch.nn.functional import pad

from monitor.events.batch import Columns
from monitor.events.spec import UNLABELED, ModelSpec
from monitor.events.vocabulary import MISSING
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

    @property
    def labeled(self) -> torch.Tensor:
        """Which events have a label: bool, shape (n,)."""
        label = self.label if self.label.ndim == 1 else self.label[:, 0]
        return label != UNLABELED

    @property
    def scored(self) -> torch.Tensor:
        """Which events have scores: bool, shape (n,)."""
        return ~self.score[:, 0].isnan()

    def to(self, device: torch.device) -> Events:
        """Return the events on a device."""
        return Events(*(column.to(device) for column in self.tensors()))

    def nbytes(self) -> int:
        """Return the bytes held by the columns."""
        return sum(column.nbytes for column in self.tensors())


COLUMN_NAMES = tuple(f.name for f in fields(Events))


def empty(spec: ModelSpec, device: torch.device) -> Events:
    """Return no events of a model."""
    many = spec.task == "multilabel"
    classes, codes = len(spec.classes), torch.int8 if many else torch.int16
    return Events(
        timestamp=torch.empty(0, dtype=torch.int64, device=device),
        position=torch.empty(0, dtype=torch.int64, device=device),
        label=torch.empty((0, classes) if many else 0, dtype=codes, device=device),
        decision=torch.empty((0, classes + 1) if many else 0, dtype=codes, device=device),
        score=torch.empty((0, len(spec.scored)), dtype=torch.float32, device=device),
        segments=torch.empty((0, len(spec.segments)), dtype=torch.int16, device=device),
    )


def concatenate(parts: Sequence[Events]) -> Events:
    """Return the events of all parts, one after the other.

    Parts may have different numbers of segment keys: where there are fewer, the last are missing.
    """
    keys = max(part.segments.shape[1] for part in parts)
    parts = [_widened(part, keys) for part in parts]
    return Events(*(torch.cat(columns) for columns in zip(*(p.tensors() for p in parts), strict=True)))


def _widened(events: Events, keys: int) -> Events:
    lacking = keys - events.segments.shape[1]
    return replace(events, segments=pad(events.segments, (0, lacking), value=MISSING)) if lacking else events


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
