"""What is remembered of decisions: the newest of them, versions that are no way back, pauses and silences."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any

from monitor.actions.decision import ID_LENGTH, Decision, decision_of, key_from
from monitor.actions.judge import World
from monitor.actions.plain import take
from monitor.actions.silence import Pause, Silence, pause_of, silence_of
from monitor.alerts.alert import Alert, Key

MAX_DECISIONS = 1_000
MAX_ROLLED_BACK = 10_000


class Book:
    """Plain state, in the checkpoint. Not thread-safe: callers hold their lock.

    Parameters
    ----------
    memory
        How long a decision that was let through counts for limits and the breaker, in microseconds.

    Attributes
    ----------
    decisions
        By id, oldest first.
    full
        Whether the last decision found no room.
    """

    def __init__(self, memory: int) -> None:
        self._memory = memory
        self.decisions: dict[str, Decision] = {}
        self.pause: Pause | None = None
        self.silences: dict[str, Silence] = {}
        self.full = False
        self._rolled_back: dict[tuple[str, str], int] = {}
        self._unresolved: set[Key] = set()

    @property
    def open(self) -> list[Decision]:
        """Decisions of which something can still become."""
        return [each for each in self.decisions.values() if each.open]

    @property
    def taken(self) -> list[Decision]:
        """Decisions that were let through."""
        return [each for each in self.decisions.values() if each.taken_at is not None]

    @property
    def unfit(self) -> set[tuple[str, str]]:
        """Versions that nobody should go back to: (model, version)."""
        return {*self._rolled_back, *((key.model, key.version) for key in self._unresolved)}

    def has(self, idempotency_key: str) -> bool:
        """Whether there is such a decision."""
        return idempotency_key[:ID_LENGTH] in self.decisions

    def put(self, decision: Decision) -> None:
        """Remember a decision as it is now."""
        self.decisions[decision.id] = decision

    def make_room(self, now: int, firing: Collection[str]) -> bool:
        """Forget the oldest decision that nothing depends on if there is no room; return whether there is.

        Parameters
        ----------
        firing
            Episodes that fire: a decision about one says that there is none left to make.
        """
        if len(self.decisions) >= MAX_DECISIONS:
            oldest = next((each.id for each in self._forgettable(now, firing)), None)
            if oldest is not None:
                del self.decisions[oldest]
        self.full = len(self.decisions) >= MAX_DECISIONS
        return not self.full

    def _forgettable(self, now: int, firing: Collection[str]) -> Iterator[Decision]:
        for each in self.decisions.values():
            counts = each.taken_at is not None and now - each.taken_at < self._memory
            if not (each.open or counts or each.episode in firing):
                yield each

    def roll_back(self, model: str, version: str, now: int) -> None:
        """Remember that a version was left because it was bad."""
        self._rolled_back.pop((model, version), None)
        self._rolled_back[model, version] = now
        while len(self._rolled_back) > MAX_ROLLED_BACK:
            del self._rolled_back[next(iter(self._rolled_back))]

    def watch(self, alerts: Iterable[Alert], world: World) -> None:
        """Note which versions have alerts that fire, or fired when their data ended.

        That is forgotten when the alert resolves, or the version is none that traffic could go back to.
        """
        for alert in alerts:
            if alert.started is not None:
                self._unresolved.add(alert.key)
            elif alert.state != "no_data":
                self._unresolved.discard(alert.key)
        if world.unclear is None:
            self._unresolved = {
                key
                for key in self._unresolved
                if key.version == world.live.get(key.model) or key.version in world.before.get(key.model, ())
            }

    def tidy(self, now: int) -> None:
        """Forget pauses and silences that are over."""
        if self.pause is not None and self.pause.until is not None and self.pause.until <= now:
            self.pause = None
        for id in [each.id for each in self.silences.values() if each.until <= now]:
            del self.silences[id]

    def tree(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "decisions": [each.tree() for each in self.decisions.values()],
            "rolled_back": [[*version, at] for version, at in self._rolled_back.items()],
            "unresolved": sorted(list(key) for key in self._unresolved),
            "pause": None if self.pause is None else self.pause.tree(),
            "silences": [each.tree() for each in self.silences.values()],
        }

    def resume(self, tree: Any) -> None:
        """Take over what `tree` gave; nothing is changed where that is damaged.

        Raises
        ------
        ValueError
            If it is.
        """
        decisions = [decision_of(each) for each in take(tree, "decisions", list)]
        rolled_back = {_version(each): each[2] for each in take(tree, "rolled_back", list)}
        unresolved = {key_from(each) for each in take(tree, "unresolved", list)}
        pause = tree.get("pause")
        silences = [silence_of(each) for each in take(tree, "silences", list)]
        self.pause = None if pause is None else pause_of(pause)
        self.decisions = {each.id: each for each in decisions}
        self.silences = {each.id: each for each in silences}
        self._rolled_back, self._unresolved, self.full = rolled_back, unresolved, False


def _version(row: Any) -> tuple[str, str]:
    if isinstance(row, list) and [type(each) for each in row] == [str, str, int]:
        return row[0], row[1]
    raise ValueError(f"a version that was rolled back is {row!r:.100}")
