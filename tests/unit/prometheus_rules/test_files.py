"""The files of rules and tests; that promtool agrees with them is tested end to end."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.alerts.rule import CALIBRATION, Limit, Rule
from monitor.daemon_series import HELPS as DAEMON
from monitor.errors import ConfigurationError
from monitor.metrics.catalog import CATALOG
from monitor.prometheus_rules import Settings, rule_tests, rules_file, write_files
from monitor.prometheus_rules.quality import quality_rules
from monitor.series import HELPS

ROOT = Path(__file__).parents[3]
RULE = Rule("RecallLow", "fraud", "classifier_recall", class_="fraud", limit=Limit("number", 0.8))
SETTINGS = Settings()


def alerts(rules: list[Rule], settings: Settings = SETTINGS) -> dict[str, dict[str, Any]]:
    groups = yaml.safe_load(rules_file(rules, settings))["groups"]
    return {rule["alert"]: rule for group in groups for rule in group["rules"] if "alert" in rule}


def test_an_alert_about_a_model() -> None:
    rule = replace(RULE, severity="page", extra_labels={"team": "payments"}, runbook="https://wiki/recall")
    found = alerts([rule])["RecallLow"]
    assert found["expr"] == (
        'max without(instance, pod, job, endpoint) (monitor_alert_state{alert="RecallLow"}) == 2'
    )
    assert "for" not in found and found["keep_firing_for"] == "5m"
    assert found["labels"] == {"alert": "", "team": "payments", "severity": "page"}
    assert found["annotations"]["runbook_url"] == "https://wiki/recall"
    assert "RecallLowUndefined" not in alerts([rule])
    assert "RecallLowUndefined" in alerts([replace(rule, undefined_for=1)])


def test_where_the_daemon_tells_of_models_prometheus_does_not() -> None:
    quiet = replace(SETTINGS, quality=False)
    assert set(alerts([RULE])) - set(alerts([RULE], quiet)) == {"RecallLow"}
    assert "RecallLow" not in rule_tests([RULE], quiet, "x")
    assert "alertmanager" in rules_file([RULE], quiet)


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (RULE, "recall of m is below 0.8"),
        (replace(RULE, side="ceiling", limit=Limit("number", 30000000.5)), "is above 30000000.5"),
        (replace(RULE, limit=Limit("baseline", name="may", margin=0.02)), "is below the baseline may - 0.02"),
        (
            replace(RULE, side="ceiling", limit=Limit("version", name="3", margin=0.5)),
            "is above version 3 + 0.5",
        ),
        (replace(RULE, limit=Limit("window", name="1d")), "is below window 1d"),
        (replace(RULE, limit=Limit("champion")), "is below the champion"),
        (replace(RULE, limit=Limit("random")), "is below what random decisions reach"),
        (replace(RULE, limit=Limit("best")), "is below the best that it has been"),
        (replace(RULE, labels={"max_fpr": "0.1"}), "recall (max_fpr 0.1) of m"),
        (replace(RULE, metric=CALIBRATION), "is beyond its tolerance (shift 0.1, slope 1.1)"),
    ],
)
def test_summaries_say_what_is_held_against_what(rule: Rule, text: str) -> None:
    from monitor.prometheus_rules.text import Firing, shown

    (made,) = quality_rules(rule, SETTINGS)
    assert text in shown(made.summary, Firing({"model": "m"}))


def test_every_series_in_an_expression_is_exported() -> None:
    known = {"up", *DAEMON, *HELPS, *(metric.name for metric in CATALOG)}
    rule = replace(RULE, window="w", condition="interval", min_label_coverage=0.5)
    groups = yaml.safe_load(rules_file([rule], SETTINGS))["groups"]
    used = {
        name
        for group in groups
        for made in group["rules"]
        for name in re.findall(r"\b(?:monitor|classifier)_\w+", made["expr"])
    }
    assert len(used) > 15
    assert used <= known


def test_every_rule_is_seen_to_fire_and_not_to() -> None:
    tests = yaml.safe_load(rule_tests([RULE], SETTINGS, "rules.yml"))["tests"]
    for name in alerts([RULE]):
        looks = [
            look for test in tests for look in test.get("alert_rule_test", ()) if look["alertname"] == name
        ]
        assert {bool(look["exp_alerts"]) for look in looks} == {True, False}, name
    records = [
        made for group in yaml.safe_load(rules_file([RULE], SETTINGS))["groups"] for made in group["rules"]
    ]
    tested = {look["expr"] for test in tests for look in test.get("promql_expr_test", ())}
    assert tested == {made["record"] for made in records if "record" in made}


def test_every_alert_has_its_section_among_the_runbooks() -> None:
    page = (ROOT / "docs" / "runbooks.md").read_text()
    anchors = {line.lstrip("# ").lower() for line in page.splitlines() if line.startswith("#")}
    rules = [RULE, replace(RULE, name="Calibration", metric=CALIBRATION)]
    links = {name: rule["annotations"]["runbook_url"] for name, rule in alerts(rules).items()}
    for name, link in links.items():
        path, _, anchor = link.partition("#")
        assert path == "docs/runbooks.md"
        assert anchor in anchors, name


def test_settings_reach_the_rules() -> None:
    settings = Settings(
        job='a"b', runbooks="https://wiki/", max_models=7, no_data_after=90, keep_firing_for=0
    )
    found = alerts([RULE], settings)
    assert found["MonitorDown"]["expr"] == r'up{job="a\"b"} == 0'
    assert found["MonitorDown"]["annotations"]["runbook_url"] == "https://wiki/#monitordown"
    assert found["ManyModelsAlarming"]["expr"].endswith("> 7")
    assert "> 90 or" in found["ModelSilent"]["expr"]
    assert "keep_firing_for" not in found["RecallLow"]


def test_the_name_of_a_rule_about_the_monitor_is_refused() -> None:
    with pytest.raises(
        ConfigurationError, match=r"alerts\.rules: MonitorDown is what .*; choose another name"
    ):
        rules_file([replace(RULE, name="MonitorDown")], SETTINGS)


names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)


@settings(max_examples=30)
@given(names, names, names)
def test_names_of_any_kind_stay_what_they_are(name: str, model: str, label: str) -> None:
    rule = replace(RULE, name=name, model=model, extra_labels={"team": label})
    found = alerts([rule])[name]
    assert found["labels"]["team"].replace('{{"{"}}', "{") == label
    assert found["annotations"]["summary"].replace('{{"{"}}', "{").startswith(name + ": ")


def test_files_are_written(tmp_path: Path) -> None:
    (tmp_path / "rules").mkdir()
    output, tests = tmp_path / "rules" / "monitor.yml", tmp_path / "tests.yml"
    assert write_files([RULE], SETTINGS, output, tests) == ""
    assert yaml.safe_load(tests.read_text())["rule_files"] == ["rules/monitor.yml"]
    assert output.read_text() == rules_file([RULE], SETTINGS) == write_files([RULE], SETTINGS, None, None)


def test_what_cannot_be_written_is_said(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="add -o FILE"):
        write_files([RULE], SETTINGS, None, tmp_path / "tests.yml")
    with pytest.raises(ConfigurationError, match=r"cannot be written: .*; name another file"):
        write_files([RULE], SETTINGS, tmp_path / "no" / "rules.yml", None)
