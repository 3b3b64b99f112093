"""promtool and amtool agree with the rules, their tests, and what deploy/ has for them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.support.commands import Commands
from tests.support.examples import blocks
from tests.support.prometheus import DEPLOY, ROOT, tool

WEIRD = r"""
kafka: {bootstrap_servers: [localhost:9092], topics: [t]}
models:
  'm"{{ $value }}\': &model
    {task: binary, classes: ['{{ nothing }}', '"'], positive_class: '"', max_fpr: [0.1], at_k: [100],
     windows: [{name: 'w "1" {', events: 100}, {name: 1d, duration: 1d}], segments: ['{a'],
     costs: {false_negative: 3, false_positive: 1}, champion: 'v{{', label_maturity: 0s}
  "*": *model
alerts:
  no_data_after: 90s
  rules:
    'we"ird {{ name \ }} ü😀': {model: '*', metric: recall, class: '*', floor: random, condition: interval,
      severity: '{{ x', labels: {a: "b{{'\"\\\n"}, segment: '{a=*', min_label_coverage: 0.3}
    '{{ end }}': {model: 'm"{{ $value }}\', detector: calibration, runbook: 'https://x/{{y}}'}
    '{': {model: '*', metric: partial_roc_auc, floor: 0.5, segment: '{a={{ . }}'}
    'null': {model: '*', metric: brier_score, subset: positive, ceiling: 0.3, warn: 0.25, window: 1d, for: 3d,
      condition: value, min_label_coverage: 0.123456789}
    "1e3": {model: '*', metric: precision_at_k, floor: best, condition: value}
    "%s %q": {model: '*', metric: recall, compare_to: champion, margin: 0.02, class: '{{ nothing }}'}
"""
DIRECT = """
kafka: {bootstrap_servers: [localhost:9092], topics: [t]}
models: {m: {task: binary, classes: [a, b]}}
alerts:
  deliver: alertmanager
  alertmanager_urls: [http://localhost:9093]
  no_data_after: 2d
  rules: {RecallLow: {model: m, metric: recall, floor: 0.8}}
actions: {breaker: {max_models: 1, per: 10m}}
"""
MODELS, KAFKA, ALERTS = [
    text for language, text in blocks((ROOT / "README.md").read_text()) if language == "yaml"
]
README = KAFKA + MODELS
CONFIGURATIONS = {
    "README.md": README,
    "README.md with alerts": README + ALERTS,
    "deploy": (DEPLOY / "monitor.yaml").read_text(),
    "weird": WEIRD,
    "direct": DIRECT,
}


def run(name: str, *arguments: str | Path) -> tuple[int, str]:
    done = subprocess.run(
        [tool(name), *map(str, arguments)], capture_output=True, text=True, timeout=120, check=False
    )
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def monitor(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Commands:
    """Run commands in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return Commands(monkeypatch, capsys)


def written(monitor: Commands, text: str) -> None:
    Path("monitor.yaml").write_text(text)
    done = monitor("rules", "-o", "rules.yml", "--tests", "tests.yml", "--job", "the monitor")
    assert (done.code, done.out, done.err) == (0, "", "")


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_promtool_finds_no_fault_and_the_tests_pass(monitor: Commands, name: str) -> None:
    written(monitor, CONFIGURATIONS[name])
    code, said = run("promtool", "check", "rules", "--lint=all", "--lint-fatal", "rules.yml")
    assert code == 0, said
    code, said = run("promtool", "test", "rules", "tests.yml")
    assert code == 0, said


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ('{alert="RecallLow"}) == 2', '{alert="RecallLow"}) >= 1'),
        ("max without(instance, pod, job, endpoint) (monitor_alert_state{", "max (monitor_alert_state{"),
        ("keep_firing_for: 5m", "keep_firing_for: 10m"),
        ("Recall is now", "Recall was"),
    ],
)
def test_the_tests_fail_where_a_rule_is_another(monitor: Commands, right: str, wrong: str) -> None:
    by_prometheus = DIRECT.replace("deliver: alertmanager", "deliver: prometheus")
    written(monitor, by_prometheus.replace("  alertmanager_urls: [http://localhost:9093]\n", ""))
    rules = Path("rules.yml").read_text()
    assert right in rules
    Path("rules.yml").write_text(rules.replace(right, wrong))
    assert run("promtool", "test", "rules", "tests.yml")[0] == 1


def test_rules_are_printed_where_no_file_is_named(monitor: Commands) -> None:
    Path("monitor.yaml").write_text(README)
    printed = monitor("rules").out
    written(monitor, README)
    assert printed == Path("rules.yml").read_text().replace("the monitor", "monitor")


def test_what_deploy_has_for_prometheus_is_valid(monitor: Commands) -> None:
    written(monitor, CONFIGURATIONS["deploy"])
    Path("rules").mkdir()
    Path("rules/monitor.yml").write_text(Path("rules.yml").read_text())
    shutil.copy(DEPLOY / "prometheus.yml", "prometheus.yml")
    code, said = run("promtool", "check", "config", "prometheus.yml")
    assert code == 0, said
    assert "1 rule files found" in said


def test_what_deploy_has_for_alertmanager_is_valid() -> None:
    code, said = run("amtool", "check-config", DEPLOY / "alertmanager.yml")
    assert code == 0, said


@pytest.mark.parametrize(
    ("labels", "receiver"),
    [
        (("alertname=RecallBelowFloor", "model=fraud", "severity=page"), "page"),
        (("alertname=MonitorNoOwner", "severity=page"), "page"),
        (("alertname=MonitorCheckpointOld", "severity=ticket"), "ticket"),
        (("alertname=RecallBelowFloorWarning", "severity=warning"), "ticket"),
        (("alertname=X", "severity=review"), "ticket"),
    ],
)
def test_alerts_are_routed_by_severity(labels: tuple[str, ...], receiver: str) -> None:
    config = f"--config.file={DEPLOY / 'alertmanager.yml'}"
    code, said = run("amtool", "config", "routes", "test", config, f"--verify.receivers={receiver}", *labels)
    assert code == 0, said


@pytest.mark.parametrize(
    ("states", "result"),
    [
        ({"A": 0, "AUndefined": 0}, 0),
        ({"A": 2, "AUndefined": 0, "B": 3}, 2),
        ({"A": 1, "AUndefined": 0}, 1),
        ({"A": 0, "AUndefined": 2}, 1),  # no value, hence no verdict
        ({"A": 3, "B": 0}, 3),
        ({}, None),
    ],
)
def test_what_rollout_controllers_ask_prometheus(
    tmp_path: Path, states: dict[str, int], result: int | None
) -> None:
    template = yaml.safe_load((DEPLOY / "argo" / "analysis-prometheus.yaml").read_text())
    query = template["spec"]["metrics"][0]["provider"]["prometheus"]["query"]
    query = query.replace("{{args.model}}", "m").replace("{{args.version}}", "2")
    series = {f'monitor_alert_state{{alert="{name}",model="m",version="2"}}': n for name, n in states.items()}
    series['monitor_alert_state{alert="A",model="m",version="1"}'] = 2
    samples = [] if result is None else [{"labels": "{}", "value": result}]
    test = {
        "interval": "1m",
        "input_series": [{"series": name, "values": f"{n}x2"} for name, n in series.items()],
        "promql_expr_test": [{"expr": query, "eval_time": "1m", "exp_samples": samples}],
    }
    (tmp_path / "t.yml").write_text(yaml.safe_dump({"evaluation_interval": "1m", "tests": [test]}))
    code, said = run("promtool", "test", "rules", tmp_path / "t.yml")
    assert code == 0, said
