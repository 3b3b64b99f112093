"""Every query of the dashboards has a result: Prometheus scrapes the demo while its model goes wrong."""

from __future__ import annotations

import json
import time
import urllib.parse
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest
from kafka import KafkaProducer

from monitor.alert_rules import rules
from monitor.config import Config, load_config
from monitor.demo.configuration import BAD_VERSION, GOOD_VERSION, MODEL, TOPIC, WINDOW
from monitor.grafana import configured, dashboards
from monitor.presets import DEFAULT, PRESETS
from monitor.prometheus_rules import configured as of_rules
from monitor.prometheus_rules import rules_file
from tests.support.demo import Demo
from tests.support.grafana import annotations, substituted, targets, variables
from tests.support.prometheus import Prometheus, prometheus

SCOPE = {
    "job": "monitor",
    "model": MODEL,
    "version": BAD_VERSION,
    "window": WINDOW,
    "class": "malignant",
    "segment": "^$",
    "classes": ".*",
    "max_fpr": "0.1",
    "k": "100",
    "alert": ".*",
}
EMPTY = {
    "Monitor / alerts and actions: Posts to Alertmanager a second A": "the demo leaves telling to Prometheus",
    "Monitor / daemon: Limits reached A": "the demo stays within its limits",
    "Monitor / daemon: Alerts about the monitor": "the monitor is well",
    "Monitor / daemon: Rebalances": "partitions were assigned before Prometheus looked",
}
"""Queries without a result in a demo that does what it should, and why."""


@dataclass(frozen=True)
class Watched:
    """Prometheus since it looked, and the configuration of what it scrapes."""

    prometheus: Prometheus
    config: Config
    since: float

    def results(self, expr: str) -> list[dict[str, Any]]:
        """Return what a panel over the whole time has."""
        times = {"start": self.since, "end": time.time() + 1, "step": 1}  # a step after the newest sample
        query = urllib.parse.urlencode({"query": expr, **times})
        found: list[dict[str, Any]] = self.prometheus.get(f"/api/v1/query_range?{query}")["data"]["result"]
        return found


@pytest.fixture(scope="module")
def watched(demo: Demo, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    folder = tmp_path_factory.mktemp("grafana")
    config = load_config(demo.parts.config, {})
    (folder / "rules").mkdir()
    (folder / "rules" / "monitor.yml").write_text(rules_file(rules(config), of_rules(config)))
    with prometheus(folder, demo.parts.port) as found:
        since = time.time()
        found.wait_for("up == 1")
        send_what_the_demo_does_not(config)
        demo.go_wrong()
        yield Watched(found, config, since)


def send_what_the_demo_does_not(config: Config) -> None:
    """Send events without labels of both versions, and events that are too late."""
    producer = KafkaProducer(bootstrap_servers=list(config.kafka.bootstrap_servers))
    for age, labeled in ((0, False), (3600, True)):
        for version in (GOOD_VERSION, BAD_VERSION):
            for _ in range(20):
                event = {"model": MODEL, "version": version, "timestamp": time.time() - age, "score": 0.1}
                label = {"label": "benign"} if labeled else {}
                producer.send(TOPIC, json.dumps(event | label).encode(), partition=0)
    producer.close(timeout=10)


def all_dashboards(config: Config) -> list[dict[str, Any]]:
    """Return those of the demo, with the headlines of all presets."""
    settings = configured(config, rules(config))
    made = dashboards(replace(settings, headlines={"Headline": DEFAULT, **PRESETS}))
    return list(made.values())


def test_every_query_has_a_result(watched: Watched) -> None:
    without = {
        asked.where: substituted(asked.expr, SCOPE)
        for dashboard in all_dashboards(watched.config)
        for asked in (*targets(dashboard), *annotations(dashboard), *variables(dashboard))
    }
    assert len(without) > 100
    deadline = time.monotonic() + 30  # the bad version's windows fill after its alert
    while set(without) != set(EMPTY) and time.monotonic() < deadline:
        without = {where: expr for where, expr in without.items() if not watched.results(expr)}
        assert set(EMPTY) <= set(without)
        time.sleep(0.5)
    assert set(without) == set(EMPTY), without
