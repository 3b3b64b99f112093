"""One detector: its observations in, sightings out, and what it knows of the newest of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from monitor.alerts.alert import Evidence, Key, Moment
from monitor.alerts.rule import Rule
from monitor.detection import Crossing, Floats, Procedure, Statistic, run
from monitor.watch.evidence import Sum, onset, sum_of, summary
from monitor.watch.matured import Matured
from monitor.watch.measures import Index, Units
from monitor.watch.terms import Terms

KEPT = 1_000
"""Newest observations of a detector that are remembered."""


class Sighting(NamedTuple):
    """A detector raised, or cleared."""

    rule: Rule
    key: Key
    firing: bool
    moment: Moment
    evidence: Evidence


class Look(NamedTuple):
    """A detector as it is.

    Attributes
    ----------
    ready
        Whether it can judge.
    reason
        Why it cannot: a code, also in `evidence.undefined`.
    last
        Event time of its newest observation, of its beginning before the first one.
    since
        Event time of its beginning.
    """

    rule: Rule
    key: Key
    firing: bool
    ready: bool
    reason: str | None
    evidence: Evidence
    last: int
    since: int


@dataclass(frozen=True, slots=True)
class Plan:
    """What a detector is told once.

    Attributes
    ----------
    rule, key
        What it watches for.
    procedure, terms
        How.
    cost
        Of one wrong decision, where that is one number.
    after
        Event time up to which events do not count.
    """

    rule: Rule
    key: Key
    procedure: Procedure
    terms: Terms
    cost: float | None = None
    after: int | None = None


@dataclass(slots=True)
class Memory:
    """What a detector remembers.

    Attributes
    ----------
    statistic
        Of its procedure.
    last
        As in `Look`.
    newest : int64, shape (m, width)
        Its newest observations, at most `KEPT`; where an observation is a pane, the sums over each.
    pane
        Sum of the pane that is not yet complete.
    episode
        Sum since the onset while it fires.
    """

    statistic: Statistic
    last: int
    newest: Units
    pane: Sum
    episode: Sum


class Stream(NamedTuple):
    """Observations of one detector in their order, and the moments of their events.

    Attributes
    ----------
    units : int64, shape (m, width)
    timestamp, recorded, position : int64, shape (m,)
    """

    units: Units
    timestamp: NDArray[np.int64]
    recorded: NDArray[np.int64]
    position: NDArray[np.int64]

    @classmethod
    def of(cls, units: Units, matured: Matured, events: Index) -> Stream:
        """Return observations of some of the events."""
        columns, marks = matured
        return cls(units, columns.timestamp[events], marks.recorded[events], columns.position[events])

    def select(self, index: Index | slice) -> Stream:
        """Return some of the observations."""
        return Stream(*(array[index] for array in self))

    def moment(self, i: int) -> Moment:
        """Return when an observation was made."""
        return Moment(int(self.timestamp[i]), int(self.recorded[i]), int(self.position[i]))


class Detector:
    """What a plan says, and what is remembered."""

    def __init__(self, plan: Plan, since: int, memory: Memory | None = None) -> None:
        nothing = Sum(0, (0,) * plan.terms.width)
        self.plan = plan
        self.since = since
        self.memory = memory or Memory(
            Statistic.fresh(plan.procedure),
            since,
            np.empty((0, plan.terms.width), np.int64),
            nothing,
            nothing,
        )

    def panes(self, stream: Stream) -> Stream:
        """Take in single observations; return what the detector follows: themselves, or sums over panes."""
        if self.plan.after is not None and len(stream.timestamp):
            # In order: what does not count comes first.
            first = int(np.searchsorted(stream.timestamp, self.plan.after, "right"))
            stream = stream.select(slice(first, None))
        memory, events = self.memory, self.plan.rule.observation
        if not len(stream.timestamp):
            return stream
        memory.last = int(stream.timestamp[-1])
        if events == 1:
            return stream
        starts = np.arange(events - memory.pane.events, len(stream.units), events)
        parts = np.split(stream.units, starts)
        sums = [sum_of(part, 1) for part in parts]
        sums[0] = memory.pane.plus(sums[0])
        full = [each for each in sums if each.events == events]
        memory.pane = sums[-1] if sums[-1].events < events else Sum(0, (0,) * self.plan.terms.width)
        ends = np.append(starts, len(stream.units))[: len(full)] - 1
        units = np.array([each.units for each in full], np.int64).reshape(-1, self.plan.terms.width)
        return Stream(units, *(array[ends] for array in stream[1:]))

    def floats(self, units: Units) -> Floats:
        """Return observations as the procedure takes them."""
        return self.plan.terms.floats(units, self.plan.rule.observation)

    def follow(self, stream: Stream, statistic: Statistic, crossings: Sequence[Crossing]) -> list[Sighting]:
        """Take in what `run` made of observations (panes)."""
        memory = self.memory
        old = len(memory.newest)
        units = np.concatenate([memory.newest, stream.units])
        sightings = []
        at = 0  # up to where the episode is summed
        for crossing in crossings:
            end = crossing.index + 1
            known = units[: old + end][-min(KEPT, crossing.observations) :]
            raised = crossing.firing
            evalues = self.plan.procedure.running(not raised, crossing.direction)
            since = sum_of(known[onset(evalues, self.floats(known), crossing.direction) :], self._events)
            if raised:
                memory.episode = since
            else:
                memory.episode = memory.episode.plus(sum_of(stream.units[at:end], self._events))
            at = end
            evidence = self._summary(since, crossing.statistic, crossing.direction)
            if not raised:  # the value is that of the recovery, the damage that of the episode
                whole = self._summary(memory.episode, crossing.statistic, crossing.direction)
                evidence = replace(evidence, beyond=whole.beyond, cost_beyond=whole.cost_beyond)
                memory.episode = Sum(0, (0,) * self.plan.terms.width)
            moment = stream.moment(crossing.index)
            sightings.append(Sighting(self.plan.rule, self.plan.key, raised, moment, evidence))
        if statistic.firing:
            memory.episode = memory.episode.plus(sum_of(stream.units[at:], self._events))
        memory.statistic = statistic
        memory.newest = units[-KEPT:].copy()
        return sightings

    def look(self, reason: str | None = None) -> Look:
        """Return how it is; `reason` why it cannot judge."""
        memory = self.memory
        total = memory.episode if memory.statistic.firing else sum_of(memory.newest, self._events)
        value = memory.statistic.value(self.plan.procedure)
        evidence = self._summary(total, value, memory.statistic.direction)
        if reason is not None:
            evidence = replace(evidence, undefined=reason)
        firing = memory.statistic.firing
        rule, key = self.plan.rule, self.plan.key
        return Look(rule, key, firing, reason is None, reason, evidence, memory.last, self.since)

    def _summary(self, total: Sum, statistic: float, direction: str) -> Evidence:
        return summary(
            self.plan.rule,
            self.plan.terms,
            total,
            self.plan.cost,
            statistic=statistic,
            threshold=self.plan.procedure.threshold,
            component=direction or None,
        )

    @property
    def _events(self) -> int:
        return self.plan.rule.observation


def advance(work: Sequence[tuple[Detector, Stream]]) -> list[Sighting]:
    """Take detectors, each once, through what `Detector.panes` made of their next observations."""
    found = [(detector, stream) for detector, stream in work if len(stream.units)]
    statistics, crossings = run(
        [detector.plan.procedure for detector, _ in found],
        [detector.memory.statistic for detector, _ in found],
        [detector.floats(stream.units) for detector, stream in found],
    )
    sightings = []
    for (detector, stream), statistic, crossed in zip(found, statistics, crossings, strict=True):
        sightings += detector.follow(stream, statistic, crossed)
    return sightings
