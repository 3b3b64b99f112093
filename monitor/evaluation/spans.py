"""Which windows there are in a view of the state, and what each covers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import torch

from monitor.report import CUMULATIVE
from monitor.state.columns import Events
from monitor.state.store import VersionView, View
from monitor.state.version import Version
from monitor.state.windows import Extent, WindowSpec, extent

Settled = tuple[VersionView, Version]
"""A version as it was seen, and its state with all events in it."""

Times = tuple[int, int] | tuple[None, None]


@dataclass(frozen=True, slots=True)
class Span:
    """One window of one version.

    `events` are those of a sliding window, None of the cumulative one. `start` and `end` are as in
    `WindowReport`.
    """

    view: VersionView
    state: Version
    window: str
    events: Events | None
    complete: bool
    start: int | None
    end: int | None

    def without_segments(self) -> Span:
        """Return this; segments of a sliding window are not counted."""
        if self.events is None:
            return self
        return replace(self, events=replace(self.events, segments=self.events.segments[:, :0]))


class _Covered(NamedTuple):
    """A sliding window of a version, the events that it covers, and its end in microseconds."""

    state: Version
    window: WindowSpec
    extent: Extent
    end: int

    @property
    def timestamps(self) -> torch.Tensor:
        return self.state.held.timestamp[self.extent.first : self.extent.last]


def spans(view: View, settled: Sequence[Settled]) -> Iterator[Span]:
    """Yield the windows of every version: the sliding ones as configured, then the cumulative one."""
    assert view.watermark is not None
    covered = [
        [_covered(state, window, view.watermark - state.plan.maturity) for window in state.plan.windows]
        for _, state in settled
    ]
    times = iter(_times([window for of_version in covered for window in of_version]))
    for (version, state), of_version in zip(settled, covered, strict=True):
        for window in of_version:
            yield _sliding(view, version, window, next(times))
        complete = view.caught_up and not view.gap
        yield Span(version, state, CUMULATIVE, None, complete, version.since, version.last_event)


def _covered(state: Version, window: WindowSpec, end: int) -> _Covered:
    return _Covered(state, window, extent(state.held, window, end, state.plan.spec.positive), end)


def _times(windows: Sequence[_Covered]) -> Iterator[Times]:
    """Yield the event times of the first and of the last event of each window, read at once."""
    with_events = [window.timestamps for window in windows if window.extent.first < window.extent.last]
    ends = [time for timestamps in with_events for time in (timestamps[0], timestamps[-1])]
    known = iter(torch.stack(ends).tolist() if ends else [])
    for window in windows:
        empty = window.extent.first == window.extent.last
        yield (None, None) if empty else (next(known), next(known))


def _sliding(view: View, version: VersionView, covered: _Covered, times: Times) -> Span:
    state, window, of_held, end = covered
    events = state.held[of_held.first : of_held.last]
    start, last = times
    since, dropped = view.covered_since, state.dropped_until
    if window.kind == "duration":
        start, last = end - window.size, end
        seen = since is not None and since <= start
        filled = dropped is None or dropped <= start
    else:
        seen = since is not None and (not view.gap or (start is not None and start > since))
        # Before events that were dropped there can only be late ones, read since the window got longer.
        filled = of_held.filled and (dropped is None or (start is not None and dropped <= start))
    return Span(version, state, window.name, events, view.caught_up and seen and filled, start, last)
