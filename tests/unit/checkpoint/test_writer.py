"""The thread that writes, seen from the thread that reads events."""

from __future__ import annotations

import gc
import logging
import threading
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from monitor.checkpoint.errors import CheckpointError
from monitor.checkpoint.folder import Folder
from monitor.checkpoint.writer import Statistics, Writer
from monitor.clock import ManualClock

LONG = 30.0


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path, "monitor")


@pytest.fixture
def start(folder: Folder) -> Iterator[Callable[..., Writer]]:
    writers: list[Writer] = []

    def one(before: Callable[[Any], None] | None = None) -> Writer:
        writers.append(Writer(folder, folder.claim(), before, ManualClock()))
        return writers[-1]

    yield one
    for writer in writers:
        assert writer.close(LONG)


class Gate:
    """A `before` that waits until it is opened, and says that it is there."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self.opened = threading.Event()
        self.tags: list[Any] = []

    def __call__(self, tag: Any) -> None:
        self.tags.append(tag)
        self.reached.set()
        assert self.opened.wait(LONG)


def test_what_is_submitted_is_written_and_told_once(folder, start):
    writer = start()
    assert writer.flush(0)
    assert writer.submit(lambda: {"value": 1}, "a") == 1
    assert writer.flush(LONG)
    assert writer.submit(lambda: {"value": 2}, "b") == 2
    assert writer.flush(LONG)
    assert writer.done() == [(1, "a"), (2, "b")]
    assert writer.done() == []
    assert folder.newest(dict).content == {"value": 2}
    size = folder.files()[0].stat().st_size
    assert writer.statistics == Statistics(2, 0, size, 0.0, ManualClock().now())


def test_a_newer_submission_replaces_one_that_waits(folder, start):
    gate = Gate()
    writer = start(gate)
    writer.submit(lambda: {"value": 1}, "a")
    assert gate.reached.wait(LONG)
    writer.submit(lambda: {"value": 2}, "b")
    writer.submit(lambda: {"value": 3}, "c")
    assert not writer.flush(0)
    assert writer.done() == []
    gate.opened.set()
    assert writer.flush(LONG)
    assert writer.done() == [(1, "a"), (3, "c")]
    assert gate.tags == ["a", "c"]
    assert [path.name for path in folder.files()] == ["checkpoint-1-3", "checkpoint-1-1"]


def test_before_comes_before_the_file(folder, start):
    seen = []
    writer = start(lambda tag: seen.append((tag, folder.files())))
    writer.submit(lambda: {}, {"offset": 7})
    assert writer.flush(LONG)
    assert seen == [({"offset": 7}, [])]


def test_without_ownership_nothing_is_written(folder, start):
    called = []
    writer = start(called.append)
    folder.claim()
    writer.submit(lambda: {}, "a")
    assert not writer.flush(LONG)
    assert writer.superseded
    assert (writer.done(), called, folder.files(), writer.problem) == ([], [], [], None)
    writer.submit(lambda: {}, "b")
    assert not writer.flush(0)


def test_ownership_lost_while_before_runs_is_seen(folder, start):
    writer = start(lambda tag: folder.claim() and None)
    writer.submit(lambda: {}, "a")
    assert not writer.flush(LONG)
    assert writer.superseded
    assert (writer.done(), folder.files()) == ([], [])


def test_nothing_is_held_for_a_writer_that_is_superseded(folder, start):
    arrays = [np.zeros(10) for _ in range(3)]
    gone = [weakref.ref(array) for array in arrays]
    gate = Gate()
    writer = start(gate)
    writer.submit(lambda a=arrays[0]: {"array": a}, "a")
    assert gate.reached.wait(LONG)
    writer.submit(lambda a=arrays[1]: {"array": a}, "b")
    folder.claim()
    gate.opened.set()
    assert not writer.flush(LONG)
    assert writer.superseded
    writer.submit(lambda a=arrays[2]: {"array": a}, "c")
    del arrays
    gc.collect()
    assert [ref() for ref in gone] == [None] * 3


def test_a_failure_because_of_a_successor_is_no_problem(folder, start, monkeypatch):
    def removed(*args: object) -> int:
        folder.claim()
        raise CheckpointError("somebody removed it")

    writer = start()
    monkeypatch.setattr(folder, "write", removed)
    writer.submit(lambda: {}, "a")
    assert not writer.flush(LONG)
    assert writer.superseded
    assert (writer.problem, writer.statistics.errors) == (None, 0)


def test_after_an_error_the_next_submission_is_tried(folder, start, monkeypatch):
    writer = start()
    usual = folder.write

    def full(*args: object) -> int:
        raise CheckpointError("the disk is full; free some space")

    monkeypatch.setattr(folder, "write", full)
    for errors in (1, 2):
        writer.submit(lambda: {}, "lost")
        assert not writer.flush(LONG)
        assert writer.problem == "the disk is full; free some space"
        assert writer.statistics == Statistics(errors=errors)
    monkeypatch.setattr(folder, "write", usual)
    writer.submit(lambda: {}, "kept")
    assert writer.flush(LONG)
    assert writer.problem is None
    assert writer.done() == [(3, "kept")]
    assert (writer.statistics.written, writer.statistics.errors) == (1, 2)


def test_a_tree_that_cannot_be_written_is_a_problem_not_a_death(start):
    writer = start()
    writer.submit(lambda: {"x": float("nan")}, "a")
    assert not writer.flush(LONG)
    assert "['x'] is nan" in writer.problem
    writer.submit(lambda: {}, "b")
    assert writer.flush(LONG)


def test_an_error_nobody_expected_is_logged_with_its_trace(folder, start, caplog):
    def broken(tag: object) -> None:
        raise KeyError("letters")

    writer = start(broken)
    with caplog.at_level(logging.ERROR):
        writer.submit(lambda: {}, "a")
        assert not writer.flush(LONG)
    assert writer.problem == "KeyError: 'letters'"
    assert folder.files() == []
    assert caplog.records[0].exc_info
    assert writer.statistics.errors == 1


def test_a_tree_is_let_go_once_it_is_written(start):
    writer = start()
    array = np.zeros(10)
    gone = weakref.ref(array)
    writer.submit(lambda a=array: {"array": a}, None)
    del array
    assert writer.flush(LONG)
    gc.collect()
    assert gone() is None


def test_close_writes_what_waits(folder, start):
    gate = Gate()
    writer = start(gate)
    writer.submit(lambda: {"value": 1}, "a")
    assert gate.reached.wait(LONG)
    writer.submit(lambda: {"value": 2}, "b")
    gate.opened.set()
    assert writer.close(LONG)
    assert writer.done() == [(1, "a"), (2, "b")]
    with pytest.raises(RuntimeError, match="closed"):
        writer.submit(lambda: {}, "c")


def test_close_drops_what_waits_when_time_is_over(folder, start):
    gate = Gate()
    writer = start(gate)
    writer.submit(lambda: {"value": 1}, "a")
    assert gate.reached.wait(LONG)
    writer.submit(lambda: {"value": 2}, "b")
    assert not writer.close(0)
    gate.opened.set()
    assert writer.close(LONG)
    assert writer.done() == [(1, "a")]
    assert folder.newest(dict).content == {"value": 1}
