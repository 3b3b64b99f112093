"""A real Prometheus and a real Alertmanager, on ports of their own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.brokers import free_ports

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
HOW = "needs Prometheus: apt-get install -y --no-install-recommends prometheus prometheus-alertmanager"


def tool(name: str) -> str:
    """Return where a program of theirs is; tests that need one are skipped where there is none."""
    found = shutil.which(name)
    if found is None:
        if os.environ.get("CI"):
            pytest.fail(HOW)
        pytest.skip(HOW)
    return found


class Server:
    """What answers on a port of this machine."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"

    def get(self, path: str) -> Any:
        with urllib.request.urlopen(self.url + path, timeout=10) as answer:
            text = answer.read()
        return json.loads(text) if path.startswith("/api") else text


class Prometheus(Server):
    def query(self, text: str) -> list[dict[str, Any]]:
        return self.get(f"/api/v1/query?{urllib.parse.urlencode({'query': text})}")["data"]["result"]

    def wait_for(self, text: str, seconds: float = 40) -> list[dict[str, Any]]:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if found := self.query(text):
                return found
            time.sleep(0.2)
        pytest.fail(f"no result within {seconds} s: {text}")


class Alertmanager(Server):
    def alerts(self, **labels: str) -> list[dict[str, Any]]:
        """Return the alerts that it takes for active, with these labels."""
        found = self.get("/api/v2/alerts?active=true")
        return [each for each in found if labels.items() <= each["labels"].items()]


@contextmanager
def prometheus(folder: Path, daemon: int, alertmanager: str | None = None) -> Iterator[Prometheus]:
    """Run Prometheus with the configuration in deploy/ and scrape a daemon's port each second.

    The first scrape comes some 5 s after the start. Rules are those in the folder `rules` below the folder.
    """
    (port,) = free_ports(1)
    text = (DEPLOY / "prometheus.yml").read_text().replace("15s", "1s")
    text = text.replace("127.0.0.1:9464", f"127.0.0.1:{daemon}")
    if alertmanager is not None:
        text = text.replace("127.0.0.1:9093", alertmanager.removeprefix("http://"))
    (folder / "prometheus.yml").write_text(text)
    with _running(
        tool("prometheus"),
        f"--config.file={folder / 'prometheus.yml'}",
        f"--storage.tsdb.path={folder / 'tsdb'}",
        f"--web.listen-address=127.0.0.1:{port}",
        "--rules.alert.resend-delay=1s",
        ready=f"http://127.0.0.1:{port}/-/ready",
    ):
        yield Prometheus(port)


@contextmanager
def alertmanager(folder: Path, receiver: str) -> Iterator[Alertmanager]:
    """Run Alertmanager with the configuration in deploy/, which posts to a receiver at once."""
    (port,) = free_ports(1)
    text = (DEPLOY / "alertmanager.yml").read_text().replace("http://127.0.0.1:9099", receiver)
    for slow, quick in (("group_wait: 30s", "group_wait: 0s"), ("group_interval: 5m", "group_interval: 1s")):
        text = text.replace(slow, quick)
    (folder / "alertmanager.yml").write_text(text)
    with _running(
        tool("prometheus-alertmanager"),
        f"--config.file={folder / 'alertmanager.yml'}",
        f"--storage.path={folder / 'alertmanager'}",
        f"--web.listen-address=127.0.0.1:{port}",
        "--cluster.listen-address=",
        ready=f"http://127.0.0.1:{port}/-/ready",
    ):
        yield Alertmanager(port)


@contextmanager
def _running(*command: str, ready: str) -> Iterator[None]:
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 20
        while not _answers(ready):
            assert process.poll() is None, f"{command[0]} ended"
            assert time.monotonic() < deadline, f"{command[0]} is not ready"
            time.sleep(0.05)
        yield
    finally:
        process.terminate()
        process.wait(20)


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5):
            return True
    except OSError:
        return False
