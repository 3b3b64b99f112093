"""Alert rules of a configuration, with every default resolved."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import timedelta
from functools import lru_cache

from monitor.alert_rules.labels import Concerned, choose, choose_class
from monitor.alert_rules.limits import condition, limit, side
from monitor.alert_rules.misfit import Misfit
from monitor.alerts.rule import CALIBRATION, RUNBOOKS, Condition, Limit, Rule
from monitor.assembly import microseconds, parameters
from monitor.config import WARNING, WILDCARD, Config, RuleConfig
from monitor.config.explain import one_line
from monitor.errors import ConfigurationError
from monitor.exports import families
from monitor.metrics.catalog import CATALOG
from monitor.metrics.labels import LabelSets
from monitor.metrics.metric import Metric
from monitor.metrics.parameters import Parameters

_PREFIX = "classifier_"
_METRICS = {metric.name.removeprefix(_PREFIX): metric for metric in CATALOG}


def rules(config: Config) -> tuple[Rule, ...]:
    """Return the alert rules in the order of the configuration, each warning after what it warns of.

    Raises
    ------
    ConfigurationError
        With one line for each rule that does not fit to the metrics of the models it concerns.
    """
    models = _Models(config)
    found: list[Rule] = []
    problems: list[str] = []
    for name, rule in config.alerts.rules.items():
        try:
            found += _resolve(name, rule, models.concerned(rule), config)
        except Misfit as misfit:
            problems.append(one_line(f"alerts.rules.{name}.{misfit.key}: {misfit.message}"))
    if problems:
        raise ConfigurationError("\n".join(problems))
    return tuple(found)


class _Models:
    """The entries of `models` with the labels of their metrics, looked up once for models of one shape."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._known: dict[str, Concerned] = {}
        self._families: dict[tuple[object, ...], Mapping[str, LabelSets]] = {}

    def concerned(self, rule: RuleConfig) -> list[Concerned]:
        """Return the entries that a rule concerns; that of "*" first, whose defaults then hold."""
        named = self._config.models
        if rule.model == WILDCARD:
            return [self._entry(name) for name in sorted(named, key=lambda name: name != WILDCARD)]
        return [self._entry(rule.model if rule.model in named else WILDCARD)]

    def _entry(self, name: str) -> Concerned:
        if name not in self._known:
            p = parameters(self._config.models[name], self._config)
            if p.shape not in self._families:
                self._families[p.shape] = _labels(p)
            self._known[name] = Concerned(name, p, self._families[p.shape])
        return self._known[name]


@lru_cache(maxsize=64)
def _labels(p: Parameters) -> Mapping[str, LabelSets]:
    return {metric.name: outcome.labels for metric, outcome in families(p)}


def _resolve(name: str, rule: RuleConfig, models: list[Concerned], config: Config) -> Iterator[Rule]:
    if rule.detector is not None:
        resolved = _rule(name, rule, config, choose_class(rule, models), "sequential", "")
        yield replace(
            resolved,
            metric=CALIBRATION,
            baseline=rule.baseline or "",
            shift=rule.tolerance.shift,
            slope=rule.tolerance.slope,
        )
        return
    metric = _metric(rule)
    labels, class_ = choose(rule, metric, models)
    chosen = condition(rule, metric, config)
    resolved = _rule(name, rule, config, class_, chosen, _window(rule, models, config, chosen))
    resolved = replace(
        resolved,
        metric=metric.name,
        labels=labels,
        side=side(rule, metric),
        limit=limit(rule, metric, chosen, models),
    )
    yield resolved
    if rule.warn is not None:
        yield replace(
            resolved,
            name=name + WARNING,
            limit=Limit("number", rule.warn),
            severity="warning",
            actions=(),
        )


def _metric(rule: RuleConfig) -> Metric:
    assert rule.metric is not None
    name = rule.metric
    if rule.average is not None and f"{name}_average" in _METRICS:
        name = f"{name}_average"
    if name not in _METRICS:
        close = difflib.get_close_matches(name, tuple(_METRICS), n=1)
        remedy = f"did you mean {close[0]}?" if close else "see docs/metrics.md"
        raise Misfit("metric", f"{rule.metric!r} is no metric; {remedy}")
    return _METRICS[name]


def _rule(name: str, rule: RuleConfig, config: Config, class_: str, chosen: Condition, window: str) -> Rule:
    """Return what a rule says, whatever its metric."""
    segment = rule.segment or ""
    wild = WILDCARD in (rule.model, class_) or segment.endswith("=*")
    return Rule(
        name=name,
        model=rule.model,
        metric="",
        class_=class_,
        segment=segment,
        window=window,
        condition=chosen,
        false_alarm_every=rule.false_alarm_every,
        matches=config.alerts.max_matches if wild else 1,
        observation=rule.observation,
        method=rule.method,
        for_steps=1 if isinstance(rule.for_, timedelta) else rule.for_,
        for_time=microseconds(rule.for_) if isinstance(rule.for_, timedelta) else 0,
        hysteresis=rule.hysteresis,
        cooldown=microseconds(rule.cooldown),
        min_support=rule.min_support,
        min_label_coverage=rule.min_label_coverage,
        undefined_for=None if rule.undefined_for is None else microseconds(rule.undefined_for),
        severity=rule.severity,
        extra_labels=dict(rule.labels),
        runbook=rule.runbook,
        runbooks=config.alerts.runbooks or RUNBOOKS,
        actions=rule.actions,
    )


def _window(rule: RuleConfig, models: list[Concerned], config: Config, chosen: Condition) -> str:
    if chosen == "sequential":
        return ""
    if rule.window is not None:
        return rule.window
    first: str | None = None
    for model in models:
        names = [window.name for window in config.models[model.name].windows]
        first = first or next(iter(names), None)
        if first is None or first not in names:
            raise Misfit(
                "window", f"is missing, and models.{model.name} has no {first or 'window'}; write one"
            )
    assert first is not None
    return first
