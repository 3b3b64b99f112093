"""What deploy/docker-compose.yml starts, without containers: its files, with addresses of this machine."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from monitor.demo.generate import Cycle, Destination, generate
from tests.support.brokers import EmbeddedBroker
from tests.support.chain import wait
from tests.support.daemons import running
from tests.support.prometheus import DEPLOY, alertmanager, prometheus

pytestmark = pytest.mark.filterwarnings("ignore:unclosed <s:ResourceWarning")
COMPOSE = DEPLOY / "compose"


@contextmanager
def traffic(broker: EmbeddedBroker, topic: str) -> Iterator[None]:
    """Let the good version serve for some seconds, then the bad one."""
    stop = threading.Event()
    arguments = Destination(broker.address, topic), Cycle(good=5, bad=600), stop
    thread = threading.Thread(target=generate, args=arguments)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(30)


def configuration(broker: EmbeddedBroker, folder: Path) -> str:
    text = (COMPOSE / "monitor.yaml").read_text()
    changes = {
        "[kafka:9092]": f'["{broker.address}"]\n  receive_message_max_bytes: 2147483647',
        "/var/lib/monitor/state": str(folder / "state"),
        "host: 0.0.0.0, port: 9464": "port: 0",
        "every: 10s": "every: 2s",
    }
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    return text


def test_all_parts_find_each_other_and_the_bad_version_is_told_of(tmp_path: Path) -> None:
    broker = EmbeddedBroker(tmp_path / "broker")
    with ExitStack() as parts:
        parts.callback(broker.stop)
        for topic, partitions in {"predictions.labeled": 6, "predictions.labeled.dead": 1}.items():
            broker.create_topic(topic, partitions)
        broker.create_topic("models.control")
        shutil.copytree(COMPOSE / "rules", tmp_path / "rules")
        told = parts.enter_context(alertmanager(tmp_path, "http://127.0.0.1:9"))
        daemon = parts.enter_context(running(configuration(broker, tmp_path), tmp_path))
        assert daemon.daemon.port is not None
        scraping = parts.enter_context(prometheus(tmp_path, daemon.daemon.port, told.url))
        parts.enter_context(traffic(broker, "predictions.labeled"))
        wait(lambda: told.alerts(alertname="RecallBelowFloor"))
        (alert,) = told.alerts(alertname="RecallBelowFloor")
        assert alert["labels"]["severity"] == "page"
        assert scraping.query('up{job="monitor"} == 1')
        assert scraping.query("sum(increase(monitor_events_rejected_total[1m])) > 0")
        models = {found["metric"]["model"] for found in scraping.query("classifier_events")}
        assert models == {"breast-cancer", "digits"}
