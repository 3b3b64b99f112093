"""The audit log: nothing is lost in silence."""

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from monitor.actions import audit
from monitor.actions.audit import Audit


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "actions.jsonl"


@pytest.fixture
def log(path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Audit]:
    monkeypatch.setattr(audit, "RETRY_EVERY", 0.02)
    log = Audit(path)
    yield log
    log.close()


def lines(path: Path) -> list[object]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def wait_until_written(log: Audit) -> None:
    for _ in range(500):
        if log.flush(0):
            return
        time.sleep(0.02)
    raise AssertionError(log.problem)


def test_lines_are_appended(path: Path, log: Audit) -> None:
    log.add({"a": 1, "text": "zażółć\n"})
    assert log.flush(10)
    log.add({"a": 2})
    assert log.flush(10)
    assert lines(path) == [{"a": 1, "text": "zażółć\n"}, {"a": 2}]
    assert path.stat().st_mode & 0o777 == 0o600


def test_what_was_there_stays(path: Path, log: Audit) -> None:
    path.parent.mkdir()
    path.write_text('{"old": 1}\n{"cut off')
    log.add({"a": 1})
    assert log.flush(10)
    assert path.read_text() == '{"old": 1}\n{"cut off\n{"a":1}\n'


def test_a_file_that_is_moved_away_is_made_anew(path: Path, log: Audit) -> None:
    log.add({"a": 1})
    assert log.flush(10)
    path.rename(path.with_suffix(".1"))
    log.add({"a": 2})
    assert log.flush(10)
    assert lines(path) == [{"a": 2}]


def test_a_disk_that_takes_nothing_is_a_problem_until_it_does(
    path: Path, log: Audit, caplog: pytest.LogCaptureFixture
) -> None:
    path.mkdir(parents=True)  # a folder where the file should be
    log.add({"a": 1})
    assert not log.flush(10)
    assert log.problem is not None and "actions.jsonl cannot be written: Is a directory" in log.problem
    log.add({"a": 2})
    path.rmdir()
    wait_until_written(log)
    assert log.problem is None
    assert lines(path) == [{"a": 1}, {"a": 2}]


def test_what_has_no_room_is_counted(
    path: Path, log: Audit, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(audit, "MAX_WAITING", 2)
    path.mkdir(parents=True)
    for number in range(5):
        log.add({"a": number})
    assert not log.flush(10)
    assert "3 lines beyond 2 were lost" in (log.problem or "")
    path.rmdir()
    wait_until_written(log)
    assert lines(path) == [{"a": 0}, {"a": 1}]
    assert "3 lines beyond 2 were lost" in (log.problem or "")  # for good


def test_what_was_not_written_is_said_at_the_end(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path.mkdir(parents=True)
    log = Audit(path)
    log.add({"a": 1})
    log.close()
    assert "1 lines of the audit log were not written" in caplog.text


def test_without_a_file_nothing_is_kept() -> None:
    log = Audit(None)
    log.add({"a": 1})
    assert log.flush(0)
    assert log.alive
    log.close()
