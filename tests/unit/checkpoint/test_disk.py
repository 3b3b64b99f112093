"""Disks that are full, read-only or no folder at all: one message, no leavings, the old checkpoint intact."""

from __future__ import annotations

import errno
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from monitor.checkpoint.errors import CheckpointError
from monitor.checkpoint.folder import Folder

LARGE = {"array": np.zeros(1 << 21, dtype="int8")}


def mount(*args: str) -> bool:
    return subprocess.run(["mount", *args], capture_output=True, check=False).returncode == 0


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path | None]:
    """A disk of 1 MiB, where this user may mount one."""
    path = tmp_path / "disk"
    path.mkdir()
    if os.geteuid() or not mount("-t", "tmpfs", "-o", "size=1m", "tmpfs", str(path)):
        yield None
        return
    yield path
    subprocess.run(["umount", str(path)], check=True)


def failing(code: int) -> Callable[..., int]:
    def call(*args: object, **kwargs: object) -> int:
        raise OSError(code, os.strerror(code))

    return call


def test_a_full_disk(disk, tmp_path, monkeypatch):
    folder = Folder(disk or tmp_path, "monitor")
    epoch = folder.claim()
    folder.write(epoch, 1, {"value": 1})
    if disk is None:
        monkeypatch.setattr(os, "fsync", failing(errno.ENOSPC))
    words = r"^cannot write a checkpoint to .*/monitor: No space left on device; free some space, or set"
    with pytest.raises(CheckpointError, match=words):
        folder.write(epoch, 2, LARGE)
    monkeypatch.undo()
    assert sorted(os.listdir(folder.path)) == ["checkpoint-1-1", "epoch-1"]
    assert folder.newest(dict).content == {"value": 1}
    folder.write(epoch, 3, {"value": 3})
    assert folder.newest(dict).content == {"value": 3}


def test_a_disk_that_became_read_only(disk, tmp_path, monkeypatch):
    folder = Folder(disk or tmp_path, "monitor")
    epoch = folder.claim()
    folder.write(epoch, 1, {"value": 1})
    if disk is None or not mount("-o", "remount,ro", str(disk)):
        monkeypatch.setattr(os, "open", failing(errno.EROFS))
    words = "Read-only file system; set checkpoint.directory to a folder that can be written$"
    with pytest.raises(CheckpointError, match=words):
        folder.write(epoch, 2, LARGE)
    with pytest.raises(CheckpointError, match=words):
        folder.claim()
    assert folder.newest(dict).content == {"value": 1}
    assert sorted(os.listdir(folder.path)) == ["checkpoint-1-1", "epoch-1"]


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EACCES])
@pytest.mark.parametrize("call", ["fsync", "open", "rename"])
def test_any_error_of_any_step(tmp_path, monkeypatch, call, code):
    folder = Folder(tmp_path, "monitor")
    folder.write(1, 1, {"value": 1})
    with monkeypatch.context() as patch:
        patch.setattr(os, call, failing(code))
        with pytest.raises(CheckpointError, match=f"{os.strerror(code)}; "):
            folder.write(1, 2, LARGE)
    assert os.listdir(folder.path) == ["checkpoint-1-1"]
    assert folder.newest(dict).content == {"value": 1}


def test_old_files_that_cannot_be_removed_do_no_harm(tmp_path, monkeypatch):
    folder = Folder(tmp_path, "monitor", keep=1)
    folder.write(1, 1, {"value": 1})
    with monkeypatch.context() as patch:
        patch.setattr(os, "unlink", failing(errno.EPERM))
        folder.write(1, 2, {"value": 2})
    assert folder.newest(dict).content == {"value": 2}
    folder.write(1, 3, {"value": 3})
    assert os.listdir(folder.path) == ["checkpoint-1-3"]


@pytest.mark.parametrize("place", ["state", "state/monitor"])
def test_a_file_in_place_of_the_folder(tmp_path, place):
    (tmp_path / place).parent.mkdir(exist_ok=True)
    (tmp_path / place).write_text("")
    folder = Folder(tmp_path / "state", "monitor")
    for step in [
        folder.claim,
        folder.files,
        lambda: folder.newest(dict),
        lambda: folder.is_highest(1),
        lambda: folder.write(1, 1, {}),
    ]:
        with pytest.raises(CheckpointError, match=r"; set checkpoint\.directory to a folder$"):
            step()


def test_a_claim_that_is_not_safe_on_disk_does_not_stand_in_the_way(tmp_path, monkeypatch):
    def broken(folder):
        raise OSError(errno.EIO, "broken")

    folder = Folder(tmp_path, "monitor")
    folder.path.mkdir()
    with monkeypatch.context() as patched:
        patched.setattr("monitor.checkpoint.folder.sync_folder", broken)
        for _ in range(2):
            with pytest.raises(CheckpointError):
                folder.claim()
    assert folder.highest() == 0
    assert folder.claim() == 1
