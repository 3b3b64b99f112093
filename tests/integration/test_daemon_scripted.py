"""The daemon on a source that does what brokers do on bad days."""

from __future__ import annotations

import errno
import threading
import urllib.error
from collections.abc import Iterator
from pathlib import Path

import pytest

from monitor.checkpoint.folder import Folder
from monitor.config import Config, load_config
from monitor.daemon import Daemon
from monitor.pipeline import Pipeline
from monitor.sources.base import Poll
from monitor.web.health import problems
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


def configured(folder: Path, **environment: str) -> Config:
    path = folder / "monitor.yaml"
    path.write_text(CONFIGURATION)
    return load_config(path, {"MONITOR__CHECKPOINT__DIRECTORY": str(folder / "state"), **environment})


def started(source: Scripted, folder: Path) -> Running:
    daemon = Daemon(configured(folder), source=source.made)
    thread = threading.Thread(target=daemon.run)
    thread.start()
    return Running(daemon, thread)


def ended(running: Running) -> None:
    running.daemon.stop()
    running.thread.join(30)
    assert not running.thread.is_alive()


@pytest.fixture
def daemon(source: Scripted, tmp_path: Path) -> Iterator[Running]:
    running = started(source, tmp_path)
    running.wait_until(lambda: running.daemon.status().owner)
    yield running
    ended(running)


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
    metrics = daemon.get("/metrics")
    assert b"classifier_recall{" in metrics and b"monitor_kafka_up 0.0" in metrics
    assert b"owner" in daemon.get("/readyz")
    with pytest.raises(OSError, match="503"):
        daemon.get("/healthz")
    source.problem = None
    daemon.wait_until(lambda: b"monitor_kafka_up 1.0" in daemon.get("/metrics"))


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
    daemon = Daemon(configured(tmp_path), source=source.made)

    def poll(timeout: float) -> Poll:
        raise PermissionError("fenced")

    source.poll = poll  # type: ignore[method-assign]
    with pytest.raises(PermissionError, match="fenced"):
        daemon.run()
    assert source.closed.is_set()
    assert source.committed == []  # nothing is known to be in the state of the next owner


def test_a_restart_goes_on_where_it_ended(daemon: Running, source: Scripted, tmp_path: Path) -> None:
    source.bring(events(0, 100), batch([b"no event"], 100))
    fresh_report(daemon)
    before = daemon.json("/api/v1/report")["reports"]
    ended(daemon)
    again = Scripted()
    running = started(again, tmp_path)
    try:
        running.wait_until(lambda: running.daemon.report() is not None)
        assert again.offsets == {PARTITION: 101}
        assert running.json("/api/v1/report")["reports"] == before
        running.wait_until(lambda: running.daemon.status().events_consumed == {"t": 101})
        assert running.daemon.status().events_rejected == {("", "not_json"): 1}
    finally:
        ended(running)


def test_before_it_joins_it_restores_and_without_partitions_it_stands_by(
    source: Scripted, tmp_path: Path
) -> None:
    source.wanted = frozenset()
    running = started(source, tmp_path)
    try:
        running.wait_until(lambda: running.daemon.status().poll_age is not None)
        with pytest.raises(OSError, match="503"):
            running.get("/readyz")
        source.joined = True
        running.wait_until(lambda: running.daemon.status().ready)
        assert b"standby" in running.get("/readyz")
        assert b"classifier_" not in running.get("/metrics")
        assert b"monitor_owner 0" in running.get("/metrics")
    finally:
        ended(running)


def test_records_after_a_truncation_are_new_though_their_offsets_are_not(
    daemon: Running, source: Scripted
) -> None:
    source.bring(events(0, 100))
    source.polls.append(Poll(truncated={PARTITION: 40}))
    source.bring(events(40, 10, seconds=200))
    daemon.wait_until(lambda: daemon.daemon.status().events_consumed == {"t": 110})


def test_a_disk_that_is_full_is_said_and_stops_nothing(
    daemon: Running, source: Scripted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: Folder, stamp: object, pieces: object) -> int:
        raise OSError(errno.ENOSPC, "no space")

    source.bring(events(0, 100))
    fresh_report(daemon)
    with monkeypatch.context() as patched:
        patched.setattr(Folder, "_store", full)
        daemon.daemon._tenure._due = 0  # type: ignore[union-attr]
        daemon.wait_until(lambda: daemon.daemon.status().checkpoint_error is not None)
        with pytest.raises(urllib.error.HTTPError) as answer:
            daemon.get("/healthz")
        assert b"No space left on device; free some space" in answer.value.read()
        assert b"monitor_checkpoint_errors_total 1.0" in daemon.get("/metrics")
        source.bring(events(100, 10, seconds=100))
        daemon.wait_until(lambda: daemon.daemon.status().events_consumed == {"t": 110})
        daemon.get("/livez")
    daemon.daemon._tenure._due = 0  # type: ignore[union-attr]
    daemon.wait_until(lambda: daemon.daemon.status().checkpoint_error is None)
    assert not any(problem.name == "checkpoint" for problem in problems(daemon.daemon.status()))


def test_what_fails_while_reading_writes_no_last_checkpoint(
    daemon: Running, source: Scripted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source.bring(events(0, 100))

    def broken(self: Pipeline, batch: object) -> None:
        raise RuntimeError("half a batch")

    failed: list[BaseException] = []
    monkeypatch.setattr(threading, "excepthook", lambda arguments: failed.append(arguments.exc_value))
    monkeypatch.setattr(Pipeline, "apply", broken)
    daemon.thread.join(30)
    assert str(failed[0]) == "half a batch"
    assert source.committed == [] or source.committed[-1] == {PARTITION: 0}
