"""What comparisons with champions remember as a few arrays, and back."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from monitor.state.reading import array, count, plain, take
from monitor.watch.matching import Match
from monitor.watch.measures import ONE
from monitor.watch.pairing import IN_TURN, WAITING, Pairing, Side


class Resumed(NamedTuple):
    """A comparison, and what its pairing remembers."""

    which: Match
    champion: str
    sides: dict[str, Side]
    waiting: OrderedDict[tuple[str, int], tuple[int, int]]


_WAITING = ("version", "identity", "timestamp", "units")


def pack(pairings: Mapping[Match, Pairing]) -> dict[str, Any]:
    """Return what `unpack` makes the same pairings from."""
    sides = [side for pairing in pairings.values() for side in pairing.sides.values()]
    turns = [value for side in sides for value in chain(side.own, side.other)]
    waiting = [
        (names[version], identity, timestamp, units)
        for pairing in pairings.values()
        for names in [_numbers(pairing)]
        for (version, identity), (timestamp, units) in pairing.waiting.items()
    ]
    table = np.array(waiting, np.int64).reshape(-1, len(_WAITING))
    return {
        "pairings": [
            {
                "of": list(which),
                "champion": pairing.champion,
                "waiting": len(pairing.waiting),
                "sides": [
                    [name, side.by_id, side.unmatched, side.matched, len(side.own), len(side.other)]
                    for name, side in pairing.sides.items()
                ],
            }
            for which, pairing in pairings.items()
        ],
        "turns": np.array(turns, np.int64),
        **{name: np.ascontiguousarray(table[:, i]) for i, name in enumerate(_WAITING)},
    }


def _numbers(pairing: Pairing) -> dict[str, int]:
    return {name: number for number, name in enumerate([pairing.champion, *pairing.sides])}


def unpack(tree: object) -> Iterator[Resumed]:
    """Yield what `pack` packed.

    Raises
    ------
    ValueError
        If it is no result of `pack`.
    """
    turns = array(tree, "turns", np.int64, (None,))
    n = len(array(tree, "version", np.int64, (None,)))
    arrays = [array(tree, name, np.int64, (n,)) for name in _WAITING]
    for units in (turns, arrays[-1]):
        if ((units < 0) | (units > ONE)).any():
            raise ValueError("an observation is out of range")
    at = start = 0
    for entry in take(tree, "pairings", list):
        of = [plain(part, str, "a comparison") for part in take(entry, "of", list)]
        if len(of) != 4:
            raise ValueError("a comparison is a rule, a model, a segment and a class")
        champion = take(entry, "champion", str)
        sides = {}
        for row in take(entry, "sides", list):
            name, side, used = _side(row, turns[at:])
            sides[name] = side
            at += used
        end = start + count(take(entry, "waiting", int), "waiting events")
        waiting = _waiting([champion, *sides], [column[start:end] for column in arrays])
        if end - start > WAITING or len(waiting) != end - start:
            raise ValueError("events that wait do not fit")
        start = end
        yield Resumed((of[0], of[1], of[2], of[3]), champion, sides, waiting)
    if (at, start) != (len(turns), n):
        raise ValueError("observations that wait belong to no comparison")


def _side(row: object, turns: NDArray[np.int64]) -> tuple[str, Side, int]:
    parts = plain(row, list, "a challenger")
    if len(parts) != 6:
        raise ValueError("a challenger is what is remembered of it")
    name, by_id, unmatched, matched, own, other = parts
    end = count(own, "own observations") + count(other, "the champion's observations")
    if max(own, other) > IN_TURN or end > len(turns):
        raise ValueError("observations in turn do not fit")
    side = Side(
        plain(by_id, bool, "whether it is paired by ids"),
        count(unmatched, "observations without a counterpart"),
        plain(matched, bool, "whether there was a counterpart"),
        deque(turns[:own].tolist(), IN_TURN),
        deque(turns[own:end].tolist(), IN_TURN),
    )
    return plain(name, str, "a challenger"), side, end


def _waiting(
    names: list[str], columns: Sequence[NDArray[np.int64]]
) -> OrderedDict[tuple[str, int], tuple[int, int]]:
    version, *others = (column.tolist() for column in columns)
    if version and not 0 <= min(version) <= max(version) < len(names):
        raise ValueError("an event that waits is of no version")
    return OrderedDict(
        ((names[v], identity), (timestamp, units))
        for v, identity, timestamp, units in zip(version, *others, strict=True)
    )
