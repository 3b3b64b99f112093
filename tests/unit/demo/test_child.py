from __future__ import annotations

import sys
import threading

import pytest

from monitor.demo.child import InterruptedByUser, child
from monitor.errors import MonitorError

SLEEP = [sys.executable, "-c", "import time; print('up', flush=True); time.sleep(60)"]


def test_it_ends_with_the_block_whatever_happens(tmp_path):
    with pytest.raises(RuntimeError), child("it", SLEEP, tmp_path / "log") as running:
        assert running.process.poll() is None
        raise RuntimeError
    assert running.process.poll() is not None


def test_waiting_gives_the_first_answer(tmp_path):
    with child("it", SLEEP, tmp_path / "log") as running:
        assert running.wait_until(lambda: running.log.read_text() or None, 30, threading.Event()) == "up\n"


def test_its_end_is_told_with_its_last_words(tmp_path):
    command = [sys.executable, "-c", "print('no such disk'); raise SystemExit(3)"]
    with child("it", command, tmp_path / "log") as running:
        with pytest.raises(MonitorError, match=r"(?s)it ended with status 3.*no such disk"):
            running.wait_until(lambda: None, 30, threading.Event())


def test_waiting_ends_at_the_deadline_and_when_asked_to(tmp_path):
    stop = threading.Event()
    with child("it", SLEEP, tmp_path / "log") as running:
        with pytest.raises(MonitorError, match=r"did not answer within 0\.1 s"):
            running.wait_until(lambda: None, 0.1, stop)
        stop.set()
        with pytest.raises(InterruptedByUser):
            running.wait_until(lambda: None, 30, stop)


def test_a_missing_program_is_a_message(tmp_path):
    with (
        pytest.raises(MonitorError, match="it cannot be started"),
        child("it", ["/nowhere/x"], tmp_path / "log"),
    ):
        pass
