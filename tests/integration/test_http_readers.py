"""What readers make a running daemon do: nothing but answer."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from monitor.config import load_config
from monitor.daemon import Daemon
from monitor.evaluator import Evaluator
from monitor.schedule import Schedule
from monitor.web.openapi import OPENAPI
from tests.support.daemons import Running
from tests.support.scripted import Scripted
from tests.support.sockets import ask

CONFIGURATION = """
kafka: {bootstrap_servers: [localhost:9092], topics: [t], group_id: g}
models: {fraud: {task: binary, classes: [legit, fraud]}}
evaluation: {every: 1h, bootstrap: {every: 1h}}
server: {port: 0, read_token_file: TOKEN}
checkpoint: {directory: STATE}
"""
AUTHORIZATION = "Authorization: Bearer a-secret-token"
READ = [path for path, ways in OPENAPI["paths"].items() if "get" in ways]


@pytest.fixture
def callers(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the threads that evaluate, or ask for an evaluation."""
    names: list[str] = []

    def watched(original: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            names.append(threading.current_thread().name)
            return original(*arguments, **options)

        return call

    for owner, name in ((Evaluator, "evaluate"), (Evaluator, "resample"), (Schedule, "soon")):
        monkeypatch.setattr(owner, name, watched(getattr(owner, name)))
    return names


@pytest.fixture
def running(tmp_path: Path, callers: list[str]) -> Iterator[Running]:
    (tmp_path / "token").write_text("a-secret-token\n")
    text = CONFIGURATION.replace("TOKEN", str(tmp_path / "token")).replace("STATE", str(tmp_path / "state"))
    (tmp_path / "monitor.yaml").write_text(text)
    source = Scripted()
    daemon = Daemon(load_config(tmp_path / "monitor.yaml", {}), source=source.made)
    thread = threading.Thread(target=daemon.run, name="daemon")
    thread.start()
    found = Running(daemon, thread)
    try:
        found.wait_until(lambda: daemon.report() is not None)
        yield found
    finally:
        daemon.stop()
        thread.join(30)


def test_nothing_that_is_read_starts_an_evaluation(running: Running, callers: list[str]) -> None:
    port = running.daemon.port
    assert port is not None
    for _ in range(5):
        for path in READ:
            for query in ("", "?refresh=1&evaluate=true&curves=true"):
                answer = ask(port, path + query, AUTHORIZATION)
                assert answer is not None
                assert answer.status in (200, 400, 404)
    assert callers
    assert not [name for name in callers if name == "http" or name.startswith("AnyIO")]


def test_the_daemon_asks_for_the_token_and_serves_nothing_without(running: Running) -> None:
    port = running.daemon.port
    assert port is not None
    for path in READ:
        answer = ask(port, path)
        assert answer is not None
        assert answer.status == (200 if path in ("/livez", "/readyz", "/healthz") else 401)
