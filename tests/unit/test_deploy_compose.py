"""deploy/docker-compose.yml: its schema, and that its parts know each other."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
import yaml

from monitor import __version__
from monitor.demo import generate as generator
from tests.support.deploy import DEPLOY, ROOT, config, is_pinned, load, rules_of, succeeds
from tests.support.prometheus import tool

COMPOSE = load("docker-compose.yml")
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
CONFIG = config("compose/monitor.yaml")


def mounts(service: str) -> dict[str, str]:
    """Return where each file or volume is seen."""
    return {source: target for source, target, *_ in (v.split(":") for v in SERVICES[service]["volumes"])}


def test_it_follows_the_schema() -> None:
    schema = json.loads((ROOT / "tests" / "data" / "compose-spec.json").read_text())
    validator = jsonschema.Draft201909Validator(schema)
    assert [error.message for error in validator.iter_errors(COMPOSE)] == []
    assert list(validator.iter_errors({"services": {"x": {"imagine": "y"}}}))


def test_everything_is_there() -> None:
    assert set(SERVICES) == {"kafka", "topics", "monitor", "traffic", "prometheus", "alertmanager", "grafana"}


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_names_what_exists(name: str) -> None:
    service = SERVICES[name]
    assert is_pinned(service["image"])
    assert set(service.get("depends_on", ())) <= set(SERVICES)
    for volume in service.get("volumes", ()):
        source = volume.split(":")[0]
        assert (DEPLOY / source).exists() if source.startswith(".") else source in COMPOSE["volumes"], source
    assert all(port.startswith("127.0.0.1:") for port in service.get("ports", ()))
    if "build" in service:
        assert service["image"].split(":")[1].partition("-")[0] == __version__
        context = DEPLOY / service["build"]["context"]
        assert (context / service["build"]["dockerfile"]).is_file()


def test_every_volume_is_used() -> None:
    used = {volume.split(":")[0] for service in SERVICES.values() for volume in service.get("volumes", ())}
    assert set(COMPOSE["volumes"]) <= used


def test_the_daemon_reads_and_writes_topics_that_are_created() -> None:
    (script,) = SERVICES["topics"]["command"]
    created = {line.split()[1] for line in script.splitlines() if line.strip().startswith("create ")}
    kafka = CONFIG.kafka
    assert {*kafka.topics, kafka.dead_letter_topic, CONFIG.actions.named["rollback"].topic} == created
    assert kafka.bootstrap_servers == ("kafka:9092",)
    assert "INSIDE://kafka:9092" in SERVICES["kafka"]["environment"]["KAFKA_ADVERTISED_LISTENERS"]
    assert "kafka:9092" in script


def test_the_generator_sends_what_the_daemon_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, str]] = []
    monkeypatch.setattr(generator, "generate", lambda to, *_: asked.append((to.bootstrap, to.topic)))
    monkeypatch.setattr(generator, "configure", lambda *_: None)
    assert SERVICES["traffic"]["entrypoint"] == ["python", "-m", generator.__name__]
    assert generator.main(SERVICES["traffic"]["command"]) == 0
    assert asked == [(CONFIG.kafka.bootstrap_servers[0], CONFIG.kafka.topics[0])]


def test_prometheus_reaches_the_daemon_by_a_name_that_it_answers_to() -> None:
    found = load("compose/prometheus.yml")
    assert mounts("prometheus")["./compose/rules"] == "/etc/prometheus/rules"
    (job,) = found["scrape_configs"]
    (target,) = job["static_configs"][0]["targets"]
    assert target == f"monitor:{CONFIG.server.port}"
    assert "monitor" in SERVICES and "monitor" in CONFIG.server.allowed_hosts
    assert mounts("monitor")["./compose/monitor.yaml"] == "/etc/monitor/monitor.yaml"


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("prometheus.yml", {"127.0.0.1:9464": "monitor:9464", "127.0.0.1:9093": "alertmanager:9093"}),
        ("alertmanager.yml", {}),
    ],
)
def test_but_for_addresses_and_receivers_it_is_what_everybody_is_told_to_take(
    name: str, changes: dict[str, str]
) -> None:
    text = (DEPLOY / name).read_text()
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    expected, found = yaml.safe_load(text), load(f"compose/{name}")
    names = [[each["name"] for each in tree.pop("receivers", [])] for tree in (expected, found)]
    assert names[0] == names[1]
    assert found == expected


def test_the_rules_are_those_of_its_configuration() -> None:
    assert (DEPLOY / "compose" / "rules" / "monitor.yml").read_text() == rules_of("compose/monitor.yaml")


def test_prometheus_and_alertmanager_take_their_files() -> None:
    succeeds(tool("promtool"), "check", "config", DEPLOY / "compose" / "prometheus.yml")
    rules = DEPLOY / "compose" / "rules" / "monitor.yml"
    succeeds(tool("promtool"), "check", "rules", "--lint=all", "--lint-fatal", rules)
    succeeds(tool("amtool"), "check-config", DEPLOY / "compose" / "alertmanager.yml")


def test_grafana_finds_prometheus() -> None:
    (provisioned,) = (ROOT / "grafana" / "provisioning" / "datasources").glob("*.y*ml")
    assert "http://prometheus:9090" in provisioned.read_text()
