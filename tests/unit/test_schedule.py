"""Jobs at intervals: at once, again, one at a time; what fails or is skipped is counted and said."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from monitor.clock import ManualClock
from monitor.schedule import Schedule


@pytest.fixture
def schedule() -> Iterator[Schedule]:
    made = Schedule()
    yield made
    made.stop()


def test_a_job_runs_at_once_and_again(schedule: Schedule) -> None:
    done = threading.Semaphore(0)
    schedule.every(0.05, "job", done.release)
    schedule.every(3600, "seldom", done.release)
    assert not done.acquire(timeout=0.1)
    assert not schedule.alive
    schedule.start()
    assert all(done.acquire(timeout=20) for _ in range(4))
    assert schedule.alive
    assert schedule.missed == {"job": 0, "seldom": 0}
    assert schedule.errors == {}


def test_a_job_that_fails_runs_again(schedule: Schedule, caplog: pytest.LogCaptureFixture) -> None:
    runs = threading.Semaphore(0)

    def fail() -> None:
        runs.release()
        raise ValueError("broken")

    schedule.every(0.05, "job", fail)
    schedule.start()
    assert all(runs.acquire(timeout=20) for _ in range(3))
    schedule.stop()
    assert schedule.errors["job"] >= 3
    said = [record for record in caplog.records if record.message == "job failed: broken"]
    assert len(said) == schedule.errors["job"]
    assert "in fail" in vars(said[0])["traceback"]
    assert {record.name for record in caplog.records} == {"monitor.schedule"}


def test_a_job_never_runs_twice_at_once(schedule: Schedule, caplog: pytest.LogCaptureFixture) -> None:
    started, go_on = threading.Semaphore(0), threading.Event()
    skipped = threading.Event()

    class Watch(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            skipped.set()

    def slow() -> None:
        started.release()
        go_on.wait(30)

    watch = Watch()
    logging.getLogger("monitor.schedule").addHandler(watch)
    try:
        schedule.every(0.05, "job", slow)
        schedule.start()
        assert started.acquire(timeout=20)
        assert skipped.wait(20)
        assert not started.acquire(timeout=0.2)
        go_on.set()
        schedule.stop()
    finally:
        go_on.set()
        logging.getLogger("monitor.schedule").removeHandler(watch)
    assert schedule.missed["job"] >= 1
    assert schedule.errors == {}


def test_a_job_that_is_skipped_again_and_again_is_said_once_a_minute(
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock = ManualClock()
    schedule = Schedule(clock)
    schedule.every(10, "evaluate", lambda: None, "evaluation.every")
    schedule.every(10, "champions", lambda: None)
    skipped = [SimpleNamespace(job_id=job) for job in ("evaluate", "champions")]
    for _ in range(12):
        for event in skipped:
            schedule._on_missed(event)
        clock.advance(10)
    assert schedule.missed == {"evaluate": 12, "champions": 12}
    why = "job skipped: its last run has not ended"
    assert [record.message for record in caplog.records] == [
        f"{why}; if this goes on, raise evaluation.every",
        why,
    ] * 2
    assert [vars(record)["skipped"] for record in caplog.records] == [1, 1, 7, 7]


def test_stop_waits_for_what_runs(schedule: Schedule) -> None:
    started, ended = threading.Event(), threading.Event()

    def job() -> None:
        started.set()
        threading.Event().wait(0.2)
        ended.set()

    schedule.every(3600, "job", job)
    schedule.start()
    assert started.wait(20)
    schedule.stop()
    assert ended.is_set()
    schedule.stop()  # a second time is nothing
