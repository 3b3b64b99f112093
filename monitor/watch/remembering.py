"""What detectors remember as a few large arrays, and back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from monitor.alerts.alert import Key
from monitor.detection import Procedure, Statistic
from monitor.state.reading import array, count, plain, take
from monitor.watch.detector import KEPT, Memory, Plan
from monitor.watch.evidence import Sum
from monitor.watch.measures import Units


class Remembered(NamedTuple):
    """One detector, or with a width of 0 a place that has none.

    Attributes
    ----------
    key, since
        Whose, and since when.
    mark
        What its limit was made of, as text.
    firing, direction, observations
        Of its statistic.
    last
        As in `monitor.watch.detector.Memory`.
    pane, episode
        How many events the sums are over.
    wealth : float64, shape (J,)
    newest : int64, shape (m, width)
    sums : int64, shape (2, width)
        Of the pane and the episode.
    reference, filling : float32
        Of its ranking.
    """

    key: Key
    since: int
    mark: str
    firing: bool
    direction: str
    observations: int
    last: int
    pane: int
    episode: int
    wealth: NDArray[np.float64]
    newest: Units
    sums: Units
    reference: NDArray[np.float32]
    filling: NDArray[np.float32]

    @property
    def width(self) -> int:
        """Integers of an observation."""
        return int(self.newest.shape[1])


_PLAIN = 9
"""Fields that are no arrays come first."""

_LENGTHS = ("wealth", "newest", "reference", "filling")


def remembered(
    key: Key,
    since: int,
    mark: str,
    memory: Memory | None,
    ranked: dict[str, NDArray[Any]],
    *,
    firing: bool,
    direction: str,
) -> Remembered:
    """Return what is remembered of a place; `firing` and `direction` where it has no detector."""
    none = np.empty(0, np.float32)
    scores = ranked.get("reference", none), ranked.get("filling", none)
    if memory is None:
        empty = np.empty(0), np.empty((0, 0), np.int64), np.empty((2, 0), np.int64)
        return Remembered(key, since, mark, firing, direction, 0, since, 0, 0, *empty, *scores)
    statistic, pane, episode = memory.statistic, memory.pane, memory.episode
    return Remembered(
        key,
        since,
        mark,
        statistic.firing,
        statistic.direction,
        statistic.observations,
        memory.last,
        pane.events,
        episode.events,
        statistic.wealth,
        memory.newest,
        np.array([pane.units, episode.units], np.int64),
        *scores,
    )


def memory_of(row: Remembered, plan: Plan) -> Memory:
    """Return what a detector remembers.

    Raises
    ------
    ValueError
        If that is of none with this plan.
    """
    events = plan.rule.observation
    pane, episode = (
        Sum(n, tuple(sums)) for n, sums in zip((row.pane, row.episode), row.sums.tolist(), strict=True)
    )
    sound = (
        row.width == plan.terms.width
        and pane.events < events
        and len(row.newest) <= KEPT
        and (row.firing or episode.events == 0)
        and plan.terms.sound(row.newest, events)
    )
    for total in (pane, episode):
        sound = sound and plan.terms.sound(np.array([total.units], np.int64), total.events)
    if not sound:
        raise ValueError(f"what is remembered of {row.key} is of no detector like that")
    return Memory(_statistic(row, plan.procedure), row.last, row.newest, pane, episode)


def _statistic(row: Remembered, procedure: Procedure) -> Statistic:
    tree = {
        "wealth": row.wealth,
        "firing": row.firing,
        "direction": row.direction,
        "observations": row.observations,
    }
    return Statistic.from_tree(tree, procedure)


def pack(rows: Iterable[Remembered]) -> list[dict[str, Any]]:
    """Return what `unpack` makes the same rows from: one dict for detectors of one width."""
    ordered = sorted(rows, key=lambda row: row.width)
    packs = []
    for _, group in groupby(ordered, key=lambda row: row.width):
        members = list(group)
        packs.append(
            {
                "rows": [
                    [*row.key, *row[1:_PLAIN], *(len(getattr(row, name)) for name in _LENGTHS)]
                    for row in members
                ],
                "sums": np.stack([row.sums for row in members]),
                **{name: np.concatenate([getattr(row, name) for row in members]) for name in _LENGTHS},
            }
        )
    return packs


def unpack(packs: Sequence[object]) -> Iterator[Remembered]:
    """Yield the rows that `pack` packed.

    Raises
    ------
    ValueError
        If it is none of its results.
    """
    for pack in packs:
        rows = take(pack, "rows", list)
        found = plain(pack, dict, "a pack").get("newest")
        width = found.shape[1] if isinstance(found, np.ndarray) and found.ndim == 2 else 0
        sums = array(pack, "sums", np.int64, (len(rows), 2, width))
        arrays = {
            "wealth": array(pack, "wealth", np.float64, (None,)),
            "newest": array(pack, "newest", np.int64, (None, width)),
            "reference": array(pack, "reference", np.float32, (None,)),
            "filling": array(pack, "filling", np.float32, (None,)),
        }
        start = dict.fromkeys(_LENGTHS, 0)
        for row, sum_ in zip(rows, sums, strict=True):
            head, lengths = _head(row)
            parts = []
            for name, length in zip(_LENGTHS, lengths, strict=True):
                parts.append(arrays[name][start[name] : start[name] + length].copy())
                start[name] += length
            wealth, newest, reference, filling = parts
            yield Remembered(*head, wealth, newest, sum_.copy(), reference, filling)  # type: ignore[call-arg]
        if any(start[name] != len(arrays[name]) for name in _LENGTHS):
            raise ValueError("what is remembered belongs to no detector")


def _head(row: object) -> tuple[list[Any], list[int]]:
    parts = plain(row, list, "a detector")
    if len(parts) != len(Key._fields) + _PLAIN - 1 + len(_LENGTHS):
        raise ValueError("a detector is a key, and what is remembered of it")
    *key, since, mark, firing, direction, observations, last, pane, episode = parts[: -len(_LENGTHS)]
    return [
        key_of(key),
        plain(since, int, "its beginning"),
        plain(mark, str, "its limit"),
        plain(firing, bool, "whether it fires"),
        plain(direction, str, "a direction"),
        count(observations, "observations"),
        plain(last, int, "its last event"),
        count(pane, "events of a pane"),
        count(episode, "events of an episode"),
    ], [count(length, "a length") for length in parts[-len(_LENGTHS) :]]


def key_of(parts: list[Any]) -> Key:
    """Return the key that was written as a list.

    Raises
    ------
    ValueError
        It is none.
    """
    if len(parts) != len(Key._fields):
        raise ValueError(f"an alert has {len(parts)} labels")
    return Key(*(plain(part, str, "a label") for part in parts))
