"""What the alerts and actions of a configuration mean, in words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Protocol

from monitor.alerts.rule import CALIBRATION, Rule
from monitor.config import (
    UNDEFINED,
    ActionConfig,
    Config,
    ControlTopicConfig,
    MlflowConfig,
    WebhookConfig,
    format_duration,
    origin,
)
from monitor.errors import MonitorError

_Row = tuple[str, str]


class Reference(Protocol):
    """What is told of a stored baseline."""

    @property
    def model(self) -> str:
        """Name of the model that it is of."""

    @property
    def labeled(self) -> int:
        """Number of its labeled events."""


def describe_alerts(
    config: Config, rules: Sequence[Rule], load: Callable[[str], Reference] | None = None
) -> Iterator[tuple[str, list[_Row]]]:
    """Yield sections, each a title and its rows; nothing without rules and actions.

    Parameters
    ----------
    config
        A valid configuration.
    rules
        Its alert rules, resolved.
    load
        Reads a stored baseline; without it is only told whether the file exists.
    """
    if config.baselines:
        yield "Baselines", [(name, _baseline(path, load)) for name, path in config.baselines.items()]
    if rules:
        yield "Alerts", list(_alerts(config))
    for rule in rules:
        yield f"Alert {rule.name}", list(_rule(rule, config))
    if config.actions.named:
        yield "Actions", list(_actions(config))
    for name, action in config.actions.named.items():
        yield f"Action {name}", list(_action(action, config))


def _file(path: str, remedy: str = "") -> str:
    there = "\0" not in path and Path(path).exists()
    return path if there else f"{path}, which is not there yet{remedy}"


def _baseline(path: str, load: Callable[[str], Reference] | None) -> str:
    if load is None:
        return _file(path, ": make it with `monitor baseline`")
    try:
        reference = load(path)
    except MonitorError as error:
        return str(error)
    return f"{path}: {reference.labeled} labeled events of model {reference.model}"


def _alerts(config: Config) -> Iterator[_Row]:
    alerts = config.alerts
    if alerts.deliver == "prometheus":
        yield "told", "by Prometheus, with the rules that `monitor rules` writes"
    else:
        yield "told", f"to Alertmanager at {', '.join(map(origin, alerts.alertmanager_urls))}"
    yield "steps over windows", f"every {format_duration(alerts.every)} of event time"
    yield "history", f"what was decided more than {format_duration(alerts.max_age)} late is only written down"
    yield "lag", f"nothing is done while reading is more than {format_duration(alerts.max_lag)} behind"
    yield "no data", f"without an event for {format_duration(alerts.no_data_after)}; never taken for recovery"


def _rule(rule: Rule, config: Config) -> Iterator[_Row]:
    yield "watches", _watched(rule)
    if rule.condition == "sequential":
        yield "fires", f"when events, one after another, are enough evidence that it is {_breach(rule)}"
        yield from _guarantee(rule)
        yield "resolves", "when as much evidence says that it is back"
    else:
        yield "fires", _over_window(rule, config)
        yield "false alarms", "no bound: every step is another look; sequential conditions have one"
        beyond = f" by more than {rule.hysteresis:g}" if rule.hysteresis else ""
        yield "resolves", f"when it is back beyond the limit{beyond}"
    yield (
        "support",
        f"at least {rule.min_support}"
        + (
            ""
            if rule.min_label_coverage is None
            else f", {100 * rule.min_label_coverage:g}% of events labeled"
        ),
    )
    if rule.cooldown:
        yield "cooldown", f"does not fire again for {_time(rule.cooldown)} after it resolved"
    if rule.undefined_for is not None:
        after = _time(rule.undefined_for)
        yield "undefined", f"keeps its state, and after {after} raises {rule.name}{UNDEFINED}"
    yield "severity", rule.severity
    if rule.actions:
        paused = "" if config.actions.enabled else " (actions.enabled is false: nothing is done)"
        yield "then", f"{', '.join(rule.actions)}{paused}"


def _watched(rule: Rule) -> str:
    metric = "calibration of the scores" if rule.metric == CALIBRATION else rule.metric
    labels = "".join(f", {key} {value}" for key, value in rule.labels.items())
    class_ = {"": "", "*": ", each class"}.get(rule.class_, f", class {rule.class_}")
    model = "each model" if rule.model == "*" else f"model {rule.model}"
    segment = f", each {rule.segment[:-2]}" if rule.segment.endswith("=*") else f", {rule.segment}"
    return f"{metric}{labels}{class_}, of {model}{segment if rule.segment else ''}"


def _breach(rule: Rule) -> str:
    if rule.metric == CALIBRATION:
        scores = (
            f"scores recalibrated by baseline {rule.baseline}" if rule.baseline else "scores as they come"
        )
        return f"off by more than {rule.shift:g} in log-odds or a factor of {rule.slope:g}; {scores}"
    limit = rule.limit
    if limit.kind == "random":
        return f"no better than the share of decisions for the class{_margin(rule)}"
    where = "below" if rule.side == "floor" else "above"
    return f"{where} " + {
        "number": f"{limit.number:g}" if limit.number is not None else "",
        "baseline": f"what baseline {limit.name} proves{_margin(rule)}",
        "version": f"that of version {limit.name}{_margin(rule)}",
        "window": f"that over window {limit.name}{_margin(rule)}",
        "champion": f"that of the champion version{_margin(rule)}",
        "best": f"its best lower bound so far{_margin(rule)}",
    }.get(limit.kind, "")


def _margin(rule: Rule) -> str:
    sign = "-" if rule.side == "floor" else "+"
    return f" {sign} {rule.limit.margin:g}" if rule.limit.margin else ""


def _guarantee(rule: Rule) -> Iterator[_Row]:
    what = _observations(rule)
    if rule.observation > 1:
        what = f"means over {rule.observation} {what} each"
    yield (
        "false alarms",
        f"on average at most one in {rule.false_alarm_every:,} {what} while the value is at its limit, fewer "
        "while it is better; `monitor replay` prints that in events and days",
    )
    if rule.matches > 1:
        yield (
            "",
            f"of all matches together: with max_matches {rule.matches} the threshold of each is "
            f"{rule.threshold:,.0f}",
        )
    if rule.metric in ("classifier_roc_auc", "classifier_partial_roc_auc"):
        yield "begins", "once 20,000 earlier events of other classes have been seen"
    elif rule.metric == CALIBRATION and rule.baseline:
        yield "begins", f"after the last event of baseline {rule.baseline}"


def _observations(rule: Rule) -> str:
    """Return what one observation of the metric's denominator is, in the plural."""
    some = rule.class_ not in ("", "*")
    class_ = f"class {rule.class_}" if some else "the class"
    of_class = f"labeled events of {class_}"
    return {
        "classifier_recall": of_class,
        "classifier_roc_auc": of_class,
        "classifier_partial_roc_auc": of_class,
        "classifier_precision": f"labeled decisions for {class_}",
        "classifier_specificity": f"labeled events that are not of {class_}",
        "classifier_npv": f"labeled decisions against {class_}",
        "classifier_brier_score": {
            "positive": of_class,
            "negative": f"labeled events that are not of {class_}",
        }.get(rule.labels.get("subset", "all"), "labeled events with scores"),
        CALIBRATION: "labeled events with scores",
    }.get(rule.metric, "labeled events")


