"""Decides about alerts from what a pipeline reads: in event time, each event once, whatever the schedule.

Sequential conditions follow the events behind the frontier; interval and value conditions look at the windows
as they were at marks, multiples of `alerts.every` that the frontier has crossed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from monitor.alerting.live import LiveVersions
from monitor.alerting.present import Present, Settings
from monitor.alerts.alert import Alert, Change, Evidence, Key, Moment, Transition
from monitor.alerts.conditions import Context, needed_families, readings
from monitor.alerts.policy import look, quiet, sight, undefined_look
from monitor.alerts.rule import Rule
from monitor.alerts.track import Reading, Track
from monitor.alerts.view import AlertsView
from monitor.events.batch import EventBatch
from monitor.events.position import OFFSET_BITS, Positions
from monitor.records import Partition
from monitor.report import Report
from monitor.state.reading import maybe, plain, take
from monitor.watch.feed import Feed, Matured
from monitor.watch.watch import Look, Watch

KEPT_TRANSITIONS = 1_000

Version = tuple[str, str]
"""Model and version."""


class Alerting:
    """All alerts of a pipeline. Not thread-safe: it is changed and shown where the pipeline is.

    Parameters
    ----------
    rules
        The configured ones.
    settings
        What holds for all.
    feed, watch
        Events until they are behind the frontier, and the detectors that they go to then.
    context
        What the conditions of a report look at beside it.
    positions
        Codes of places in the log.
    maturity
        Age in microseconds from which on a model's events are looked at.

    Attributes
    ----------
    mark
        Event time of the last look of interval and value conditions; None before the first.
    live
        Which version of each model the traffic comes from.
    """

    def __init__(
        self,
        rules: Sequence[Rule],
        settings: Settings,
        feed: Feed,
        watch: Watch,
        context: Context,
        positions: Positions,
        maturity: Callable[[str], int],
    ) -> None:
        self._rules = {rule.name: rule for rule in rules}
        self._looking = tuple(rule for rule in rules if rule.condition != "sequential")
        self._sequential = tuple(rule for rule in rules if rule.condition == "sequential")
        self._settings = settings
        self._feed = feed
        self._watch = watch
        self._context = context
        self._positions = positions
        self._maturity = maturity
        self._tracks: dict[Key, tuple[Rule, Track]] = {}
        self._newest: dict[Version, Moment] = {}
        self._fresh: set[Version] = set()
        self._untold: set[Key] = set()
        self._marks: set[int] = set()
        self._transitions: deque[Transition] = deque(maxlen=KEPT_TRANSITIONS)
        self._refused = 0
        self.mark: int | None = None
        self.live = LiveVersions()

    @property
    def looks_back(self) -> int | None:
        """Watermark of the earliest windows that are still to be looked at; None where none are."""
        return self.mark if self._looking else None

    def wants(self, model: str) -> frozenset[str]:
        """Return the windows of a model that interval and value conditions look at."""
        rules = [rule for rule in self._looking if rule.model in ("*", model)]
        compared = {rule.limit.name for rule in rules if rule.limit.kind == "window"}
        return frozenset(rule.window for rule in rules) | compared

    @property
    def dropped(self) -> int:
        """Events that no detector will see, since too many wait."""
        return self._feed.dropped

    @property
    def families(self) -> frozenset[str]:
        """The families that they look at."""
        return needed_families(self._looking)

    def read(self, batch: EventBatch, frontier: int | None) -> None:
        """Take in a decoded batch, given the frontier when it was read."""
        every = self._settings.every
        for (model, _), columns in batch.columns.items():
            times = columns.timestamp
            if self.mark is None:
                self.mark = int(times.min()) // every * every
            if frontier is not None:
                times = times[times > frontier]
            marks = -(-(times + self._maturity(model)) // every) * every
            self._marks.update(np.unique(marks).tolist())
        self._feed.add(batch, frontier)
        self.live.read(batch)

    def due(self, frontier: int, present: Present) -> int | None:
        """Return the next mark to look at, None where there is none: before it, `decide` up to it.

        While old events are read, only the newest that the frontier has crossed is looked at.
        """
        crossed = [mark for mark in self._marks if mark <= frontier and mark > (self.mark or mark - 1)]
        if not crossed:
            return None
        return min(crossed) if present.current else max(crossed)

    def decide(self, until: int, present: Present) -> list[Transition]:
        """Let the detectors follow the events up to a mark, or up to the frontier where none is due."""
        if present.current:
            self._untold.clear()
        matured = self._feed.take(until)
        self._note(matured, present)
        transitions: list[Transition] = []
        for rule, key, firing, moment, evidence in self._watch.consume(matured):
            step = partial(sight, firing=firing, evidence=evidence)
            transitions += self._step(rule, key, moment, present, step)
        return transitions

    def look(self, mark: int, report: Report | None, present: Present) -> list[Transition]:
        """Step the conditions of a mark.

        Parameters
        ----------
        mark
            From `due`.
        report
            Of the windows as they were then, of what `wants` wants; None where nothing is wanted.
        present
            How far reading is.
        """
        self.mark = mark
        self._marks = {later for later in self._marks if later > mark}
        transitions = list(self._judge_silence(mark, present))
        if report is not None:
            found, self._refused = readings(self._looking, report, self._context)
            for rule, key, reading in found:
                step = partial(look, reading=reading)
                transitions += self._step(rule, key, self._moment(key, mark), present, step)
                transitions += self._undefined(rule, key, mark, present, reading)
            transitions += self._end_others(self._looking, {key for _, key, _ in found}, mark, present)
        looks = list(self._watch.looks())
        for seen in looks:
            transitions += self._look_at_detector(seen, mark, present)
        transitions += self._end_others(self._sequential, {seen.key for seen in looks}, mark, present)
        return transitions

    def _end_others(
        self, rules: Collection[Rule], watched: Collection[Key], mark: int, present: Present
    ) -> Iterator[Transition]:
        """End the alerts of these rules that are no longer watched: a challenger became the champion, say."""
        for key, (rule, track) in list(self._tracks.items()):
            main = key._replace(alert=rule.name)
            if rule in rules and main not in watched:
                if track.started is not None:
                    ended = replace(track, started=None, reason="it is no longer watched")
                    yield from self._told(key, ended, "resolved", self._moment(key, mark), present)
                del self._tracks[key]
                self._untold.discard(key)

    def _judge_silence(self, mark: int, present: Present) -> Iterator[Transition]:
        for key, (rule, _) in list(self._tracks.items()):
            newest = self._newest.get((key.model, key.version))
            if newest is not None:
                step = partial(quiet, last_event=newest.timestamp, no_data_after=self._settings.no_data_after)
                yield from self._step(rule, key, self._moment(key, mark), present, step)

    def _look_at_detector(self, seen: Look, mark: int, present: Present) -> Iterator[Transition]:
        """Step the companion of a detector, and let what it raised during a cooldown fire after it."""
        rule, key = seen.rule, seen.key
        _, track = self._tracks.setdefault(key, (rule, Track()))
        if seen.firing and track.state == "pending":
            step = partial(sight, firing=True, evidence=seen.evidence)
            yield from self._step(rule, key, self._moment(key, mark), present, step)
        patience = self._settings.no_data_after if rule.undefined_for is None else rule.undefined_for
        silent = seen.last is not None and seen.last <= mark - patience
        why = Evidence(undefined="no_observations") if silent else seen.evidence
        yield from self._undefined(rule, key, mark, present, Reading(why, undefined_since=seen.last))

    def _undefined(
        self, rule: Rule, key: Key, mark: int, present: Present, reading: Reading
    ) -> Iterator[Transition]:
        companion = _companion(key)
        if reading.undefined is None and companion not in self._tracks:
            return
        step = partial(undefined_look, reading=reading, no_data_after=self._settings.no_data_after)
        yield from self._step(rule, companion, self._moment(companion, mark), present, step)

    def _step(
        self,
        rule: Rule,
        key: Key,
        moment: Moment,
        present: Present,
        step: Callable[..., tuple[Track, Change | None]],
    ) -> Iterator[Transition]:
        before = self._tracks[key][1] if key in self._tracks else Track()
        track, change = step(rule, before, moment=moment)
        self._tracks[key] = rule, track
        if change is not None:
            yield from self._told(key, track, change, moment, present)

    def _told(
        self, key: Key, track: Track, change: Change, moment: Moment, present: Present
    ) -> Iterator[Transition]:
        """Keep a change, and whether people are told of it."""
        historic = not present.current or self._is_old(key.model, moment, present)
        if change == "firing" and historic:
            self._untold.add(key)
        elif change == "resolved":
            self._untold.discard(key)
        transition = Transition(key, change, moment, track.evidence, historic, track.reason)
        self._transitions.append(transition)
        yield transition

    def _is_old(self, model: str, moment: Moment, present: Present) -> bool:
        # An event is decided on once it is mature; before that it is not old, however long it lay there.
        return (
            present.now is not None
            and present.now - moment.recorded > self._settings.max_age + self._maturity(model)
        )

    def _moment(self, key: Key, mark: int) -> Moment:
        newest = self._newest.get((key.model, key.version), Moment(mark, mark, 0))
        return newest._replace(timestamp=mark)

    def _note(self, matured: Mapping[Version, Matured], present: Present) -> None:
        """Remember the newest event of each version, and who has events that were read after catching up."""
        for version, events in matured.items():
            columns = events.columns
            last = columns.timestamp[-1], events.marks.recorded[-1], columns.position[-1]
            self._newest[version] = Moment(*map(int, last))
            if version not in self._fresh and self._has_fresh(columns.position, present.read_after):
                self._fresh.add(version)

    def _has_fresh(self, position: NDArray[np.int64], read_after: Mapping[Partition, int] | None) -> bool:
        """Whether some event was read after catching up."""
        if read_after is None:
            return False
        source, offset = position >> OFFSET_BITS, position & ((1 << OFFSET_BITS) - 1)
        old = np.zeros(len(position), np.bool_)
        for partition, first in read_after.items():
            old |= (source == self._positions.base(*partition) >> OFFSET_BITS) & (offset < first)
        return not old.all()

    def forget(self, model: str, version: str) -> None:
        """Let a version go: what fires of it ends without a word."""
        self._feed.forget(model, version)
        self._watch.forget(model, version)
        self._newest.pop((model, version), None)
        self._fresh.discard((model, version))
        for key in [key for key in self._tracks if (key.model, key.version) == (model, version)]:
            del self._tracks[key]
            self._untold.discard(key)
        if all(known != model for known, _ in self._newest):
            self.live.forget(model)

    def view(self) -> AlertsView:
        """Return every alert as it is now, and the newest transitions."""
        looks = {seen.key: seen for seen in self._watch.looks()}
        tracks = {key: (seen.rule, Track()) for key, seen in looks.items()} | self._tracks
        alerts = tuple(self._alert(key, *tracks[key], looks.get(key)) for key in sorted(tracks))
        return AlertsView(alerts, tuple(reversed(self._transitions)), self._watch.refused + self._refused)

    def _alert(self, key: Key, rule: Rule, track: Track, seen: Look | None) -> Alert:
        reason, evidence = track.reason, track.evidence
        if seen is not None:
            _, companion = self._tracks.get(_companion(key), (rule, Track()))
            lacking = companion.reason if companion.started is not None else None
            reason, evidence = reason or lacking or seen.reason, seen.evidence
        return Alert(
            key,
            rule,
            track.state,
            track.since,
            track.started,
            evidence,
            historic=key in self._untold,
            actionable=(key.model, key.version) in self._fresh and key not in self._untold,
            reason=reason,
        )

    def observations(self) -> list[tuple[Rule, int]]:
        """Return the rules, and how many observations the detectors of each have had."""
        return [(rule, self._watch.observations[name]) for name, rule in self._rules.items()]

    def tree(self) -> dict[str, Any]:
        """Return everything that is to be remembered, as plain data and arrays."""
        return {
            "mark": self.mark,
            "marks": sorted(self._marks),
            "rules": {name: rule.fingerprint for name, rule in self._rules.items()},
            "tracks": [[*key, rule.name, track.tree()] for key, (rule, track) in self._tracks.items()],
            "newest": [[*version, *moment] for version, moment in self._newest.items()],
            "untold": [list(key) for key in self._untold],
            "feed": self._feed.tree(),
            "watch": self._watch.tree(),
            "live": self.live.tree(),
        }

    def resume(self, tree: dict[str, Any]) -> None:
        """Go on from what `tree` returned; rules that have changed begin anew.

        Raises
        ------
        ValueError
            If it is something else.
        """
        self.mark = maybe(tree, "mark", int)
        self._marks = {plain(mark, int, "a mark") for mark in take(tree, "marks", list)}
        same = {
            name
            for name, fingerprint in take(tree, "rules", dict).items()
            if name in self._rules and self._rules[name].fingerprint == fingerprint
        }
        for row in take(tree, "tracks", list):
            *key, name, track = plain(row, list, "a track")
            if name in same:
                self._tracks[_key(key)] = self._rules[name], Track.from_tree(track)
        for row in take(tree, "newest", list):
            model, version, *times = plain(row, list, "a newest event")
            self._newest[model, version] = Moment(*(plain(time, int, "a time") for time in times))
        self._untold = {_key(row) for row in take(tree, "untold", list)} & self._tracks.keys()
        self._feed.resume(take(tree, "feed", dict))
        self._watch.resume(take(tree, "watch", dict))
        self.live.resume(take(tree, "live", dict))


def _companion(key: Key) -> Key:
    """Return the alert that fires where this one's value is undefined for too long."""
    return key._replace(alert=f"{key.alert}Undefined")


def _key(row: object) -> Key:
    parts = [plain(part, str, "an alert") for part in plain(row, list, "an alert")]
    if len(parts) != len(Key._fields):
        raise ValueError(f"an alert has {len(parts)} labels")
    return Key(*parts)
