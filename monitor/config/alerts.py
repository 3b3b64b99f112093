"""When somebody is told: the `baselines` and `alerts` sections."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, StrictFloat, Tag

from monitor.config.section import Problem, Section
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
    parse_duration,
    show,
)

Condition = Literal["sequential", "interval", "value"]

SEQUENTIAL = {
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


def _steps_or_time(value: object) -> object:
    if isinstance(value, int) and not isinstance(value, bool):
        if value < 1:
            raise ValueError(f"{show(value)} is below 1; write a number of steps from 1, or a duration")
        return value
    return parse_duration(value)


def _number_or_word(value: object) -> object:
    if value in ("random", "best") or (isinstance(value, int | float) and not isinstance(value, bool)):
        return value
    raise ValueError(f"{show(value)} is no limit; write a number, random or best")


NonNegative = Annotated[StrictFloat, between(0)]
Number = Annotated[StrictFloat, between(-1e12, 1e12)]
StepsOrTime = Annotated[int | timedelta, BeforeValidator(_steps_or_time)]
Floor = Annotated[float | Literal["random", "best"], BeforeValidator(_number_or_word)]


class ToleranceConfig(Section):
    """What calibration may drift: added to the logit, and its factor either way."""

    shift: NonNegative = 0.1
    slope: Annotated[StrictFloat, between(1)] = 1.1


class ComparedConfig(Section):
    """What a metric is compared with where that is no number: exactly one of these."""

    version: Name | None = None
    window: Name | None = None

    def problems(self) -> Iterator[Problem]:
        """Yield whether not exactly one is given."""
        if (self.version is None) == (self.window is None):
            yield Problem((), "write champion, {version: NAME} or {window: NAME}")


class RuleConfig(Section):
    """One alert: a condition on a metric of a model, and what follows."""

    model: Name
    metric: Name | None = None
    detector: Literal["calibration"] | None = None
    class_: Name | None = Field(None, alias="class")
    segment: Name | None = None
    window: Name | None = None
    subset: Literal["all", "positive", "negative"] | None = None
    average: Literal["macro", "weighted", "micro", "samples"] | None = None
    criterion: Literal["cost", "f1", "min_fpr_at_recall"] | None = None
    k: int | float | None = None
    max_fpr: Rate | None = None
    floor: Floor | None = None
    ceiling: Number | None = None
    warn: Number | None = None
    baseline: Name | None = None
    compare_to: (
        Annotated[
            Annotated[Literal["champion"], Tag("[text]")] | Annotated[ComparedConfig, Tag("[mapping]")],
            by_kind("champion, {version: NAME} or {window: NAME}"),
        ]
        | None
    ) = None
    margin: NonNegative = 0.0
    tolerance: ToleranceConfig = as_written({})
    condition: Condition | None = None
    false_alarm_every: Annotated[Count, between(10)] = 10_000
    observation: Count = 1
    method: Literal["analytic", "bootstrap"] = "analytic"
    for_: StepsOrTime = Field(1, alias="for")
    hysteresis: NonNegative = 0.0
    cooldown: Duration = as_written("0s")
    min_support: WholeNumber = 20
    min_label_coverage: Rate | None = None
    undefined_for: PositiveDuration | None = None
    severity: Name = "ticket"
    labels: Mapping[Name, Name] = {}
    runbook: Name | None = None
    actions: Names = ()

    @property
    def kind(self) -> Condition:
        """The condition: sequential where a detector exists, unless another is asked for."""
        if self.condition is not None:
            return self.condition
        if self.detector is not None:
            return "sequential"
        return "sequential" if self.has_detector else "interval"

    @property
    def has_detector(self) -> bool:
        """Whether evidence on this metric and limit can be gathered event by event."""
        if self.metric not in SEQUENTIAL or self.floor in ("random", "best") or self.average is not None:
            return False
        if self.compare_to is not None:
            return self.compare_to == "champion" and self.metric not in ("roc_auc", "partial_roc_auc")
        return True


class AlertsConfig(Section):
    """How alerts are decided and who is told."""

    deliver: Literal["prometheus", "alertmanager"] = "prometheus"
    alertmanager_urls: Names = ()
    every: PositiveDuration = as_written("10s")
    max_age: PositiveDuration = as_written("15m")
    max_lag: PositiveDuration = as_written("5m")
    no_data_after: PositiveDuration = as_written("30m")
    max_matches: Count = 100
    rules: Mapping[Name, RuleConfig] = {}
