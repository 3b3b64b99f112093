"""Who owns a folder, and which of its files is taken."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from monitor.checkpoint.errors import CheckpointError
from monitor.checkpoint.folder import Folder
from monitor.checkpoint.format import MAGIC, MAJOR, Preamble
from monitor.checkpoint.names import Listing


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path / "state", "fraud/eu")


def names(folder: Folder) -> list[str]:
    return sorted(os.listdir(folder.path))


def damage(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[-40] ^= 1
    path.write_bytes(data)


def value(folder: Folder) -> int:
    restored = folder.newest(dict)
    assert restored and restored.content and not restored.problems
    return int(restored.content["value"])


def test_what_was_written_is_restored(folder):
    assert folder.newest(dict) is None
    epoch = folder.claim()
    size = folder.write(epoch, 1, {"scores": np.arange(5), "value": 1})
    restored = folder.newest(dict)
    assert restored.content["scores"].tolist() == [0, 1, 2, 3, 4]
    assert restored.path == folder.path / "checkpoint-1-1"
    assert restored.path.stat().st_size == size
    assert (restored.problems, restored.refusal) == ((), None)
    assert folder.files() == [restored.path]


def test_reading_makes_no_folder(folder, tmp_path):
    assert (folder.newest(dict), folder.files(), folder.is_highest(0)) == (None, [], True)
    assert list(tmp_path.iterdir()) == []


def test_only_the_owner_may_read(folder, tmp_path):
    mask = os.umask(0)
    try:
        folder.write(folder.claim(), 1, {})
    finally:
        os.umask(mask)
    for path in [tmp_path / "state", folder.path]:
        assert stat.S_IMODE(path.stat().st_mode) == 0o700
    for path in folder.path.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_each_claim_is_higher_and_ends_the_one_before(folder):
    first = folder.claim()
    assert folder.is_highest(first)
    second = folder.claim()
    assert second == first + 1
    assert folder.is_highest(second)
    assert not folder.is_highest(first)


def test_a_claim_is_higher_than_every_file_even_without_its_marker(folder):
    folder.write(7, 1, {})
    assert folder.claim() == 8


def test_groups_do_not_meet(tmp_path):
    for group in ["a", "a/b", "..", ""]:
        folder = Folder(tmp_path / "state", group)
        assert folder.claim() == 1
    assert os.listdir(tmp_path) == ["state"]


def test_who_hung_while_claiming_does_not_get_an_epoch_that_was_pruned(folder):
    folder.claim()

    class Hung(Folder):
        stale = True

        def _list(self) -> Listing:
            found = super()._list()
            if self.stale:
                self.stale = False
                assert [folder.claim(), folder.claim()] == [2, 3]
                folder.write(3, 1, {})
                assert names(folder) == ["checkpoint-3-1", "epoch-3"]
            return found

    assert Hung(folder.path.parent, "fraud/eu").claim() == 4


def test_claiming_gives_up_where_others_always_win(folder):
    class Loser(Folder):
        def _list(self) -> Listing:
            found = super()._list()
            (self.path / f"epoch-{found.highest + 1}").touch()
            return found

    with pytest.raises(CheckpointError, match="other processes keep doing so"):
        Loser(folder.path.parent, "fraud/eu").claim()


def test_the_newest_two_are_kept(folder):
    for epoch in (folder.claim(), folder.claim()):
        for sequence in (9, 10, 11):
            folder.write(epoch, sequence, {"value": sequence})
    assert names(folder) == ["checkpoint-2-10", "checkpoint-2-11", "epoch-2"]
    assert value(folder) == 11


def test_files_of_an_earlier_epoch_stay_until_there_are_newer_ones(folder):
    folder.write(folder.claim(), 1, {})
    folder.write(1, 2, {})
    folder.write(folder.claim(), 1, {})
    assert names(folder) == ["checkpoint-1-2", "checkpoint-2-1", "epoch-2"]


def test_a_damaged_file_does_not_count_as_kept(folder, tmp_path):
    for sequence in (1, 2):
        folder.write(1, sequence, {"value": sequence})
    damage(folder.path / "checkpoint-1-2")
    restarted = Folder(tmp_path / "state", "fraud/eu")
    restarted.write(2, 1, {})
    assert names(folder) == ["checkpoint-1-1", "checkpoint-1-2", "checkpoint-2-1"]
    restarted.write(2, 2, {})
    assert names(folder) == ["checkpoint-2-1", "checkpoint-2-2"]


def test_the_newest_file_of_the_highest_epoch_is_taken_and_a_zombies_is_not(folder, tmp_path):
    zombie = Folder(tmp_path / "state", "fraud/eu")
    old = zombie.claim()
    zombie.write(old, 1, {"value": 1})
    new = folder.claim()
    folder.write(new, 1, {"value": 2})
    zombie.write(old, 2, {"value": 3})
    assert value(folder) == 2
    assert folder.is_highest(new)
    folder.write(new, 2, {"value": 4})
    zombie.write(old, 3, {"value": 5})
    assert names(folder) == ["checkpoint-2-1", "checkpoint-2-2", "epoch-2"]
    assert value(folder) == 4


def test_what_interrupted_writes_left_is_pruned_but_not_a_successors(folder):
    epoch = folder.claim()
    for name in ["checkpoint-0-9.tmp", "checkpoint-1-1.tmp", "checkpoint-2-1.tmp", "notes.txt"]:
        (folder.path / name).write_text("half")
    folder.write(epoch, 2, {})
    assert names(folder) == ["checkpoint-1-2", "checkpoint-2-1.tmp", "epoch-1", "notes.txt"]


def test_a_damaged_file_is_reported_and_the_previous_one_taken(folder):
    for sequence in (1, 2):
        folder.write(1, sequence, {"value": sequence})
    damage(folder.path / "checkpoint-1-2")
    restored = folder.newest(dict)
    assert restored.content == {"value": 1}
    assert restored.path == folder.path / "checkpoint-1-1"
    [problem] = restored.problems
    assert problem.startswith(f"{folder.path}/checkpoint-1-2 is damaged: its checksum does not fit; ")


def test_a_file_of_a_newer_version_is_reported_and_the_previous_one_taken(folder):
    folder.write(1, 1, {"value": 1})
    newer = Preamble(MAGIC, b"9.9.9", MAJOR + 1, 0, 0, 0).pack()
    (folder.path / "checkpoint-2-1").write_bytes(newer)
    restored = folder.newest(dict)
    assert restored.content == {"value": 1}
    assert "run monitor 9.9.9 or later" in restored.problems[0]


def test_files_of_which_none_can_be_read_are_not_nothing(folder):
    for sequence in (1, 2):
        folder.write(1, sequence, {})
        damage(folder.path / f"checkpoint-1-{sequence}")
    restored = folder.newest(dict)
    assert (restored.content, restored.path) == (None, None)
    assert len(restored.problems) == 2
    assert "none can be restored" in restored.refusal
    assert "checkpoint-1-1 is damaged" in restored.refusal
    assert restored.refusal.endswith("To start afresh, move these files away")


def test_a_file_that_cannot_be_read_is_a_problem_of_its_own(folder, monkeypatch):
    for sequence in (1, 2):
        folder.write(1, sequence, {"value": sequence})
    usual = Path.open

    def refused(path: Path, *args: object) -> object:
        if path.name == "checkpoint-1-2":
            raise PermissionError(13, "Permission denied")
        return usual(path, *args)

    monkeypatch.setattr(Path, "open", refused)
    restored = folder.newest(dict)
    assert restored.content == {"value": 1}
    assert "checkpoint-1-2: Permission denied; give the user" in restored.problems[0]


def test_files_pruned_while_they_are_read_are_looked_for_again(folder):
    folder.write(1, 1, {"value": 1})

    class Slow(Folder):
        stale = True

        def files(self) -> list[Path]:
            found = super().files()
            if self.stale:
                self.stale = False
                for sequence in (1, 2):
                    folder.write(2, sequence, {"value": 20 + sequence})
            return found

    assert value(Slow(folder.path.parent, "fraud/eu")) == 22


def test_what_is_no_regular_file_is_not_opened(folder, tmp_path):
    elsewhere = Folder(tmp_path, "other")
    elsewhere.write(1, 1, {"value": 2})
    folder.write(1, 1, {"value": 1})
    os.mkfifo(folder.path / "checkpoint-9-1")
    (folder.path / "checkpoint-9-2").mkdir()
    (folder.path / "checkpoint-9-3").symlink_to(elsewhere.files()[0])
    assert value(folder) == 1


def test_a_folder_that_was_removed_is_made_again(folder):
    epoch = folder.claim()
    for path in folder.path.iterdir():
        path.unlink()
    folder.path.rmdir()
    folder.write(epoch, 1, {"value": 1})
    assert value(folder) == 1


def test_a_tree_that_cannot_be_written_leaves_nothing(folder):
    with pytest.raises(CheckpointError, match="cannot be written to a checkpoint"):
        folder.write(folder.claim(), 1, {"x": float("nan")})
    assert names(folder) == ["epoch-1"]


def test_an_error_halfway_leaves_nothing(folder, monkeypatch):
    def halfway(tree: object) -> Iterator[bytes]:
        yield b"half"
        raise MemoryError

    folder.claim()
    monkeypatch.setattr("monitor.checkpoint.folder.encode", halfway)
    with pytest.raises(MemoryError):
        folder.write(1, 1, {})
    assert names(folder) == ["epoch-1"]


def test_a_group_id_too_long_for_a_file_name_is_refused_with_the_remedy(tmp_path):
    with pytest.raises(CheckpointError, match=r"File name too long; choose a shorter kafka\.group_id"):
        Folder(tmp_path, "é" * 50).claim()
