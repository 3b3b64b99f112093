"""Observations of challengers beside those of the champion: of the same event, or in turn."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from monitor.events.identity import NO_IDENTITY

HOUR = 3_600_000_000
"""How far apart in event time two versions' events with one id are at most, in microseconds."""

WAITING = 100_000
"""Events with an id that wait for their counterparts; beyond, the oldest are let go."""

PATIENCE = 1_000
"""Observations of a challenger without a counterpart after which ids are found to be of no use."""

IN_TURN = 1_000
"""Observations that wait for those of the other version, without ids; beyond, the oldest are let go."""


class Pair(NamedTuple):
    """An observation of a challenger, and the champion's beside it."""

    challenger: str
    own: int
    other: int


@dataclass(slots=True)
class Side:
    """How one challenger is paired.

    Attributes
    ----------
    by_id
        Whether by ids, else in turn.
    unmatched
        Observations so far without a counterpart, until the first one with.
    matched
        Whether there has been one.
    own, other
        Observations of the challenger and of the champion that wait in turn; one of them is empty.
    """

    by_id: bool
    unmatched: int = 0
    matched: bool = False
    own: deque[int] = field(default_factory=lambda: deque(maxlen=IN_TURN))
    other: deque[int] = field(default_factory=lambda: deque(maxlen=IN_TURN))


class Pairing:
    """Pairs the observations of one metric of a model's versions, which come in the order of their events.

    A challenger whose first observation has an id is paired by ids: of two events with one id, at most an
    hour apart, the later makes the pair. Where the first `PATIENCE` observations find no counterpart (traffic
    was split, not copied), and where ids are missing or of no use, the k-th observation of the one stands
    beside the k-th of the other, from then on.

    Parameters
    ----------
    champion
        The version that all others are held against.
    by_label
        Whether two versions observe the same events; if not, ids are of no use.
    """

    def __init__(self, champion: str, *, by_label: bool) -> None:
        self.champion = champion
        self._by_label = by_label
        self.sides: dict[str, Side] = {}
        self.waiting: OrderedDict[tuple[str, int], tuple[int, int]] = OrderedDict()

    def read(self, version: str, timestamp: int, identity: int, units: int) -> Iterator[Pair]:
        """Take in the next observation; yield the pairs that it makes."""
        if version == self.champion:
            yield from self._of_champion(timestamp, identity, units)
            return
        side = self.sides.get(version)
        if side is None:
            side = self.sides[version] = Side(self._by_label and identity != NO_IDENTITY)
        if not side.by_id:
            if side.other:
                yield Pair(version, units, side.other.popleft())
            else:
                side.own.append(units)
            return
        other = self.waiting.get((self.champion, identity)) if identity != NO_IDENTITY else None
        if other is not None and timestamp - other[0] <= HOUR:
            side.matched = True
            yield Pair(version, units, other[1])
            return
        self._wait(version, identity, timestamp, units)
        side.unmatched += 1
        if not side.matched and side.unmatched >= PATIENCE:
            side.by_id = False

    def _of_champion(self, timestamp: int, identity: int, units: int) -> Iterator[Pair]:
        by_id = False
        for challenger, side in self.sides.items():
            if side.by_id:
                by_id = True
                own = self.waiting.pop((challenger, identity), None)
                if own is not None and timestamp - own[0] <= HOUR:
                    side.matched = True
                    yield Pair(challenger, own[1], units)
            elif side.own:
                yield Pair(challenger, side.own.popleft(), units)
            else:
                side.other.append(units)
        if by_id:
            self._wait(self.champion, identity, timestamp, units)

    def _wait(self, version: str, identity: int, timestamp: int, units: int) -> None:
        if identity == NO_IDENTITY:
            return
        self.waiting.pop((version, identity), None)  # the newest goes to the end
        self.waiting[version, identity] = timestamp, units
        while len(self.waiting) > WAITING or next(iter(self.waiting.values()))[0] < timestamp - HOUR:
            self.waiting.popitem(last=False)

    def forget(self, version: str) -> None:
        """Let a challenger go."""
        self.sides.pop(version, None)
        for key in [key for key in self.waiting if key[0] == version]:
            del self.waiting[key]
