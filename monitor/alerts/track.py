"""What is remembered of one alert between looks, and what a look sees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from math import isfinite
from typing import Any

from monitor.alerts.alert import Evidence, Moment, State


@dataclass(frozen=True, slots=True)
class Reading:
    """One look at one alert at a mark.

    Attributes
    ----------
    evidence
        The value, its interval and support, or why it is undefined, and the limit.
    complete
        Whether the window holds everything it should.
    label_coverage
        Share of the window's events that have labels; None of no events.
    unknown
        Why there is no limit.
    undefined_since
        Event time since when the value is undefined, in microseconds; None: since this look.
    unit_cost
        What one wrong decision costs, where a limit of kind "best" is still to be found.
    """

    evidence: Evidence = field(default_factory=Evidence)
    complete: bool = True
    label_coverage: float | None = None
    unknown: str | None = None
    undefined_since: int | None = None
    unit_cost: float | None = None

    @property
    def undefined(self) -> str | None:
        """Why there is no value."""
        return self.evidence.undefined


@dataclass(frozen=True, slots=True)
class Track:
    """What the policy remembers of one alert; `Track()` is that of a new one.

    Attributes
    ----------
    since
        When the state last changed.
    started
        Where the episode began that still fires, also while the version is silent.
    breached
        The first of the breaching looks in a row, until it fires.
    steps
        How many those are.
    resolved
        Event time at which the last episode ended.
    undefined_since
        Of a companion: event time since when the value is undefined.
    best
        The best lower bound so far.
    silent
        Whether there has been no event of the version for too long.
    evidence
        What the last look saw that could be judged by.
    reason
        Why the last look could not be judged by, or why there is no data.
    """

    since: Moment | None = None
    started: Moment | None = None
    breached: Moment | None = None
    steps: int = 0
    resolved: int | None = None
    undefined_since: int | None = None
    best: float | None = None
    silent: bool = False
    evidence: Evidence = field(default_factory=Evidence)
    reason: str | None = None

    @property
    def state(self) -> State:
        """The state as it is shown; silence hides the one that is returned to."""
        if self.silent:
            return "no_data"
        if self.started is not None:
            return "firing"
        return "inactive" if self.breached is None else "pending"

    def tree(self) -> dict[str, Any]:
        """Return everything as plain data; numbers that are not finite are left out."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        for name in _MOMENTS:
            values[name] = None if values[name] is None else list(values[name])
        evidence = {each.name: getattr(self.evidence, each.name) for each in fields(Evidence)}
        values["evidence"] = {name: value for name, value in evidence.items() if _is_kept(value)}
        return values

    @classmethod
    def from_tree(cls, tree: object) -> Track:
        """Return the track that `tree` was made of.

        Raises
        ------
        ValueError
            If it is something else.
        """
        if not isinstance(tree, Mapping) or set(tree) != {each.name for each in fields(cls)}:
            raise ValueError("this is not what is remembered of an alert")
        values = dict(tree)
        for name in _MOMENTS:
            values[name] = None if values[name] is None else _moment(values[name], name)
        values["evidence"] = _evidence(values["evidence"])
        for name, kinds in _KINDS.items():
            _check(name, values[name], kinds)
        return cls(**values)


_MOMENTS = ("since", "started", "breached")

_KINDS: Mapping[str, tuple[type, ...]] = {
    "steps": (int,),
    "resolved": (int, type(None)),
    "undefined_since": (int, type(None)),
    "best": (float, int, type(None)),
    "silent": (bool,),
    "reason": (str, type(None)),
}

_EVIDENCE_KINDS: Mapping[str, tuple[type, ...]] = {
    "support": (int,),
    "recalibration": (dict,),
    **dict.fromkeys(("method", "component", "undefined", "note"), (str,)),
    **dict.fromkeys(("prevalence_moved", "breaches_at_reference"), (bool,)),
}
"""Of every other field of the evidence: a number."""


def _is_kept(value: object) -> bool:
    return value is not None and (not isinstance(value, float) or isfinite(value))


def _check(name: str, value: object, kinds: tuple[type, ...]) -> None:
    if type(value) not in kinds:
        raise ValueError(f"{name} of an alert is of type {type(value).__name__}")


def _moment(row: object, name: str) -> Moment:
    _check(name, row, (list,))
    assert isinstance(row, list)
    if len(row) != len(Moment._fields):
        raise ValueError(f"{name} of an alert has {len(row)} numbers")
    for number in row:
        _check(name, number, (int,))
    return Moment(*row)


def _evidence(tree: object) -> Evidence:
    _check("evidence", tree, (dict,))
    assert isinstance(tree, dict)
    if unknown := set(tree) - {each.name for each in fields(Evidence)}:
        raise ValueError(f"evidence of an alert has {min(map(str, unknown))!r}")
    for name, value in tree.items():
        _check(name, value, _EVIDENCE_KINDS.get(name, (float, int)))
    return Evidence(**tree)
