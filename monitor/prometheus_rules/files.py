"""The files: rules as Prometheus reads them, and tests as promtool does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import yaml

from monitor.alerts.rule import Rule
from monitor.errors import ConfigurationError
from monitor.prometheus_rules.acting import acting_records, acting_rules
from monitor.prometheus_rules.data import data_records, data_rules
from monitor.prometheus_rules.process import process_rules
from monitor.prometheus_rules.quality import quality_rules
from monitor.prometheus_rules.rule import AlertRule, RecordingRule, promtime
from monitor.prometheus_rules.settings import Settings
from monitor.prometheus_rules.text import Firing, literal, shown, template

_HEAD = "# Written by `monitor rules` from the configuration of the monitor: write it anew where that changes.\n"
_NO_QUALITY = (
    "# alerts.deliver is alertmanager: the daemon tells of alerts about models itself, and these rules do not.\n"
)


def rules_file(rules: Sequence[Rule], settings: Settings) -> str:
    """Return a rule file for Prometheus.

    Raises
    ------
    ConfigurationError
        If an alert has the name of a rule about the monitor itself.
    """
    groups = [
        {"name": name, "rules": [_tree(rule, settings) for rule in of_group]}
        for name, of_group in _groups(rules, settings).items()
    ]
    return _HEAD + ("" if settings.quality else _NO_QUALITY) + _yaml({"groups": groups})


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
    tests = [
        test
        for of_group in _groups(rules, settings).values()
        for rule in of_group
        for test in (_recording_test(rule) if isinstance(rule, RecordingRule) else _alert_tests(rule, settings))
    ]
    head = "# Written by `monitor rules`; run it with: promtool test rules\n"
    return head + _yaml({"rule_files": [file], "evaluation_interval": "1m", "tests": tests})


def _groups(rules: Sequence[Rule], settings: Settings) -> Mapping[str, Sequence[AlertRule | RecordingRule]]:
    blind = [*process_rules(settings), *data_rules(rules, settings), *acting_rules(settings)]
    taken = {rule.name for rule in blind}
    quality = [made for rule in rules for made in quality_rules(rule, settings)]
    for rule in quality:
        if rule.name in taken:
            raise ConfigurationError(
                f"alerts.rules.{rule.name}: an alert about the monitor itself has this name; choose another one"
            )
    found = {
        "monitor-records": [*acting_records(), *data_records(settings)],
        "monitor-models": quality if settings.quality else [],
        "monitor-itself": blind,
    }
    return {name: of_group for name, of_group in found.items() if of_group}


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


def _alert_tests(rule: AlertRule, settings: Settings) -> Iterator[dict[str, Any]]:
    for number, scene in enumerate(rule.scenes, start=1):
        yield {
            "name": f"{rule.name} {number}",
            "interval": "1m",
            "input_series": _input(scene.series),
            "alert_rule_test": [
                {
                    "eval_time": f"{look.minute}m",
                    "alertname": rule.name,
                    "exp_alerts": [_expected(rule, firing, settings) for firing in look.firing],
                }
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


def _recording_test(rule: RecordingRule) -> Iterator[dict[str, Any]]:
    samples = [{"labels": labels, "value": value} for labels, value in rule.recorded.items()]
    yield {
        "name": rule.name,
        "interval": "1m",
        "input_series": _input(rule.series),
        "promql_expr_test": [{"expr": rule.name, "eval_time": f"{rule.minute}m", "exp_samples": samples}],
    }


def _input(series: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"series": name, "values": notation} for name, notation in series.items()]


def _yaml(tree: Mapping[str, Any]) -> str:
    text: str = yaml.safe_dump(tree, sort_keys=False, width=110)
    return text
