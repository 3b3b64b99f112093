"""One rule of the `alerts` section, and what of it fits together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Literal

from pydantic import Field, StrictFloat, StrictInt, Tag

from monitor.config.alert_values import (
    Champion,
    Floor,
    LabelName,
    Metric,
    NonNegative,
    Number,
    Segment,
    StepsOrTime,
)
from monitor.config.models import AtK
from monitor.config.section import Problem, Section
from monitor.config.urls import WebAddress
from monitor.config.values import (
    Count,
    Duration,
    Name,
    Names,
    PositiveDuration,
    Rate,
    WholeNumber,
    as_written,
    between,
    by_kind,
    show,
)

Condition = Literal["sequential", "interval", "value"]

SEQUENTIAL: Mapping[str, Literal["floor", "ceiling"]] = {
    "recall": "floor",
    "precision": "floor",
    "specificity": "floor",
    "npv": "floor",
    "accuracy": "floor",
    "roc_auc": "floor",
    "partial_roc_auc": "floor",
    "brier_score": "ceiling",
    "expected_cost": "ceiling",
}
"""Metrics that have a detector, and the side on which it watches them."""

_OF_VALUES = ("subset", "average", "criterion", "k", "max_fpr")
"""Keys that say which of a metric's values is meant."""


class ToleranceConfig(Section):
    """What calibration may drift: added to the logit, and its factor either way."""

    shift: NonNegative = 0.1
    """of `detector: calibration`: how far log-odds may be off"""
    slope: Annotated[StrictFloat, between(1)] = 1.1
    """of `detector: calibration`: by which factor they may be off, either way"""


class ComparedConfig(Section):
    """What a metric is compared with where that is no number: exactly one of these."""

    version: Name | None = None
    """of which version; exactly one of the two is set"""
    window: Name | None = None
    """over which window of the same version"""

    def problems(self) -> Iterator[Problem]:
        """Yield whether not exactly one is given."""
        if (self.version is None) == (self.window is None):
            yield Problem((), "write champion, {version: NAME} or {window: NAME}")


