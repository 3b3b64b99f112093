"""Event streams as decoded batches, and their states by the plainest reading of the definitions."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np
import torch

from monitor.events.batch import Columns, EventBatch, Marks, Span
from monitor.events.position import Positions
from monitor.events.spec import ModelSpec
from monitor.records import Partition
from monitor.state.store import State
from monitor.state.windows import Plan, WindowSpec

TOPIC = "predictions"
POSITIONS = Positions([TOPIC])
CPU = torch.device("cpu")
DEVICES = [CPU, *([torch.device("cuda")] if torch.cuda.is_available() else [])]


@dataclass(frozen=True)
class Event:
    """One valid event of one model, in plain Python. `score` is None where there is none."""

    partition: int
    offset: int
    timestamp: int
    label: int
    decision: int
    score: float | None
    segment: int = 0
    version: str = "1"

    @property
    def order(self) -> tuple[int, int, int]:
        return self.timestamp, self.partition, self.offset


def plan(windows: tuple[WindowSpec, ...], *, maturity: int = 0, held_events: int = 1 << 18) -> Plan:
    spec = ModelSpec("m", "binary", ("neg", "pos"), positive=1, thresholds=(0.5,), segments=("region",))
    return Plan(spec, windows, maturity, held_events)


def state(
    plans: Plan, *, allowed_lateness: int = 0, retire_after: int = 10**15, device: torch.device = CPU
) -> State:
    return State({"m": plans}, allowed_lateness=allowed_lateness, retire_after=retire_after, device=device)


def columns(events: list[Event]) -> Columns:
    score = np.array([np.nan if e.score is None else e.score for e in events], np.float32)[:, None]
    label = np.array([e.label for e in events], np.int16)
    return Columns(
        timestamp=np.array([e.timestamp for e in events], np.int64),
        position=np.array([POSITIONS.base(TOPIC, e.partition) + e.offset for e in events], np.int64),
        label=label,
        decision=np.array([e.decision for e in events], np.int16),
        score=score,
        segments=np.array([e.segment for e in events], np.int16)[:, None],
    )


def batch(events: list[Event]) -> EventBatch:
    """Decode `events`, which are consecutive in each partition."""
    spans, by_version = {}, defaultdict(list)
    for event in events:
        by_version["m", event.version].append(event)
        partition = Partition(TOPIC, event.partition)
        old = spans.get(partition, Span(event.offset, 0, 0, event.timestamp, event.timestamp))
        spans[partition] = Span(
            old.first,
            event.offset + 1,
            old.records + 1,
            old.first_timestamp,
            max(old.last_timestamp, event.timestamp),
        )
    read = {key: columns(of_version) for key, of_version in by_version.items()}
    return EventBatch(read, (), spans, {key: Marks(c.timestamp) for key, c in read.items()})
