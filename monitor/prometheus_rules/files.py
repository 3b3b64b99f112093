"""The files: rules as Prometheus reads them, and tests as promtool does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any, NamedTuple

import yaml

from monitor.alerts.rule import Rule
from monitor.errors import ConfigurationError
from monitor.prometheus_rules.acting import acting_records, acting_rules, many_models_rule
from monitor.prometheus_rules.data import data_records, data_rules
from monitor.prometheus_rules.process import instance_rules, work_rules
from monitor.prometheus_rules.quality import quality_rules
from monitor.prometheus_rules.rule import AlertRule, RecordingRule, promtime
from monitor.prometheus_rules.settings import Settings
from monitor.prometheus_rules.text import Firing, literal, shown, template

_HEAD = "# Written by `monitor rules` from its configuration: write it anew where that changes.\n"
_NO_QUALITY = "# alerts.deliver is alertmanager: the daemon itself tells of models, these rules do not.\n"


class _Rules(NamedTuple):
    """All rules, those about the monitor itself by whether their scenes can be played at once."""

    records: list[RecordingRule]
    quality: list[AlertRule]
    together: list[AlertRule]
    alone: list[AlertRule]


def rules_file(rules: Sequence[Rule], settings: Settings) -> str:
    """Return a rule file for Prometheus.

    Raises
    ------
    ConfigurationError
        If an alert has the name of a rule about the monitor itself.
    """
    found = _all(rules, settings)
    groups: dict[str, Sequence[AlertRule | RecordingRule]] = {
        "monitor-records": found.records,
        "monitor-models": found.quality,
        "monitor-itself": found.together + found.alone,
    }
    tree = [
        {"name": name, "rules": [_tree(rule, settings) for rule in of_group]}
        for name, of_group in groups.items()
        if of_group
    ]
    return _HEAD + ("" if settings.quality else _NO_QUALITY) + _yaml({"groups": tree})


def rule_tests(rules: Sequence[Rule], settings: Settings, file: str) -> str:
    """Return a test file for promtool that tests each rule.

    Parameters
    ----------
    rules, settings
        What the rules were made of.
    file
        Where they are, seen from the folder of the tests.

    Raises
    ------
    ConfigurationError
        As `rules_file`.
    """
    found = _all(rules, settings)
    tests = [_recording_test(rule) for rule in found.records]
    # Each test evaluates all rules of the file: there are as few as do not disturb each other.
    for together in (found.quality, found.together, *([rule] for rule in found.alone)):
        tests += _alert_tests(together, settings)
    head = "# Written by `monitor rules`; run it with: promtool test rules\n"
    return head + _yaml({"rule_files": [file], "evaluation_interval": "1m", "tests": tests})


def _all(rules: Sequence[Rule], settings: Settings) -> _Rules:
    quality = [made for rule in rules for made in quality_rules(rule, settings)]
    found = _Rules(
        [*acting_records(), *data_records(settings)],
        quality if settings.quality else [],
        [*work_rules(settings), *data_rules(rules, settings), *acting_rules(settings)],
        [*instance_rules(settings), many_models_rule(settings)],
    )
    taken = {rule.name for rule in found.together + found.alone}
    for rule in quality:
        if rule.name in taken:
            raise ConfigurationError(
                f"alerts.rules: {rule.name} is what an alert about the monitor itself is called; choose "
                "another name"
            )
    return found


def _tree(rule: AlertRule | RecordingRule, settings: Settings) -> dict[str, Any]:
    if isinstance(rule, RecordingRule):
        return {"record": rule.name, "expr": rule.expr}
    times = {"for": rule.wait, "keep_firing_for": rule.keep}
    return {
        "alert": rule.name,
        "expr": rule.expr,
        **{key: promtime(seconds) for key, seconds in times.items() if seconds},
        "labels": {name: literal(value) for name, value in _labels(rule).items()},
        "annotations": {
            "summary": template(rule.summary),
            "description": template(rule.description),
            "runbook_url": literal(_runbook(rule, settings)),
        },
    }


def _labels(rule: AlertRule) -> dict[str, str]:
    return {**rule.labels, "severity": rule.severity}


def _runbook(rule: AlertRule, settings: Settings) -> str:
    return rule.runbook_url or f"{settings.runbooks}#{rule.name.lower()}"


def _alert_tests(rules: Iterable[AlertRule], settings: Settings) -> Iterator[dict[str, Any]]:
    """Yield tests of rules whose scenes do not disturb each other: all first scenes in one, and so on."""
    for scenes in zip_longest(*([(rule, scene) for scene in rule.scenes] for rule in rules)):
        played = [found for found in scenes if found is not None]
        yield {
            "interval": "1m",
            "input_series": _input({name: n for _, scene in played for name, n in scene.series.items()}),
            "alert_rule_test": [
                {
                    "eval_time": f"{look.minute}m",
                    "alertname": rule.name,
                    "exp_alerts": [_expected(rule, firing, settings) for firing in look.firing],
                }
                for rule, scene in played
                for look in scene.looks
            ],
        }


def _expected(rule: AlertRule, firing: Firing, settings: Settings) -> dict[str, Any]:
    labels = {**firing.labels, **_labels(rule)}
    return {
        "exp_labels": {name: value for name, value in labels.items() if value},
        "exp_annotations": {
            "summary": shown(rule.summary, firing),
            "description": shown(rule.description, firing),
            "runbook_url": _runbook(rule, settings),
        },
    }


def _recording_test(rule: RecordingRule) -> dict[str, Any]:
    samples = [{"labels": labels, "value": value} for labels, value in rule.recorded.items()]
    return {
        "interval": "1m",
        "input_series": _input(rule.series),
        "promql_expr_test": [{"expr": rule.name, "eval_time": f"{rule.minute}m", "exp_samples": samples}],
    }


def _input(series: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"series": name, "values": notation} for name, notation in series.items()]


def _yaml(tree: Mapping[str, Any]) -> str:
    text: str = yaml.safe_dump(tree, sort_keys=False, width=10**6)  # an expression a line
    return text
