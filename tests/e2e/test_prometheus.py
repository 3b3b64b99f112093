"""A real Prometheus scrapes a running daemon, with the configuration and the queries that are documented."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.brokers import Broker, free_ports
from tests.support.daemons import configuration, event, running

ROOT = Path(__file__).parents[2]
HOW = "needs Prometheus: apt-get install -y --no-install-recommends prometheus"


@pytest.fixture(scope="module")
def prometheus() -> str:
    found = shutil.which("prometheus")
    if found is None or shutil.which("promtool") is None:
        if os.environ.get("CI"):
            pytest.fail(HOW)
        pytest.skip(HOW)
    return found


def queries() -> list[str]:
    return re.findall(r"\| `(.+?)` \|$", (ROOT / "grafana" / "README.md").read_text(), re.MULTILINE)


class Prometheus:
    def __init__(self, port: int) -> None:
        self.port = port

    def query(self, text: str) -> list[dict[str, Any]]:
        address = f"http://127.0.0.1:{self.port}/api/v1/query?{urllib.parse.urlencode({'query': text})}"
        with urllib.request.urlopen(address, timeout=10) as answer:
            return json.load(answer)["data"]["result"]

    def wait_for(self, text: str, seconds: float = 40) -> list[dict[str, Any]]:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            try:
                if found := self.query(text):
                    return found
            except OSError:
                pass
            time.sleep(0.2)
        pytest.fail(f"no result within {seconds} s: {text}")


@pytest.fixture(scope="module")
def scraping(
    prometheus: str, embedded_broker: Broker, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Prometheus]:
    tmp_path = tmp_path_factory.mktemp("scraping")
    topic = embedded_broker.create_topic("scraped")
    text = configuration(embedded_broker, topic).replace("last_50, events: 50", "last_10k, events: 10000")
    embedded_broker.produce(topic, [event(i) for i in range(400)] + [b"bad"])
    with running(text, tmp_path) as daemon:
        daemon.wait_for_records(401)
        (port,) = free_ports(1)
        written = (ROOT / "deploy" / "prometheus.yml").read_text()
        (tmp_path / "prometheus.yml").write_text(
            written.replace("15s", "1s").replace("127.0.0.1:9464", f"127.0.0.1:{daemon.daemon.port}")
        )
        command = [
            prometheus,
            f"--config.file={tmp_path / 'prometheus.yml'}",
            f"--storage.tsdb.path={tmp_path / 'tsdb'}",
            f"--web.listen-address=127.0.0.1:{port}",
        ]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            found = Prometheus(port)
            found.wait_for("up == 1")
            found.wait_for("count_over_time(monitor_ready[1m]) > 3")  # rates need two scrapes
            yield found
        finally:
            process.terminate()
            process.wait(20)


def test_every_documented_query_has_a_result(scraping: Prometheus) -> None:
    assert len(queries()) > 10
    for query in queries():
        assert scraping.query(query), query


def test_numbers_arrive_as_they_are(scraping: Prometheus) -> None:
    (found,) = scraping.query('classifier_events{model="fraud", window="all", segment=""}')
    assert found["value"][1] == "400"
    (coverage,) = scraping.query('sum(classifier_confusions_total{model="fraud"})')
    assert coverage["value"][1] == "400"


def test_the_scrape_configuration_is_valid(prometheus: str) -> None:
    done = subprocess.run(
        ["promtool", "check", "config", ROOT / "deploy" / "prometheus.yml"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
