"""What an alert is at one moment, and what happened to it: values that others show, send and act on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from monitor.alerts.rule import Rule

State = Literal["inactive", "pending", "firing", "no_data"]
STATE_CODES: Mapping[State, int] = {"inactive": 0, "pending": 1, "firing": 2, "no_data": 3}
"""As exported by monitor_alert_state."""

Change = Literal["pending", "firing", "resolved", "no_data", "inactive"]
"""What a transition leads to; "resolved" is from firing back to inactive."""


class Key(NamedTuple):
    """Which alert: the labels of monitor_alert_state. `window` is empty of sequential conditions."""

    alert: str
    model: str
    version: str
    window: str
    segment: str
    class_: str

    @property
    def labels(self) -> dict[str, str]:
        """The labels as they are exported."""
        names = ("alert", "model", "version", "window", "segment", "class")
        return dict(zip(names, self, strict=True))


@dataclass(frozen=True, slots=True)
class Evidence:
    """Why an alert is as it is, at its last transition or look. None where it is not known.

    Attributes
    ----------
    value, lower, upper, method
        The metric and its interval: over the window, or over the observations since the detector's evidence
        began.
    limit
        What it is held against.
    support
        Observations of the metric's denominator behind the value.
    statistic, threshold
        Of a detector: its statistic, and where it raises or clears.
    component
        Of calibration: "up", "down", "overconfident" or "underconfident".
    beyond, cost_beyond
        Wrong decisions beyond those that the limit allows since the onset (misses, for recall), and what they
        cost, where costs are configured.
    prevalence, reference_prevalence, value_at_reference_prevalence, prevalence_moved, breaches_at_reference
        Of metrics that move with prevalence alone.
    undefined
        Why there is no value.
    recalibration
        A suggested map, as plain data: {"map": "temperature", "parameters": {...}, "gain": x,
        "standard_error": x} or {"map": null, "reason": "..."}.
    note
        Whatever else a person should know, one sentence.
    """

    value: float | None = None
    lower: float | None = None
    upper: float | None = None
    method: str | None = None
    limit: float | None = None
    support: int = 0
    statistic: float | None = None
    threshold: float | None = None
    component: str | None = None
    beyond: float | None = None
    cost_beyond: float | None = None
    prevalence: float | None = None
    reference_prevalence: float | None = None
    value_at_reference_prevalence: float | None = None
    prevalence_moved: bool | None = None
    breaches_at_reference: bool | None = None
    undefined: str | None = None
    recalibration: Mapping[str, Any] | None = None
    note: str | None = None


class Moment(NamedTuple):
    """Where in the log something was decided.

    Attributes
    ----------
    timestamp
        Event time in microseconds: of the deciding event, or the mark of an interval or value condition.
    recorded
        Kafka's time of the deciding event (of the newest one before the mark), in microseconds.
    position
        Its place in the log (`monitor.events.position`).
    """

    timestamp: int
    recorded: int
    position: int


@dataclass(frozen=True, slots=True)
class Transition:
    """One change of one alert. `historic`: decided too long after the event, or while catching up."""

    key: Key
    change: Change
    moment: Moment
    evidence: Evidence
    historic: bool = False
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Alert:
    """One alert as it is now.

    Attributes
    ----------
    key, rule, state
        Which it is, what it follows, how it is.
    since
        Since when it is in this state; None where it never changed.
    started
        Where the episode began to fire; None where it does not fire (also not under no data).
    evidence
        Why.
    historic
        It began to fire too long ago, or while catching up: nobody has been told yet.
    actionable
        It fires at an event that was read after catching up, is judged at this moment (its window is whole,
        say) and has the least support: only then something may be done.
    reason
        Why there is no data, or why it goes on firing without.
    """

    key: Key
    rule: Rule
    state: State = "inactive"
    since: Moment | None = None
    started: Moment | None = None
    evidence: Evidence = field(default_factory=Evidence)
    historic: bool = False
    actionable: bool = False
    reason: str | None = None

    @property
    def firing(self) -> bool:
        """Whether people should be told: it fires, and did not only do so long ago."""
        return self.started is not None and not self.historic

    @property
    def is_companion(self) -> bool:
        """Whether it says no more than that its rule's value is undefined."""
        return self.key.alert != self.rule.name

    @property
    def episode(self) -> str:
        """A name for this episode that is the same after every restart and replay; "" where none is."""
        if self.started is None:
            return ""
        return "/".join((*self.key, str(self.started.timestamp), str(self.started.position)))
