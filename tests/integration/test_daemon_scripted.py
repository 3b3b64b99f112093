"""The daemon on a source that does what brokers do on bad days."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from monitor.config import load_config
from monitor.daemon import Daemon
from monitor.pipeline import Pipeline
from monitor.sources.base import Poll
from tests.support.daemons import Running
from tests.support.records import RECORD_MS, batch
from tests.support.scripted import PARTITION, Scripted

CONFIGURATION = """
kafka: {bootstrap_servers: [localhost:9092], topics: [t], group_id: g}
models:
  fraud: {task: binary, classes: [legit, fraud],
          windows: [{name: last_5, events: 5}, {name: 1m, duration: 1m}]}
evaluation: {every: 100ms}
server: {port: 0}
"""


@pytest.fixture
def source() -> Scripted:
    return Scripted()


@pytest.fixture
def daemon(source: Scripted, tmp_path: Path) -> Iterator[Running]:
    path = tmp_path / "monitor.yaml"
    path.write_text(CONFIGURATION)
    daemon = Daemon(load_config(path, {}), source=lambda _: source)
    thread = threading.Thread(target=daemon.run)
    thread.start()
    running = Running(daemon, thread)
    running.wait_until(lambda: daemon.status().owner)
    yield running
    daemon.stop()
    thread.join(30)
    assert not thread.is_alive()


def events(first: int, count: int, seconds: float = 0) -> object:
    start = RECORD_MS / 1000 - 3600 + seconds
    values = [
        {"model": "fraud", "timestamp": start + i, "label": ("legit", "fraud")[i % 2], "score": 0.5}
        for i in range(count)
    ]
    return batch(values, first)


def complete(daemon: Running) -> dict[str, bool]:
    return {r["window"]: r["complete"] for r in daemon.json("/api/v1/report")["reports"]}


def fresh_report(daemon: Running) -> None:
    before = daemon.daemon.report()
    daemon.wait_until(lambda: (now := daemon.daemon.report()) is not None and now is not before)
    before = daemon.daemon.report()
    daemon.wait_until(lambda: daemon.daemon.report() is not before)


def test_an_outage_of_the_broker_takes_no_number_away(daemon: Running, source: Scripted) -> None:
    source.bring(events(0, 100))
    fresh_report(daemon)
    source.problem = "no broker answers"
    daemon.wait_until(lambda: daemon.daemon.status().broker_error is not None)
    assert b"classifier_recall{" in daemon.get("/metrics")
    assert b"owner" in daemon.get("/readyz")
    with pytest.raises(OSError, match="503"):
        daemon.get("/healthz")


def test_windows_are_not_complete_until_lost_records_are_behind_them(
    daemon: Running, source: Scripted
) -> None:
    source.bring(events(0, 200))
    fresh_report(daemon)
    assert complete(daemon) == {"last_5": True, "1m": True, "all": True}
    source.offsets_lost = 1000
    source.bring(events(1200, 1, seconds=300))
    fresh_report(daemon)
    assert complete(daemon) == {"last_5": False, "1m": False, "all": False}
    source.bring(events(1201, 100, seconds=301))
    fresh_report(daemon)
    assert complete(daemon) == {"last_5": True, "1m": True, "all": False}


def test_who_loses_a_partition_forgets_everything_and_reads_again(daemon: Running, source: Scripted) -> None:
    source.bring(events(0, 100))
    fresh_report(daemon)
    source.polls.append(Poll(revoked=frozenset({PARTITION})))
    source.bring(events(0, 60))
    fresh_report(daemon)
    (whole,) = daemon.json("/api/v1/report?window=all")["reports"]
    assert whole["events"] == 60
    daemon.wait_until(lambda: daemon.daemon.status().events_consumed == {"t": 60})


def test_polls_and_scrapes_go_on_during_an_evaluation(
    daemon: Running, source: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    source.bring(events(0, 10))
    fresh_report(daemon)
    entered, release = threading.Event(), threading.Event()
    evaluate = Pipeline.evaluate

    def slow(self: Pipeline, snapshot: object) -> object:
        entered.set()
        assert release.wait(60)
        return evaluate(self, snapshot)

    monkeypatch.setattr(Pipeline, "evaluate", slow)
    assert entered.wait(20)
    source.bring(*(events(10 + 100 * i, 100, seconds=10 + 100 * i) for i in range(20)))
    daemon.wait_until(lambda: daemon.daemon.status().events_consumed == {"t": 2010})
    assert b'classifier_events{model="fraud",segment="",version="",window="all"} 10.0' in daemon.get(
        "/metrics"
    )
    daemon.get("/livez")
    release.set()
    daemon.wait_until(lambda: b'window="all"} 2010.0' in daemon.get("/metrics"))


def test_leaving_the_group_does_not_wait_for_an_evaluation(
    daemon: Running, source: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    source.bring(events(0, 10))
    entered, release = threading.Event(), threading.Event()
    evaluate = Pipeline.evaluate

    def slow(self: Pipeline, snapshot: object) -> object:
        entered.set()
        assert release.wait(20)
        return evaluate(self, snapshot)

    monkeypatch.setattr(Pipeline, "evaluate", slow)
    assert entered.wait(20)
    daemon.daemon.stop()
    assert source.closed.wait(20)
    assert source.committed[-1] == {PARTITION: 10}
    release.set()


def test_an_error_of_the_source_ends_the_daemon_with_its_message(source: Scripted, tmp_path: Path) -> None:
    path = tmp_path / "monitor.yaml"
    path.write_text(CONFIGURATION)
    daemon = Daemon(load_config(path, {}), source=lambda _: source)

    def poll(timeout: float) -> Poll:
        raise PermissionError("fenced")

    source.poll = poll  # type: ignore[method-assign]
    with pytest.raises(PermissionError, match="fenced"):
        daemon.run()
    assert source.closed.is_set()
    assert source.committed == []  # nothing is known to be in the state of the next owner
