"""The state of the daemon: offsets, clocks and model versions, which belong together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import torch

from monitor.events.batch import Columns, EventBatch
from monitor.events.spec import UNLABELED
from monitor.records import Partition
from monitor.state.clocks import Clocks
from monitor.state.memory import keep_freed_memory
from monitor.state.settling import settle_all
from monitor.state.version import Version
from monitor.state.waiting import Waiting
from monitor.state.windows import Plan

SETTLE_AT = 65536
"""Events of a version that may wait: sorting and merging many at once is what makes them cheap."""

Key = tuple[str, str]
"""Model and version."""


@dataclass(slots=True)
class _Live:
    """A version's settled state and the events that wait to be added to it."""

    settled: Version
    last_event: int
    since: int
    waiting: Waiting = field(default_factory=Waiting)
    labeled: int = 0
    unlabeled: int = 0


@dataclass(frozen=True, slots=True)
class VersionView:
    """A consistent look at one version. `settle` gives its state with all events in it."""

    model: str
    version: str
    base: Version
    waiting: Columns
    last_event: int
    since: int
    labeled: int
    unlabeled: int

    def settle(self, watermark: int) -> Version:
        """Return the state; costs what the waiting events cost."""
        return settle([self], watermark)[0]


def settle(views: Sequence[VersionView], watermark: int) -> list[Version]:
    """Return the state of each version with all events in it: cheaper than one by one."""
    return settle_all([view.base for view in views], [view.waiting for view in views], watermark)


@dataclass(frozen=True, slots=True)
class View:
    """A consistent look at the whole state, free to be read outside the lock.

    `caught_up` is False while a partition lags: then windows by definition are not complete.
    `trim_at` is the watermark of the earliest windows that are still to be shown.
    """

    watermark: int | None
    trim_at: int | None
    frontier: int | None
    covered_since: int | None
    gap: bool
    caught_up: bool
    versions: tuple[VersionView, ...]


