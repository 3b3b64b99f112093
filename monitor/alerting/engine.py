"""Decides about alerts from what a pipeline reads: in event time, each event once, whatever the schedule.

Sequential conditions follow the events behind the frontier; interval and value conditions look at the windows
as they were at marks, multiples of `alerts.every` that the frontier has crossed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from monitor.alerting.explaining import explained, windows_of
from monitor.alerting.live import LiveVersions
from monitor.alerting.newest import Newest, Silence
from monitor.alerting.present import Present, Settings
from monitor.alerting.tracks import Tracks, Version
from monitor.alerts.alert import Alert, Evidence, Key, Moment, Transition
from monitor.alerts.conditions import Context, needed_families, readings
from monitor.alerts.policy import look, quiet, sight, undefined_look
from monitor.alerts.rule import Rule
from monitor.alerts.track import Reading, Track
from monitor.alerts.view import AlertsView
from monitor.alerts.words import duration, lacking
from monitor.evaluation import Wanted
from monitor.events.batch import EventBatch
from monitor.events.position import Positions
from monitor.report import Report
from monitor.state.reading import maybe, take
from monitor.watch.feed import Feed, Matured
from monitor.watch.watch import Look, Sighting, Watch


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
    rules
        By name.
    mark
        Event time of the last look of interval and value conditions; None before the first.
    decided
        Event time up to which the detectors have followed the events.
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
        self.rules = {rule.name: rule for rule in rules}
        self._looking = tuple(rule for rule in rules if rule.condition != "sequential")
        self._sequential = tuple(rule for rule in rules if rule.condition == "sequential")
        # Of detectors only what waits for time to pass has to be looked at.
        self._waiting = frozenset(
            rule.name for rule in self._sequential if rule.undefined_for is not None or rule.cooldown
        )
        self._compared = tuple(rule for rule in self._sequential if rule.limit.kind == "champion")
        self._settings = settings
        self._feed = feed
        self._watch = watch
        self._context = context
        self._maturity = maturity
        self._tracks = Tracks(self._is_old)
        self._newest = Newest(settings.no_data_after, maturity, positions)
        self._reached: int | None = None  # the mark of events that the detectors saw since the last look
        self._refused = 0
        self.mark: int | None = None
        self.decided = 0
        self.live = LiveVersions()

    @property
    def looks_back(self) -> int | None:
        """Watermark of the earliest windows that are still to be looked at; None where none are."""
        if not self._looking:
            return None
        return self._next_mark if self.mark is None else self.mark

    def wants(self, model: str) -> frozenset[str]:
        """Return the windows of a model that interval and value conditions look at."""
        rules = [rule for rule in self._looking if rule.model in ("*", model)]
        compared = {rule.limit.name for rule in rules if rule.limit.kind == "window"}
        return frozenset(rule.window for rule in rules) | compared

    @property
    def wanted(self) -> Wanted:
        """What they look at in those windows."""
        resampled = any(rule.method == "bootstrap" for rule in self._looking)
        segments = any(rule.segment for rule in self._looking)
        return Wanted(needed_families(self._looking), resampled, segments=segments)

    @property
    def dropped(self) -> int:
        """Events that no detector will see, since too many wait."""
        return self._feed.dropped

    @property
    def waiting(self) -> int:
        """Events that are read and still to be decided about."""
        return len(self._feed)

    def read(self, batch: EventBatch, frontier: int | None) -> None:
        """Take in a decoded batch, given the frontier when it was read."""
        self._feed.add(batch, frontier)
        self.live.read(batch)

    def due(self, frontier: int, present: Present) -> int | None:
        """Return the next mark to look at, None where there is none: before it, `decide` up to it.

        Of those that nobody will be told of, since they are too old, only the newest is looked at.
        """
        mark = self._next_mark
        if mark is None or mark > frontier or not (self._looking or self._waiting):
            return None
        if present.now is None:
            return mark
        # Where looks take longer than `every`, they fall behind no further than this.
        told = frontier - self._settings.max_age
        if not present.current:
            told = max(told, min(frontier, present.now - self._settings.max_age))
        return max(mark, told // self._settings.every * self._settings.every)

    @property
    def _next_mark(self) -> int | None:
        """The first mark at which there is something new to see; None where nothing is known to be."""
        waiting = self._feed.next
        marks = (self._reached, None if waiting is None else self._mark_of(waiting))
        return min((mark for mark in marks if mark is not None), default=None)

    def _mark_of(self, time: int) -> int:
        return -(-time // self._settings.every) * self._settings.every

    def decide(self, until: int, present: Present) -> list[Transition]:
        """Let the detectors follow the events up to a mark, or up to the frontier where none is due."""
        matured = self._feed.take(until)
        self.decided = until
        silent = list(self._newest.silences(matured, until))
        self._newest.note(matured, present)
        self._reach(matured)
        sightings = self._watch.consume(matured)
        keys = self._keys_of({silence.version for silence in silent})
        seen: list[Sighting | Silence] = [*silent, *sightings]
        seen.sort(key=lambda each: (each.moment.timestamp, each.moment.position))
        transitions = list(chain.from_iterable(self._take(each, keys, present) for each in seen))
        if self._compared:  # a challenger may have become the champion
            watched = {key for key, _, _ in self._watch.places()}
            moment_of = partial(self._moment, mark=until)
            transitions += self._tracks.end(self._compared, watched, moment_of, present)
        return transitions

    def tell(self) -> None:
        """Have people told of what still fires, however long ago it began: everything read is decided."""
        self._tracks.untold.clear()

    def _keys_of(self, versions: Collection[Version]) -> Mapping[Version, Mapping[Key, tuple[Rule, int]]]:
        """Return the alerts of versions, and since which event time there is something to say of them."""
        found: dict[Version, dict[Key, tuple[Rule, int]]] = {version: {} for version in versions}
        if versions:
            tracked = ((key, rule, 0) for key, rule, _ in self._tracks.items())
            for key, rule, since in chain(self._watch.places(), tracked):
                if (of_version := found.get((key.model, key.version))) is not None:
                    of_version[key] = rule, since
        return found

    def _take(
        self,
        seen: Sighting | Silence,
        keys: Mapping[Version, Mapping[Key, tuple[Rule, int]]],
        present: Present,
    ) -> Iterator[Transition]:
        if isinstance(seen, Sighting):
            rule, key, firing, moment, evidence = seen
            how = partial(sight, firing=firing, evidence=evidence)
            yield from self._tracks.step(rule, key, moment, present, how)
            return
        how = partial(quiet, last_event=seen.last_event, no_data_after=self._settings.no_data_after)
        for key, (rule, since) in keys[seen.version].items():
            if since <= seen.moment.timestamp:  # a detector that came with a later event knew of no silence
                yield from self._tracks.step(rule, key, seen.moment, present, how)

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
        self.mark, self._reached = mark, None
        moment_of = partial(self._moment, mark=mark)
        transitions: list[Transition] = []
        if report is not None:
            # Others came later or have gone meanwhile.
            windows = tuple(w for w in report.windows if (w.model, w.version) in self._newest)
            report = replace(report, windows=windows)
            before = [key for key, _, _ in self._tracks.items()]
            found, self._refused = readings(self._looking, report, self._context, before)
            for rule, key, reading in found:
                how = partial(look, reading=reading)
                transitions += self._tracks.step(rule, key, moment_of(key), present, how)
                transitions += self._undefined(rule, key, mark, present, reading)
            watched = {key for _, key, _ in found}
            transitions += self._tracks.end(self._looking, watched, moment_of, present)
        if self._waiting:
            for seen in self._watch.looks():
                if seen.rule.name in self._waiting:
                    transitions += self._look_at_detector(seen, mark, present)
        return transitions

    def _look_at_detector(self, seen: Look, mark: int, present: Present) -> Iterator[Transition]:
        """Step the companion of a detector, and let what it raised during a cooldown fire after it."""
        rule, key = seen.rule, seen.key
        mark -= self._maturity(key.model)  # up to there detectors have seen events
        if seen.firing and self._tracks[key].state == "pending":
            how = partial(sight, firing=True, evidence=seen.evidence)
            yield from self._tracks.step(rule, key, self._moment(key, mark), present, how)
        silent = rule.undefined_for is not None and seen.last <= mark - rule.undefined_for
        why = Evidence(undefined="no_observations") if silent else seen.evidence
        yield from self._undefined(rule, key, mark, present, Reading(why, undefined_since=seen.last))

    def _undefined(
        self, rule: Rule, key: Key, mark: int, present: Present, reading: Reading
    ) -> Iterator[Transition]:
        companion = key._replace(alert=f"{key.alert}Undefined")
        if rule.undefined_for is None or (reading.undefined is None and companion not in self._tracks):
            return
        how = partial(undefined_look, reading=reading)
        yield from self._tracks.step(rule, companion, self._moment(companion, mark), present, how)

    def _is_old(self, model: str, moment: Moment, present: Present) -> bool:
        # An event is decided on once it is mature; before that it is not old, however long it lay there.
        return present.now is not None and (
            present.now - moment.recorded > self._settings.max_age + self._maturity(model)
            or not self._newest.are_fresh(np.array([moment.position]), present.read_after)
        )

    def _moment(self, key: Key, mark: int) -> Moment:
        newest = self._newest.of((key.model, key.version)) or Moment(mark, mark, 0)
        return newest._replace(timestamp=mark)

    def _reach(self, matured: Mapping[Version, Matured]) -> None:
        """Remember up to which mark there is something new to see."""
        ends = (
            int(events.columns.timestamp[-1]) + self._maturity(model)
            for (model, _), events in matured.items()
        )
        marks = [] if self._reached is None else [self._reached]
        self._reached = max([*marks, *map(self._mark_of, ends)], default=None)

    def forget(self, model: str, version: str) -> None:
        """Let a version go: what fires of it ends without a word."""
        self._feed.forget(model, version)
        self._watch.forget(model, version)
        self._tracks.forget((model, version))
        self._newest.forget((model, version))
        if not self._newest.has(model):
            self.live.forget(model)

    def view(self, report: Report | None = None) -> AlertsView:
        """Return every alert as it is now, explained by the newest report, and the newest transitions."""
        looks = {seen.key: seen for seen in self._watch.looks()}
        found = {key: (seen.rule, Track()) for key, seen in looks.items()}
        found |= {key: (rule, track) for key, rule, track in self._tracks.items()}
        shown = (self._alert(key, *found[key], looks.get(key)) for key in sorted(found))
        windows = {} if report is None else windows_of(report)
        alerts = tuple(
            explained(alert, windows, self._context) if alert.key in looks else alert for alert in shown
        )
        changes = tuple(reversed(self._tracks.transitions))
        return AlertsView(alerts, changes, self._watch.refused + self._refused, self.live.live)

    def _alert(self, key: Key, rule: Rule, track: Track, seen: Look | None) -> Alert:
        evidence = track.evidence if seen is None else seen.evidence
        if seen is not None and track.started is not None:
            # Since it raised, the detector gathers evidence for the opposite; what counts is why it raised.
            raised = track.evidence
            evidence = replace(evidence, statistic=raised.statistic, threshold=raised.threshold)
        reason = track.reason or (None if seen is None else seen.reason or self._unseen(seen))
        untold = key in self._tracks.untold
        sure = reason is None and evidence.support >= rule.min_support
        return Alert(
            key,
            rule,
            track.state,
            track.since,
            track.started,
            evidence,
            historic=untold,
            actionable=sure and not untold and self._newest.is_fresh((key.model, key.version)),
            reason=reason,
        )

    def _unseen(self, seen: Look) -> str | None:
        """Return why a detector goes on as it is although the version has events."""
        newest = self._newest.of((seen.key.model, seen.key.version))
        if newest is None or newest.timestamp - seen.last < self._settings.no_data_after:
            return None
        why = lacking(seen.rule.metric, seen.key.class_, "no_observations")
        return f"{why} for {duration(newest.timestamp - seen.last)}"

    def observations(self) -> list[tuple[Rule, int]]:
        """Return the rules, and how many observations the detectors of each have had."""
        return [(rule, self._watch.observations[name]) for name, rule in self.rules.items()]

    def tree(self) -> dict[str, Any]:
        """Return everything that is to be remembered, as plain data and arrays."""
        return {
            "mark": self.mark,
            "reached": self._reached,
            "rules": {name: rule.fingerprint for name, rule in self.rules.items()},
            "newest": self._newest.tree(),
            **self._tracks.tree(),
            "feed": self._feed.tree(),
            "watch": self._watch.tree(),
            "live": self.live.tree(),
        }

    def resume(self, tree: dict[str, Any], changed: Collection[str] = ()) -> None:
        """Go on from what `tree` returned; rules that have changed begin anew.

        Parameters
        ----------
        tree
            Its arrays belong to the result.
        changed
            Models whose events mean something else now: nothing that waits of them is taken over.

        Raises
        ------
        ValueError
            If it is something else.
        """
        self.mark = maybe(tree, "mark", int)
        self._reached = maybe(tree, "reached", int)
        then = take(tree, "rules", dict)
        self._newest.resume(take(tree, "newest", list))
        same = {name: rule for name, rule in self.rules.items() if then.get(name) == rule.fingerprint}
        self._tracks.resume(tree, same)
        self._feed.resume(take(tree, "feed", dict), changed=changed)
        self._watch.resume(take(tree, "watch", dict))
        self.live.resume(take(tree, "live", dict))
