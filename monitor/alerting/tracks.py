"""What is remembered of every alert, what happened to them, and who has been told."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from typing import Any

from monitor.alerting.present import Present
from monitor.alerts.alert import Change, Key, Moment, Transition
from monitor.alerts.rule import Rule
from monitor.alerts.track import Track
from monitor.state.reading import plain, take

KEPT_TRANSITIONS = 1_000

Version = tuple[str, str]
"""Model and version."""


class Tracks:
    """The tracks of all alerts by their keys.

    Parameters
    ----------
    is_old
        Whether what a moment decides is too old to tell people of it.

    Attributes
    ----------
    transitions
        The newest, oldest first.
    untold
        Alerts that fire since a time that was too long ago, or while reading was catching up.
    """

    def __init__(self, is_old: Callable[[str, Moment, Present], bool]) -> None:
        self._is_old = is_old
        self._by_key: dict[Key, tuple[Rule, Track]] = {}
        self.untold: set[Key] = set()
        self.transitions: deque[Transition] = deque(maxlen=KEPT_TRANSITIONS)

    def __contains__(self, key: Key) -> bool:
        """Whether something is remembered of an alert."""
        return key in self._by_key

    def __getitem__(self, key: Key) -> Track:
        """Return the track of an alert, a fresh one of a new alert."""
        found = self._by_key.get(key)
        return Track() if found is None else found[1]

    def items(self) -> list[tuple[Key, Rule, Track]]:
        """Return all of them."""
        return [(key, rule, track) for key, (rule, track) in self._by_key.items()]

    def step(
        self,
        rule: Rule,
        key: Key,
        moment: Moment,
        present: Present,
        how: Callable[..., tuple[Track, Change | None]],
    ) -> Iterator[Transition]:
        """Step one alert by a function of `monitor.alerts.policy`."""
        track, change = how(rule, self[key], moment=moment)
        self._by_key[key] = rule, track
        if change is not None:
            yield self._changed(key, track, change, moment, present)

    def end(
        self,
        rules: Collection[Rule],
        watched: Collection[Key],
        moment_of: Callable[[Key], Moment],
        present: Present,
    ) -> Iterator[Transition]:
        """End the alerts of these rules that are no longer watched: a challenger became the champion, say."""
        names = {rule.name for rule in rules}
        for key, rule, track in self.items():
            if rule.name in names and key._replace(alert=rule.name) not in watched:
                if track.started is not None:
                    ended = replace(track, started=None, reason="it is no longer watched")
                    yield self._changed(key, ended, "resolved", moment_of(key), present)
                self._drop(key)

    def _changed(
        self, key: Key, track: Track, change: Change, moment: Moment, present: Present
    ) -> Transition:
        """Keep a change, and whether people are told of it."""
        historic = not present.current or self._is_old(key.model, moment, present)
        if change == "firing" and historic:
            self.untold.add(key)
        elif change == "resolved":
            self.untold.discard(key)
        transition = Transition(key, change, moment, track.evidence, historic, track.reason)
        self.transitions.append(transition)
        return transition

    def forget(self, version: Version) -> None:
        """Let the alerts of a version go without a word."""
        for key in [key for key in self._by_key if (key.model, key.version) == version]:
            self._drop(key)

    def _drop(self, key: Key) -> None:
        del self._by_key[key]
        self.untold.discard(key)

    def tree(self) -> dict[str, Any]:
        """Return everything that is to be remembered, as plain data."""
        return {
            "tracks": [[*key, rule.name, track.tree()] for key, rule, track in self.items()],
            "untold": [list(key) for key in self.untold],
        }

    def resume(self, tree: dict[str, Any], same: dict[str, Rule]) -> None:
        """Go on from what `tree` returned, with the rules (by name) that have not changed.

        Raises
        ------
        ValueError
            If it is something else.
        """
        for row in take(tree, "tracks", list):
            *key, name, track = plain(row, list, "a track")
            rule = same.get(plain(name, str, "the name of a rule"))
            if rule is not None:
                self._by_key[_key(key)] = rule, Track.from_tree(track)
        self.untold = {_key(row) for row in take(tree, "untold", list)} & self._by_key.keys()


def _key(row: object) -> Key:
    parts = [plain(part, str, "an alert") for part in plain(row, list, "an alert")]
    if len(parts) != len(Key._fields):
        raise ValueError(f"an alert has {len(parts)} labels")
    return Key(*parts)
