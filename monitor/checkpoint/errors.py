"""What can be wrong with checkpoints, each as one message with its remedy."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from monitor.errors import MonitorError


class CheckpointError(MonitorError):
    """A checkpoint cannot be written or read."""


class DamagedCheckpoint(CheckpointError):
    """The bytes are not those of a whole checkpoint."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"{name} is damaged: {reason}; remove it or put an intact copy in its place")


class NewerCheckpoint(CheckpointError):
    """The file has a format that only a later version reads."""


_REMEDIES = {
    errno.ENOSPC: "free some space, or set checkpoint.directory to a disk that has more",
    errno.EDQUOT: "raise the quota, or set checkpoint.directory to a disk that has more",
    errno.EACCES: "give the user that runs monitor the right to read and write there",
    errno.EPERM: "give the user that runs monitor the right to read and write there",
    errno.EROFS: "set checkpoint.directory to a folder that can be written",
    errno.ENOTDIR: "set checkpoint.directory to a folder",
    errno.EEXIST: "set checkpoint.directory to a folder",
    errno.ENOENT: "somebody removed it meanwhile: look who else uses checkpoint.directory",
    errno.ENAMETOOLONG: "choose a shorter kafka.group_id, which names the folder of its checkpoints",
}


@contextmanager
def explained(doing: str, path: Path) -> Iterator[None]:
    """Turn an error of the operating system into a CheckpointError.

    Parameters
    ----------
    doing
        What was tried, as it follows "cannot".
    path
        What it was tried on.

    Raises
    ------
    CheckpointError
        With the operating system's words and the remedy.
    """
    try:
        yield
    except OSError as e:
        code = e.errno or 0
        remedy = _REMEDIES.get(code, "check the disk and checkpoint.directory")
        raise CheckpointError(f"cannot {doing} {path}: {os.strerror(code)}; {remedy}") from e
