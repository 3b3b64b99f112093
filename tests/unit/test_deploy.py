"""What deploy/ has for rollout controllers fits to what the gates answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args
from urllib.parse import parse_qs, urlsplit

import pytest
import yaml

from monitor.alerts.gate import Outcome

DEPLOY = Path(__file__).parents[2] / "deploy"


def load(name: str) -> dict[str, Any]:
    return yaml.safe_load((DEPLOY / name).read_text())


def metric(name: str) -> dict[str, Any]:
    [found] = load(name)["spec"]["metrics"]
    return found


def judged(found: dict[str, Any], result: object) -> str:
    """Judge a result as Argo does: what neither condition holds of is inconclusive."""

    def holds(condition: str) -> bool:
        return bool(eval(condition.replace("&&", "and"), {"len": len, "result": result}))

    failed, succeeded = holds(found["failureCondition"]), holds(found["successCondition"])
    assert not (failed and succeeded)
    return "failed" if failed else "successful" if succeeded else "inconclusive"


@pytest.mark.parametrize("outcome", get_args(Outcome))
def test_argo_goes_on_only_with_what_passes(outcome: str) -> None:
    found = metric("argo/analysis-gate.yaml")
    answer = {"model": "m", "version": "2", "outcome": outcome, "reasons": ["x"]}
    path = found["provider"]["web"]["jsonPath"]
    assert path.startswith("{$.") and path.endswith("}")
    expected = {"pass": "successful", "fail": "failed"}.get(outcome, "inconclusive")
    assert judged(found, answer[path[3:-1]]) == expected


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        ([0], "successful"),
        ([2], "failed"),
        ([1], "inconclusive"),
        ([3], "inconclusive"),
        ([], "inconclusive"),
    ],
)
def test_argo_judges_what_prometheus_says(result: list[float], expected: str) -> None:
    assert judged(metric("argo/analysis-prometheus.yaml"), result) == expected


def test_argo_asks_the_gate() -> None:
    template = load("argo/analysis-gate.yaml")
    parts = urlsplit(metric("argo/analysis-gate.yaml")["provider"]["web"]["url"])
    assert parts.path == "/gate/argo"
    assert parse_qs(parts.query) == {"model": ["{{args.model}}"], "version": ["{{args.version}}"]}
    assert [argument["name"] for argument in template["spec"]["args"]] == ["model", "version"]


def test_one_failure_ends_it_and_want_of_evidence_never_promotes() -> None:
    for name in ("argo/analysis-gate.yaml", "argo/analysis-prometheus.yaml"):
        found = metric(name)
        assert found["failureLimit"] == 0
        assert found["inconclusiveLimit"] < found["count"]


def test_flagger_rolls_back_by_a_webhook_of_that_type_and_no_other() -> None:
    canary = load("flagger/canary.yaml")
    [hook] = canary["spec"]["analysis"]["webhooks"]
    assert hook["type"] == "rollback"
    assert urlsplit(hook["url"]).path == "/gate/flagger/rollback"
    assert set(hook["metadata"]) == {"model", "version"}
    assert all(isinstance(value, str) for value in hook["metadata"].values()), "Flagger takes texts"
    [used] = canary["spec"]["analysis"]["metrics"]
    assert used["templateVariables"] == hook["metadata"]
    template = load("flagger/metric-template.yaml")["metadata"]
    assert used["templateRef"] == {"name": template["name"], "namespace": template["namespace"]}
    assert used["thresholdRange"] == {"min": 0, "max": 0}


def test_both_ask_prometheus_the_same() -> None:
    argo = metric("argo/analysis-prometheus.yaml")["provider"]["prometheus"]["query"]
    flagger = load("flagger/metric-template.yaml")["spec"]["query"]
    for name in ("model", "version"):
        argo = argo.replace("{{args." + name + "}}", name)
        flagger = flagger.replace("{{ variables." + name + " }}", name)
    assert argo == flagger
