"""A real Prometheus scrapes a running daemon, with the configuration and the queries that are documented."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator

import pytest

from tests.support.brokers import Broker
from tests.support.daemons import configuration, event, running
from tests.support.prometheus import DEPLOY, ROOT, Prometheus, prometheus, tool


def queries() -> list[str]:
    return re.findall(r"\| `(.+?)` \|$", (ROOT / "grafana" / "README.md").read_text(), re.MULTILINE)


@pytest.fixture(scope="module")
def scraping(embedded_broker: Broker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prometheus]:
    tmp_path = tmp_path_factory.mktemp("scraping")
    topic = embedded_broker.create_topic("scraped")
    text = configuration(embedded_broker, topic).replace("last_50, events: 50", "last_10k, events: 10000")
    embedded_broker.produce(topic, [event(i) for i in range(400)] + [b"bad"])
    with running(text, tmp_path) as daemon:
        daemon.wait_for_records(401)
        assert daemon.daemon.port is not None
        with prometheus(tmp_path, daemon.daemon.port) as found:
            found.wait_for("up == 1")
            found.wait_for("count_over_time(monitor_ready[1m]) > 3")  # rates need two scrapes
            yield found


def test_every_documented_query_has_a_result(scraping: Prometheus) -> None:
    assert len(queries()) > 10
    for query in queries():
        assert scraping.query(query), query


def test_numbers_arrive_as_they_are(scraping: Prometheus) -> None:
    (found,) = scraping.query('classifier_events{model="fraud", window="all", segment=""}')
    assert found["value"][1] == "400"
    (coverage,) = scraping.query('sum(classifier_confusions_total{model="fraud"})')
    assert coverage["value"][1] == "400"


def test_the_scrape_configuration_is_valid() -> None:
    command = [tool("promtool"), "check", "config", DEPLOY / "prometheus.yml"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
