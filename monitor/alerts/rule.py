"""An alert rule as the rest of the daemon knows it: plain values, everything resolved."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

Condition = Literal["sequential", "interval", "value"]
LimitKind = Literal["number", "baseline", "version", "window", "champion", "random", "best"]

CALIBRATION = "calibration"
"""What stands in place of a family where the rule is about calibration as a whole."""

RUNBOOKS = "docs/runbooks.md"
"""Page with a section for each kind of alert, as it is named where nobody says where it is published."""


@dataclass(frozen=True, slots=True)
class Limit:
    """What a value is held against.

    Attributes
    ----------
    kind
        "number" (itself), "baseline" (a stored reference), "version" and "window" (the same metric of
        another version, of another window of the same version), "champion" (of the champion version),
        "random" (recall no better than the predicted rate), "best" (the best lower bound so far on complete
        windows).
    number
        Where kind is "number".
    name
        Of the baseline, version or window; of the champion once it is known.
    margin
        How far beyond that the limit stands: subtracted under a floor, added above a ceiling.
    """

    kind: LimitKind
    number: float | None = None
    name: str = ""
    margin: float = 0.0


@dataclass(frozen=True, slots=True)
class Rule:
    """One alert of the configuration (times in microseconds).

    Attributes
    ----------
    name
        Of the alert.
    model
        A model's name, or "*" for every model.
    metric
        Family ("classifier_recall"), or CALIBRATION.
    labels
        Labels of the value beyond model, version, window, segment and class: max_fpr, k, subset, average,
        criterion, beta, written as they are exported.
    class_
        Name of the class; "" for the value of the whole; "*" for every class. Always explicit: the default of
        the configuration has been resolved.
    segment
        "" for all events, "key=value", or "key=*" for every value.
    window
        Of interval and value conditions; "" of sequential ones, which have none.
    condition, side, limit
        What is watched for. `side` "floor": bad is below.
    baseline
        Of calibration: the stored reference whose map recalibrates scores; "" without one.
    shift, slope
        Tolerance of calibration: in logits, and as a factor.
    false_alarm_every
        Mean number of observations of the metric's denominator between false alarms, at least.
    matches
        Detectors that the rule may have at once: `alerts.max_matches` with a wildcard, else 1. The threshold
        of each is `matches * false_alarm_every`.
    observation
        Events that make one observation; above 1 a pane's mean is one.
    method
        Which interval: "analytic" or "bootstrap".
    for_steps, for_time
        How many steps in a row, and how long, a condition must hold.
    hysteresis
        How far back beyond the limit a value must be before the alert resolves.
    cooldown
        Time after resolving during which the alert does not fire again.
    min_support
        Least support for a decision.
    min_label_coverage
        Least share of labeled events in the window; None: any.
    undefined_for
        Time after which an undefined value raises the alert's companion; None: it has none.
    severity, extra_labels, runbook, actions
        For those who are told, and what is done.
    runbooks
        Address of the page with a section for each kind of alert, where the rule has no runbook of its own.
    """

    name: str
    model: str
    metric: str
    labels: Mapping[str, str] = field(default_factory=dict)
    class_: str = ""
    segment: str = ""
    window: str = ""
    condition: Condition = "sequential"
    side: Literal["floor", "ceiling"] = "floor"
    limit: Limit = field(default_factory=lambda: Limit("number", 0.0))
    baseline: str = ""
    shift: float = 0.1
    slope: float = 1.1
    false_alarm_every: int = 10_000
    matches: int = 1
    observation: int = 1
    method: Literal["analytic", "bootstrap"] = "analytic"
    for_steps: int = 1
    for_time: int = 0
    hysteresis: float = 0.0
    cooldown: int = 0
    min_support: int = 20
    min_label_coverage: float | None = None
    undefined_for: int | None = None
    severity: str = "ticket"
    extra_labels: Mapping[str, str] = field(default_factory=dict)
    runbook: str | None = None
    runbooks: str = field(default=RUNBOOKS, repr=False)  # not in the fingerprint
    actions: tuple[str, ...] = ()

    @property
    def threshold(self) -> float:
        """At which a detector's statistic raises, and clears."""
        return float(self.matches * self.false_alarm_every)

    @property
    def fingerprint(self) -> str:
        """Hash of what decides: a rule that is told or acted on differently goes on with what it knows."""
        told = replace(self, severity="", extra_labels={}, runbook=None, actions=())
        return hashlib.sha256(repr(told).encode()).hexdigest()
