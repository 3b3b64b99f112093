"""Which version of a model its traffic comes from, and which did before."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping
from typing import Any

from monitor.events.batch import EventBatch
from monitor.state.reading import plain, take

NEWEST = 1_000
"""A model's newest events that decide."""

SHARE = 0.6
"""Share of them from which on another version is the live one: traffic that is split does not flap."""

REMEMBERED = 20
"""Versions that were live before."""


class LiveVersions:
    """The live version of each model. Where the newest events are split, the one of before stays live."""

    def __init__(self) -> None:
        self._recent: dict[str, deque[tuple[str, int]]] = {}
        self._history: dict[str, list[str]] = {}

    def read(self, batch: EventBatch) -> None:
        """Take in where the events of a batch come from."""
        for (model, version), columns in batch.columns.items():
            recent = self._recent.setdefault(model, deque())
            recent.append((version, min(len(columns), NEWEST)))
            _keep_newest(recent)
            self._judge(model, recent)

    def _judge(self, model: str, recent: deque[tuple[str, int]]) -> None:
        counts: Counter[str] = Counter()
        for version, n in recent:
            counts[version] += n
        version, most = counts.most_common(1)[0]
        history = self._history.setdefault(model, [])
        if not history or (version != history[0] and most >= SHARE * counts.total() and most > 1):
            self._history[model] = [version, *(v for v in history if v != version)][:REMEMBERED]

    @property
    def live(self) -> Mapping[str, str]:
        """The live version by model."""
        return {model: versions[0] for model, versions in self._history.items()}

    @property
    def before(self) -> Mapping[str, tuple[str, ...]]:
        """Earlier live versions by model, newest first."""
        return {model: tuple(versions[1:]) for model, versions in self._history.items()}

    def forget(self, model: str) -> None:
        """Let a model go."""
        self._recent.pop(model, None)
        self._history.pop(model, None)

    def tree(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return {
            "recent": {model: [list(pair) for pair in pairs] for model, pairs in self._recent.items()},
            "history": {model: list(versions) for model, versions in self._history.items()},
        }

    def resume(self, tree: dict[str, Any]) -> None:
        """Go on from what `tree` returned.

        Raises
        ------
        ValueError
            If it is something else.
        """
        for model, pairs in take(tree, "recent", dict).items():
            recent = self._recent[plain(model, str, "a model")] = deque()
            for pair in plain(pairs, list, "recent events"):
                version, n = plain(pair, list, "recent events")
                recent.append((plain(version, str, "a version"), plain(n, int, "a count")))
        for model, versions in take(tree, "history", dict).items():
            self._history[model] = [plain(v, str, "a version") for v in plain(versions, list, "versions")]


def _keep_newest(recent: deque[tuple[str, int]]) -> None:
    """Drop what is older than the newest events that decide, whatever the batches in which they came."""
    over = sum(n for _, n in recent) - NEWEST
    while over > 0:
        version, n = recent.popleft()
        if n > over:
            recent.appendleft((version, n - over))
        over -= n
