"""Which held events a window covers: a range of the events in their order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import torch

from monitor.events.spec import ModelSpec
from monitor.state.columns import Events


@dataclass(frozen=True, slots=True)
class WindowSpec:
    """A sliding window: the last `size` events, microseconds, or events of the positive class."""

    name: str
    kind: Literal["events", "duration", "positives"]
    size: int


@dataclass(frozen=True, slots=True)
class Plan:
    """What is remembered of every version of one configured model.

    Attributes
    ----------
    spec
        How its events are read.
    windows
        The sliding windows; the cumulative state is always kept.
    maturity
        Age in microseconds below which an event is held but not shown.
    held_events
        Most events held for a version.
    """

    spec: ModelSpec
    windows: tuple[WindowSpec, ...]
    maturity: int
    held_events: int

    @property
    def memory(self) -> int:
        """Microseconds after which an event is in no window by duration."""
        return self.maturity + max((w.size for w in self.windows if w.kind == "duration"), default=0)


class Extent(NamedTuple):
    """Events [first, last) of the held ones; `filled`: as many as the window asks for."""

    first: int
    last: int
    filled: bool


def extent(events: Events, window: WindowSpec, end: int, positive: int | None) -> Extent:
    """Return the range of sorted `events` that `window` covers.

    Parameters
    ----------
    events
        Held events in order.
    window
        The window.
    end
        Watermark minus maturity in microseconds, inclusive.
    positive
        Code of the positive class, for windows by positives.

    Returns
    -------
    Extent
        For a duration `filled` is always True: whether its beginning was seen is not known here.
    """
    last = _after(events.timestamp, end)
    if window.kind == "duration":
        return Extent(_after(events.timestamp, end - window.size), last, True)
    if window.kind == "events":
        return Extent(max(0, last - window.size), last, last >= window.size)
    assert positive is not None, "windows by positives are refused where there is no positive class"
    places = torch.nonzero(events.label[:last].eq(positive)).squeeze(1)
    filled = places.shape[0] >= window.size
    return Extent(int(places[-window.size]) if filled else 0, last, filled)


def _after(timestamp: torch.Tensor, time: int) -> int:
    return int(torch.searchsorted(timestamp, time, right=True))
