"""What a value is held against, on which side, and with what kind of evidence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from monitor.alert_rules.labels import Concerned
from monitor.alert_rules.misfit import Misfit
from monitor.alerts.rule import Condition, Limit
from monitor.config import Config, RuleConfig
from monitor.metrics.metric import Metric
from monitor.metrics.parameters import Parameters

_PREFIX = "classifier_"


def side(rule: RuleConfig, metric: Metric) -> Literal["floor", "ceiling"]:
    """Return on which side of the limit a value is bad.

    Raises
    ------
    Misfit
        If the rule leaves it to a metric that is neither better nor worse when it is greater, or acts on the
        side on which the metric is good.
    """
    if rule.floor is not None or rule.ceiling is not None:
        written: Literal["floor", "ceiling"] = "ceiling" if rule.floor is None else "floor"
        if rule.actions and metric.greater_is_better is (written == "ceiling"):
            better = "greater" if metric.greater_is_better else "less"
            raise Misfit(
                "actions",
                f"would act on models that are good: {metric.name} is better the {better} it is; write a "
                f"{'floor' if written == 'ceiling' else 'ceiling'}, or no actions",
            )
        return written
    if metric.greater_is_better is None:
        raise Misfit(
            "metric", f"{metric.name} is neither better nor worse when greater; write a floor or ceiling"
        )
    return "floor" if metric.greater_is_better else "ceiling"


def condition(rule: RuleConfig, metric: Metric, config: Config) -> Condition:
    """Return the kind of condition: by default the first of sequential, interval and value that exists.

    Raises
    ------
    Misfit
        If another kind is asked for than the metric and the limit allow.
    """
    has_interval = metric.interval is not None
    if rule.condition == "interval" and not has_interval:
        raise Misfit("condition", f"{metric.name} has no interval; write value")
    if rule.floor == "best" and not has_interval:
        raise Misfit("floor", f"best is about lower bounds, and {metric.name} has none; write a number")
    chosen: Condition = (
        "sequential" if rule.sequential else rule.condition or ("interval" if has_interval else "value")
    )
    if rule.method == "bootstrap":
        _check_bootstrap(rule, metric, config, chosen)
    return chosen


def limit(rule: RuleConfig, metric: Metric, chosen: Condition, models: Sequence[Concerned]) -> Limit:
    """Return what a value is held against.

    Raises
    ------
    Misfit
        If a number is one that the metric cannot pass.
    """
    if rule.baseline is not None:
        return Limit("baseline", name=rule.baseline, margin=rule.margin)
    if rule.compare_to == "champion":
        if chosen == "sequential":
            _check_margin(rule, metric, models)
        return Limit("champion", margin=rule.margin)
    if rule.compare_to is not None:
        if rule.compare_to.version is not None:
            return Limit("version", name=rule.compare_to.version, margin=rule.margin)
        assert rule.compare_to.window is not None
        return Limit("window", name=rule.compare_to.window, margin=rule.margin)
    if rule.floor == "random" or rule.floor == "best":
        if rule.floor == "random" and metric.name != "classifier_recall":
            raise Misfit("floor", f"random is for recall, not for {metric.name}; write a number")
        return Limit(rule.floor, margin=rule.margin)
    for key in ("floor", "ceiling", "warn"):
        if (number := getattr(rule, key)) is not None:
            _check_number(key, number, side(rule, metric), metric)
            if chosen == "sequential":
                _check_detector(key, number, metric, models)
    number = rule.ceiling if rule.floor is None else rule.floor
    assert isinstance(number, int | float)
    return Limit("number", float(number))


def _check_number(key: str, number: float, side: str, metric: Metric) -> None:
    low, high = metric.range
    beyond = not low <= number <= high
    if beyond or number == (low if side == "floor" else high):
        why = "is beyond the values" if beyond else "is never passed by the values"
        raise Misfit(key, f"{number:g} {why} of {metric.name}, which lie from {low:g} to {high:g}")


def _check_detector(key: str, number: float, metric: Metric, models: Sequence[Concerned]) -> None:
    greatest = min(_greatest(metric, model.parameters) for model in models)
    if not 0 < number < greatest:
        raise Misfit(
            key,
            f"{number:g} is not between 0 and {greatest:g}, the most that one event can have; write a number "
            "between them",
        )


def _check_margin(rule: RuleConfig, metric: Metric, models: Sequence[Concerned]) -> None:
    greatest = min(_greatest(metric, model.parameters) for model in models)
    if rule.margin >= greatest:
        raise Misfit(
            "margin", f"{rule.margin:g} is not below {greatest:g}, the most that it can be; write less"
        )


def _greatest(metric: Metric, p: Parameters) -> float:
    """Return the greatest value that one event alone can have."""
    if metric.name == "classifier_expected_cost" and p.costs is not None:
        return max(max(row) if isinstance(row, tuple) else row for row in p.costs)
    return 2.0 if metric.name == "classifier_brier_score" and p.task == "multiclass" else 1.0


def _check_bootstrap(rule: RuleConfig, metric: Metric, config: Config, chosen: Condition) -> None:
    bootstrap, name = config.evaluation.bootstrap, metric.name.removeprefix(_PREFIX)
    if chosen != "interval":
        raise Misfit(
            "method", f"a {chosen} condition uses no interval; remove it, or write condition: interval"
        )
    if bootstrap is None or name not in bootstrap.metrics:
        raise Misfit("method", f"{metric.name} is not resampled; add {name} to evaluation.bootstrap.metrics")
    if rule.segment is not None:
        raise Misfit("method", "segments are not resampled; remove it")