def _over_window(rule: Rule, config: Config) -> str:
    if rule.condition == "value":
        what = "its value"
    else:
        resampled = "bootstrap " if rule.method == "bootstrap" else ""
        what = f"the whole {100 * config.evaluation.confidence_level:g}% {resampled}interval"
    held = ""
    if rule.for_time:
        held = f", for {_time(rule.for_time)}"
    elif rule.for_steps > 1:
        held = f", {rule.for_steps} steps in a row"
    return f"when {what} over window {rule.window} is {_breach(rule)}{held}"


def _actions(config: Config) -> Iterator[_Row]:
    actions = config.actions
    yield "enabled", "yes" if actions.enabled else "no: what would be done is only written down"
    breaker = actions.breaker
    yield (
        "breaker",
        f"beyond {breaker.max_models} models in {format_duration(breaker.per)}, more wait for approval",
    )
    yield "audit", f"each decision is a line of {actions.audit_file or 'a file beside the checkpoints'}"


def _action(action: ActionConfig, config: Config) -> Iterator[_Row]:
    if isinstance(action, WebhookConfig):
        yield "does", f"POST to {origin(action.url)}, signed with the key in {_file(action.secret_file)}"
    elif isinstance(action, ControlTopicConfig):
        yield "does", f"send a message to topic {action.topic} of {', '.join(config.kafka.bootstrap_servers)}"
    elif isinstance(action, MlflowConfig):
        of = action.registered_model or "the registered model of the same name"
        yield (
            "does",
            f"move alias {action.alias} of {of} to the version before, in MLflow at {origin(action.url)}",
        )
    yield "expires", f"{format_duration(action.expires)} after it was decided"
    yield (
        "at most",
        f"once in {format_duration(action.cooldown)} and {action.max_per_day} a day, for each model",
    )
    yield "attempts", f"of up to {format_duration(action.timeout)} each, until it is done or expires"
    yield "approval", "by a person, each time" if action.approval else "not needed"
    if action.dry_run:
        yield "dry run", "nothing is done, it is only written down"


def _time(microseconds: int) -> str:
    return format_duration(timedelta(microseconds=microseconds))