class RuleConfig(Section):
    """One alert: a condition on a metric of a model, and what follows."""

    model: Name
    """a model, or `"*"`: each one, named or not"""
    metric: Metric | None = None
    """
    a metric of [docs/metrics.md](metrics.md) without `classifier_`, as in `recall`; exactly one of
    `metric` and `detector` is set
    """
    detector: Literal["calibration"] | None = None
    """watch whether scores are still calibrated, in every direction at once"""
    class_: Name | None = Field(None, alias="class")
    """
    a class, or `"*"`: each one; null: the positive class of a binary model, the value of the whole where
    there is one, else it has to be written
    """
    segment: Segment | None = None
    """`region=eu`, or `region=*`: each value of a key of `models.NAME.segments`; null: all events"""
    window: Name | None = None
    """where the condition is on a window; null: the first of the model"""
    subset: Literal["all", "positive", "negative"] | None = None
    """of `brier_score`; null: `all`"""
    average: Literal["macro", "weighted", "micro", "samples"] | None = None
    """the average over classes of this metric"""
    criterion: Literal["cost", "f1", "min_fpr_at_recall"] | None = None
    """of `best_threshold`"""
    k: AtK | None = None
    """one of `models.NAME.at_k` (`top_k` of top-k accuracy); null: the first of them"""
    max_fpr: Rate | None = None
    """one of `models.NAME.max_fpr`; null: the first of them"""
    floor: Floor | None = None
    """
    values below are bad; `random`: recall no better than the share of decisions for the class; `best`:
    the best lower bound so far. Exactly one of `floor`, `ceiling`, `baseline` and `compare_to` is set
    """
    ceiling: Number | None = None
    """values above are bad"""
    warn: Number | None = None
    """before the floor or ceiling: makes another alert, of severity `warning` and without actions"""
    baseline: Name | None = None
    """
    one of `baselines`: values must not be worse than its bound; with `detector: calibration` its map
    recalibrates the scores
    """
    compare_to: (
        Annotated[
            Annotated[Champion, Tag("[text]")] | Annotated[ComparedConfig, Tag("[mapping]")],
            by_kind("champion, {version: NAME} or {window: NAME}"),
        ]
        | None
    ) = None
    """the same metric of the champion version, of another version, or over another window"""
    margin: NonNegative = 0.0
    """how much worse than a limit that is no number a value may be"""
    tolerance: ToleranceConfig = as_written({})
    condition: Condition | None = None
    """
    enough evidence, gathered event by event; the whole interval beyond the limit; the value beyond it.
    null: the first of these that the metric and the limit have
    """
    false_alarm_every: Annotated[StrictInt, between(10)] = 10_000
    """
    sequential: observations between false alarms, on average at least, counted in the metric's
    denominator (of recall: events of the class)
    """
    observation: Count = 1
    """sequential: events whose mean is one observation, for streams too fast for single ones"""
    method: Literal["analytic", "bootstrap"] = "analytic"
    """which interval"""
    for_: StepsOrTime = Field(1, alias="for")
    """how long a condition on a window must hold"""
    hysteresis: NonNegative = 0.0
    """how far back beyond the limit a value on a window must be before the alert resolves"""
    cooldown: Duration = as_written("0s")
    """time after resolving in which the alert does not fire"""
    min_support: WholeNumber = 20
    """least support of a value that is judged"""
    min_label_coverage: Rate | None = None
    """least share of labeled events in a window that is judged"""
    undefined_for: PositiveDuration | None = None
    """after it an undefined value raises `NAMEUndefined`; null: nothing does"""
    severity: Name = "ticket"
    """label of the alert, for routing"""
    labels: Mapping[LabelName, Name] = {}
    """further labels, as in `{team: payments}`"""
    runbook: WebAddress | None = None
    """link for whoever is told"""
    actions: Names = ()
    """what is done, from `actions`"""

    @property
    def no_detector(self) -> str:
        """Why evidence cannot be gathered event by event; "" where a detector exists."""
        if self.detector is not None:
            return ""
        watched = SEQUENTIAL.get(self.metric or "")
        if watched is None or self.average is not None:
            return f"no detector exists for {self.metric}" + (" averages" if self.average else "")
        if self.floor in ("random", "best"):
            return f"the limit {self.floor} moves with the window"
        if isinstance(self.compare_to, ComparedConfig):
            return "another version or window is compared over windows"
        if self.compare_to == "champion" and self.metric in ("roc_auc", "partial_roc_auc"):
            return f"{self.metric} of two versions is compared over windows"
        written = "floor" if self.floor is not None else "ceiling" if self.ceiling is not None else watched
        return "" if written == watched else f"the detector of {self.metric} watches for a {watched}"

    @property
    def sequential(self) -> bool:
        """Whether evidence is gathered event by event: by default where a detector exists."""
        return self.condition == "sequential" or (self.condition is None and not self.no_detector)

    @property
    def limits(self) -> tuple[str, ...]:
        """Keys of what the metric is held against; there has to be one."""
        keys = ("floor", "ceiling", "baseline", "compare_to")
        return tuple(key for key in keys if getattr(self, key) is not None)

    def problems(self) -> Iterator[Problem]:
        """Yield what does not fit together."""
        if (self.metric is None) == (self.detector is None):
            yield Problem((), "write exactly one of metric and detector")
            return
        if self.detector is not None:
            yield from self._detector_problems()
        else:
            yield from self._limit_problems()
        if self.condition == "sequential" and self.no_detector:
            yield Problem(("condition",), f"sequential: {self.no_detector}; write interval or value")
        elif self.sequential:
            yield from self._sequential_problems()
        else:
            for key in self._written("false_alarm_every", "observation"):
                why = f": {self.no_detector}" if self.no_detector else ""
                yield Problem(
                    (key,), f"is for sequential conditions, and this is none{why}; mend that, or remove it"
                )
            if self.method == "bootstrap" and self.condition == "value":
                yield Problem(("method",), "is of intervals; remove it, or write condition: interval")

    def _detector_problems(self) -> Iterator[Problem]:
        of_metrics = ("floor", "ceiling", "warn", "compare_to", "margin", *_OF_VALUES)
        for key in self._written(*of_metrics):
            yield Problem((key,), "is for a metric; remove it (tolerance and baseline are for this detector)")
        if self.condition in ("interval", "value"):
            yield Problem(("condition",), "a detector is sequential; remove it")

    def _limit_problems(self) -> Iterator[Problem]:
        if len(self.limits) != 1:
            yield Problem((), "write exactly one of floor, ceiling, baseline and compare_to")
            return
        number = self.ceiling if self.floor is None else self.floor
        is_number = isinstance(number, int | float)
        for key in self._written("tolerance"):
            yield Problem((key,), "is for detector: calibration; remove it")
        for key in self._written("margin"):
            if is_number:
                yield Problem(
                    (key,), f"is for limits that move; remove it, and write another {self.limits[0]}"
                )
        if self.warn is None:
            return
        if not isinstance(number, int | float):
            yield Problem(("warn",), "is for a number as floor or ceiling; remove it")
        elif self.floor is not None and self.warn <= number:
            yield Problem(
                ("warn",), f"{show(self.warn)} is not above the floor; write more, to be warned before it"
            )
        elif self.floor is None and self.warn >= number:
            yield Problem(
                ("warn",), f"{show(self.warn)} is not below the ceiling; write less, to be warned before it"
            )

    def _sequential_problems(self) -> Iterator[Problem]:
        for key in self._written("for", "window", "hysteresis", "method", "min_label_coverage"):
            why = (
                "the detector has its own patience (false_alarm_every)"
                if key == "for"
                else "it has no window"
            )
            instead = "" if self.detector else ", or write condition: interval"
            yield Problem((key,), f"is not for sequential conditions: {why}; remove it{instead}")
        if self.observation > 1 and (self.detector or self.compare_to):
            which = "calibration" if self.detector else "a comparison with the champion"
            yield Problem(("observation",), f"{which} is watched event by event; remove it")

    def _written(self, *keys: str) -> Iterator[str]:
        """Yield those of the keys that the configuration has."""
        names = {
            field.alias or name
            for name, field in type(self).model_fields.items()
            if name in self.model_fields_set
        }
        yield from (key for key in keys if key in names)
