"""The order of claiming, restoring, writing and committing, with real files and a scripted source."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from monitor import tenure as module
from monitor.checkpoint.errors import CheckpointError
from monitor.checkpoint.folder import Folder
from monitor.clock import ManualClock
from monitor.config import Config
from monitor.errors import SourceError
from monitor.records import Partition
from monitor.takeover import take_over
from monitor.tenure import COMMIT_SECONDS, Superseded, Tenure
from tests.support.records import RECORD_MS, batch
from tests.support.scripted import PARTITION, Scripted

LONG = 30.0
EVERY = 30.0
TakeOver = Callable[..., Tenure]


class Letters:
    """Dead letters that arrive when a test says so."""

    def __init__(self) -> None:
        self.sent = 0
        self.arrived = True
        self.asked: list[int] = []

    def mark(self) -> int:
        return self.sent

    def settled(self, mark: int, timeout: float) -> bool:
        self.asked.append(mark)
        return self.arrived


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(RECORD_MS * 1000)


@pytest.fixture
def source() -> Scripted:
    source = Scripted()
    source.poll(0)
    source.topic_ids = {"t": "first"}
    return source


@pytest.fixture
def lock() -> threading.Lock:
    return threading.Lock()


@pytest.fixture
def begin(tmp_path: Path, clock: ManualClock, source: Scripted) -> Iterator[TakeOver]:
    begun: list[Tenure] = []

    def begin(letters: Any = None, **kafka: object) -> Tenure:
        config = Config.model_validate(
            {
                "kafka": {"bootstrap_servers": ["localhost"], "topics": ["t"], "group_id": "g", **kafka},
                "models": {"fraud": {"task": "binary", "classes": ["legit", "fraud"]}},
                "checkpoint": {"directory": str(tmp_path), "every": f"{EVERY:.0f}s"},
            }
        )
        begun.append(take_over(config, clock, source.topic_ids, letters))
        return begun[-1]

    yield begin
    for tenure in begun:
        tenure.abandon()


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path, "g")


def read(tenure: Tenure, source: Scripted, first: int, count: int) -> None:
    """Take in events, as the poll loop does."""
    values = [{"label": "fraud", "score": 0.9, "timestamp": RECORD_MS / 1000 + i} for i in range(count)]
    records = batch(values, first)
    tenure.pipeline.apply(tenure.pipeline.decode([records]))
    source.offsets[PARTITION] = first + count


def write(tenure: Tenure) -> bool:
    """Wait until what was submitted is on disk; return whether it is."""
    assert tenure._writer is not None
    return tenure._writer.flush(LONG)


@contextmanager
def full_disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    def claim(self: Folder) -> int:
        raise CheckpointError("no space left; free some")

    with monkeypatch.context() as patched:
        patched.setattr(Folder, "claim", claim)
        yield


def labeled(tenure: Tenure) -> int:
    return sum(version.labeled for version in tenure.pipeline.snapshot().view.versions)


def test_the_first_checkpoint_is_due_at_once_and_committed_once_it_is_written(
    begin: TakeOver, source: Scripted, lock: threading.Lock, clock: ManualClock
) -> None:
    tenure = begin()
    read(tenure, source, 0, 10)
    tenure.step(source, lock)
    assert source.committed == []
    assert write(tenure)
    read(tenure, source, 10, 10)
    tenure.step(source, lock)
    assert source.committed == [{PARTITION: 10}]
    clock.advance(EVERY)
    tenure.step(source, lock)
    assert write(tenure)
    tenure.step(source, lock)
    assert source.committed[-1] == {PARTITION: 20}


def test_between_checkpoints_what_is_saved_is_committed_again_to_see_whether_one_is_fenced(
    begin: TakeOver, source: Scripted, lock: threading.Lock, clock: ManualClock
) -> None:
    tenure = begin()
    tenure.step(source, lock)
    assert write(tenure)
    tenure.step(source, lock)
    read(tenure, source, 0, 10)
    clock.advance(COMMIT_SECONDS)
    tenure.step(source, lock)
    tenure.step(source, lock)
    assert source.committed == [{PARTITION: 0}, {PARTITION: 0}]


def test_the_next_owner_goes_on_where_the_last_checkpoint_ended(
    begin: TakeOver, source: Scripted, lock: threading.Lock, folder: Folder
) -> None:
    tenure = begin()
    read(tenure, source, 0, 10)
    tenure.finish(source, lock)
    assert source.committed == [{PARTITION: 10}]
    again = begin()
    assert again.known({PARTITION, Partition("t", 1)}) == {PARTITION: 10}
    assert labeled(again) == 10
    again.step(source, lock)
    assert write(again)
    assert folder.files()[0].name == "checkpoint-2-1", "what was restored is written under the own epoch"


def test_a_partition_without_records_is_remembered_by_where_reading_began(
    begin: TakeOver, source: Scripted, lock: threading.Lock
) -> None:
    source.offsets[PARTITION] = 70
    begin().finish(source, lock)
    assert begin().known({PARTITION}) == {PARTITION: 70}


def test_who_is_superseded_writes_and_commits_nothing_more(
    begin: TakeOver, source: Scripted, lock: threading.Lock, folder: Folder
) -> None:
    tenure = begin()
    folder.claim()
    read(tenure, source, 0, 10)
    tenure.step(source, lock)
    assert not write(tenure)
    for step in (tenure.step, tenure.finish):
        with pytest.raises(Superseded, match="another instance has claimed"):
            step(source, lock)
    assert (folder.files(), source.committed) == ([], [])


def test_a_folder_that_cannot_be_claimed_stops_no_reading(
    begin: TakeOver,
    source: Scripted,
    lock: threading.Lock,
    clock: ManualClock,
    folder: Folder,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, module.__name__)
    with full_disk(monkeypatch):
        tenure = begin()
        read(tenure, source, 0, 10)
        tenure.step(source, lock)
        assert (tenure.problem, tenure.errors, tenure.statistics.timestamp) == (
            "no space left; free some",
            2,
            None,
        )
        assert source.committed == [], "what is in no checkpoint is not committed"
        clock.advance(EVERY)
        tenure.step(source, lock)
    clock.advance(EVERY)
    tenure.step(source, lock)
    assert write(tenure)
    assert (tenure.problem, tenure.errors) == (None, 3)
    tenure.step(source, lock)
    said = [r.getMessage() for r in caplog.records if "no space" in r.getMessage()]
    assert said == ["no space left; free some", "no longer: no space left; free some"]
    assert source.committed == [{PARTITION: 10}]
    assert folder.files()[0].name == "checkpoint-1-1"


def test_nobody_claims_late_what_another_one_claimed_meanwhile(
    begin: TakeOver,
    source: Scripted,
    lock: threading.Lock,
    folder: Folder,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with full_disk(monkeypatch):
        tenure = begin()
    folder.claim()
    with pytest.raises(Superseded):
        tenure.step(source, lock)
    assert folder.highest() == 1


def test_a_damaged_checkpoint_is_passed_over_and_said(
    begin: TakeOver,
    source: Scripted,
    lock: threading.Lock,
    clock: ManualClock,
    folder: Folder,
    caplog: pytest.LogCaptureFixture,
) -> None:
    tenure = begin()
    for first in (0, 10):
        read(tenure, source, first, 10)
        tenure.step(source, lock)
        assert write(tenure)
        clock.advance(EVERY)
    tenure.abandon()
    newest = folder.files()[0]
    newest.write_bytes(newest.read_bytes()[:-1])
    with caplog.at_level(logging.ERROR):
        assert begin().known({PARTITION}) == {PARTITION: 10}
    assert f"a checkpoint is passed over: {newest} is damaged" in caplog.text


def test_a_tree_that_makes_no_sense_is_passed_over_too(
    begin: TakeOver, source: Scripted, lock: threading.Lock, folder: Folder
) -> None:
    tenure = begin()
    read(tenure, source, 0, 10)
    tenure.finish(source, lock)
    folder.write(folder.claim(), 1, {"nonsense": 1})
    assert begin().known({PARTITION}) == {PARTITION: 10}


def test_nothing_starts_from_nothing_where_something_was_remembered(
    begin: TakeOver, source: Scripted, lock: threading.Lock, folder: Folder
) -> None:
    begin().finish(source, lock)
    for path in folder.files():
        path.write_bytes(b"")
    with pytest.raises(CheckpointError, match=r"none can be restored.*To start afresh, move these"):
        begin()


def test_a_topic_that_was_recreated_meanwhile_is_refused_or_begun_anew(
    begin: TakeOver, source: Scripted, lock: threading.Lock
) -> None:
    tenure = begin()
    read(tenure, source, 0, 10)
    tenure.finish(source, lock)
    source.topic_ids = {"t": "second"}
    with pytest.raises(SourceError, match=r"'t' was deleted and created again.*on_topic_recreated: restart"):
        begin()
    tenure = begin(on_topic_recreated="restart")
    assert (tenure.known({PARTITION}), labeled(tenure)) == ({PARTITION: 0}, 0)
    read(tenure, source, 0, 3)
    assert tenure.known({PARTITION}) == {PARTITION: 3}


def test_brokers_that_give_no_ids_say_nothing_about_recreated_topics(
    begin: TakeOver, source: Scripted, lock: threading.Lock
) -> None:
    tenure = begin()
    read(tenure, source, 0, 10)
    tenure.finish(source, lock)
    source.topic_ids = {"t": None}
    assert begin().known({PARTITION}) == {PARTITION: 10}


def test_a_checkpoint_waits_for_the_dead_letters_before_it(
    begin: TakeOver, source: Scripted, lock: threading.Lock, clock: ManualClock, folder: Folder
) -> None:
    letters = Letters()
    letters.sent, letters.arrived = 7, False
    tenure = begin(letters)
    tenure.step(source, lock)
    assert not write(tenure)
    assert "kafka.dead_letter_topic" in str(tenure.problem)
    assert (letters.asked, folder.files()) == ([7], [])
    letters.arrived = True
    clock.advance(EVERY)
    tenure.step(source, lock)
    assert write(tenure)


def test_an_end_without_a_last_checkpoint_is_said(
    begin: TakeOver,
    source: Scripted,
    lock: threading.Lock,
    folder: Folder,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "FINISH_SECONDS", 0.1)
    letters = Letters()
    letters.arrived = False
    tenure = begin(letters)
    with caplog.at_level(logging.WARNING):
        tenure.finish(source, lock)
    assert "will be read again" in caplog.text
    assert (source.committed, folder.files()) == ([], [])


def test_the_last_report_of_a_retired_version_is_written_before_a_checkpoint_without_it(
    begin: TakeOver, source: Scripted, lock: threading.Lock, folder: Folder
) -> None:
    tenure = begin()
    read(tenure, source, 0, 10)
    tenure.retire(tenure.pipeline.snapshot())
    tenure.pipeline.forget("fraud")
    tenure.finish(source, lock)
    (report,) = module.Archive(folder.path).find("fraud", "")
    assert report["reports"][0]["events"] == 10
    assert labeled(begin()) == 0


def test_nothing_is_written_before_there_is_a_place_in_the_partitions(
    begin: TakeOver, source: Scripted, lock: threading.Lock, folder: Folder
) -> None:
    tenure = begin()
    source.owned = frozenset()
    tenure.step(source, lock)
    tenure.finish(source, lock)
    assert (folder.files(), source.committed) == ([], [])


def test_a_tenure_knows_when_a_topic_is_another_one(begin: TakeOver) -> None:
    tenure = begin()
    assert not tenure.is_of_other_topics({"t": "first"})
    assert not tenure.is_of_other_topics({"t": None})
    assert tenure.is_of_other_topics({"t": "second"})