class State:
    """What has been consumed. Not thread-safe: the daemon holds its lock around every call.

    Parameters
    ----------
    plans
        By configured model name, "*" for the others.
    allowed_lateness, retire_after
        Microseconds.
    device
        Where columns and counts live.

    Attributes
    ----------
    clocks
        Event time.
    next_offsets
        For each partition, the offset from which on nothing was consumed.
    late, unlabeled
        Events so far, by model; late are those behind the frontier and their model's label maturity.
    over_limit_before
        Events let go early because of `Plan.held_events`, of versions that are gone.
    retired
        Greatest event time of versions that are gone, while windows reach back to it.
    missing_until
        By configured model name, the event time up to which events of versions that are new may be missing.
    look_back
        Watermark of the earliest windows that are still to be shown, where that is not the present one.
    """

    def __init__(
        self, plans: Mapping[str, Plan], *, allowed_lateness: int, retire_after: int, device: torch.device
    ) -> None:
        keep_freed_memory()
        self.plans = plans
        self.device = device
        self._retire_after = retire_after
        self._versions: dict[Key, _Live] = {}
        self._lagging: frozenset[Partition] = frozenset()
        self._memory = max((plan.memory for plan in plans.values()), default=0)
        self.over_limit_before = 0
        self.retired: dict[Key, int] = {}
        self.missing_until: dict[str, int] = {}
        self.look_back: int | None = None
        self.clocks = Clocks(allowed_lateness)
        self.next_offsets: dict[Partition, int] = {}
        self.late: Counter[str] = Counter()
        self.unlabeled: Counter[str] = Counter()

    def apply(self, batch: EventBatch) -> None:
        """Take in a decoded batch, whole.

        Raises
        ------
        ValueError
            If a partition's offsets do not grow: the events were counted before. Callers drop what
            is below `next_offsets` before they decode (`monitor.pipeline`).
        """
        for partition, span in batch.spans.items():
            if span.first < self.next_offsets.get(partition, 0):
                raise ValueError(f"{partition} offset {span.first} was consumed before")
        frontier = self.clocks.frontier
        for key, columns in batch.columns.items():
            first, last = int(columns.timestamp.min()), int(columns.timestamp.max())
            live = self._versions.get(key)
            if live is None:
                live = self._versions[key] = _Live(self._new(key), last, first)
            live.waiting.append(columns)
            live.last_event, live.since = max(last, live.last_event), min(first, live.since)
            label = columns.label if columns.label.ndim == 1 else columns.label[:, 0]
            unlabeled = int(np.count_nonzero(label == UNLABELED))
            live.unlabeled += unlabeled
            live.labeled += len(columns) - unlabeled
            if unlabeled:
                self.unlabeled[key[0]] += unlabeled
            if frontier is not None:
                decided = frontier - live.settled.plan.maturity
                if first <= decided:
                    self.late[key[0]] += int(np.count_nonzero(columns.timestamp <= decided))
        self.next_offsets.update({partition: span.next for partition, span in batch.spans.items()})
        self.clocks.read(batch.spans)
        for key in batch.columns:
            if len(self._versions[key].waiting) >= SETTLE_AT:
                self._settle([self._versions[key]])

    def advance(self, lagging: Collection[Partition], decided: int | None = None) -> View:
        """Move the frontier; return the versions that retired.

        Parameters
        ----------
        lagging
            The partitions not caught up.
        decided
            Event time up to which others are done with the versions; by default the frontier.
        """
        self._lagging = frozenset(lagging)
        self.clocks.advance(lagging)
        frontier = self.clocks.frontier
        gone = []
        if frontier is not None:
            oldest = (frontier if decided is None else min(frontier, decided)) - self._retire_after
            # What still waits for its labels has not been looked at yet.
            gone = [
                key
                for key, live in self._versions.items()
                if live.last_event < oldest - live.settled.plan.maturity
            ]
        return self._let_go(gone)

    def forget(self, model: str) -> View:
        """Let all versions of a model go as if they had retired, and return them."""
        return self._let_go([key for key in self._versions if key[0] == model])

    def view(self) -> View:
        """Return a consistent look at everything, without copying an event."""
        return self._view(self._versions)

    def resume(self, versions: Iterable[VersionView]) -> None:
        """Go on with versions as another state showed them; until `advance` nothing counts as caught up."""
        for v in versions:
            self._versions[v.model, v.version] = _Live(
                v.base, v.last_event, v.since, Waiting.of(v.waiting), v.labeled, v.unlabeled
            )
        self._lagging = frozenset(self.next_offsets)

    def adopt(self, view: VersionView, settled: Version) -> None:
        """Take over what an evaluation has settled anyway, unless the state went on meanwhile."""
        live = self._versions.get((view.model, view.version))
        if live is not None and live.settled is view.base:
            live.settled = settled
            live.waiting.drop(len(view.waiting))

    def settle(self) -> None:
        """Add what waits: before many looks at the same events."""
        if waiting := [live for live in self._versions.values() if len(live.waiting)]:
            self._settle(waiting)

    def move(self, device: torch.device) -> None:
        """Go on with columns and counts on another device."""
        self.device = device
        for live in self._versions.values():
            live.settled = live.settled.to(device)

    @property
    def over_held_limit(self) -> int:
        """Events let go early because of `Plan.held_events`."""
        return self.over_limit_before + sum(v.settled.over_limit for v in self._versions.values())

    def nbytes(self) -> int:
        """Return the bytes held in columns and counts."""
        return sum(v.settled.nbytes() + v.waiting.nbytes() for v in self._versions.values())

    @property
    def _trim_at(self) -> int | None:
        times = (self.clocks.watermark, self.look_back)
        return min((time for time in times if time is not None), default=None)

    def _settle(self, versions: Sequence[_Live]) -> None:
        assert self._trim_at is not None
        bases, arrived = [live.settled for live in versions], [live.waiting.columns() for live in versions]
        for live, settled in zip(versions, settle_all(bases, arrived, self._trim_at), strict=True):
            live.settled = settled
            live.waiting.drop(len(live.waiting))

    def _view(self, keys: Iterable[Key]) -> View:
        found = [(key, self._versions[key]) for key in keys]
        return View(
            watermark=self.clocks.watermark,
            trim_at=self._trim_at,
            frontier=self.clocks.frontier,
            covered_since=self.clocks.covered_since,
            gap=self.clocks.gap,
            caught_up=self.caught_up,
            versions=tuple(
                VersionView(
                    *key, v.settled, v.waiting.columns(), v.last_event, v.since, v.labeled, v.unlabeled
                )
                for key, v in found
            ),
        )

    @property
    def caught_up(self) -> bool:
        """Whether no partition lagged when the frontier was last moved."""
        return not self._lagging

    def _new(self, key: Key) -> Version:
        """Return the state of a version before its first event, which knows what its windows will lack."""
        name = self._entry(key[0])
        known = (self.retired.get(key), self.missing_until.get(name))
        before = max((time for time in known if time is not None), default=None)
        return replace(Version.empty(self.plans[name], self.device), dropped_until=before)

    def _let_go(self, keys: Collection[Key]) -> View:
        """Forget versions but for what their windows will lack should they come back."""
        gone = self._view(keys)
        for v in gone.versions:
            del self._versions[v.model, v.version]
            self.over_limit_before += v.base.over_limit
            self.retired[v.model, v.version] = v.last_event
            if v.model not in self.plans and all(model != v.model for model, _ in self._versions):
                # Names that come and go must not add up: their counts go on under no name.
                for counts in (self.late, self.unlabeled):
                    if v.model in counts:
                        counts[""] += counts.pop(v.model)
        if gone.versions and gone.watermark is not None:
            self._forget_retired(gone.watermark - self._memory)
        return gone

    def _forget_retired(self, until: int) -> None:
        for (model, version), last in list(self.retired.items()):
            if last <= until:  # no window reaches back so far, unless a longer one is configured later
                del self.retired[model, version]
                name = self._entry(model)
                self.missing_until[name] = max(last, self.missing_until.get(name, last))

    def _entry(self, model: str) -> str:
        return model if model in self.plans else "*"
