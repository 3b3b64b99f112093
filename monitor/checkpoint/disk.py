"""Files that are whole or not there, and folders that a loss of power does not forget."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path


def write_whole(descriptor: int, temporary: Path, target: Path, pieces: Iterable[bytes | memoryview]) -> int:
    """Write a file under another name, and give it its own once it is on disk; return its bytes.

    Parameters
    ----------
    descriptor
        Of the temporary file, open for writing; it is closed.
    temporary, target
        Both names, in one folder. Whoever calls syncs that folder.
    pieces
        What is written.
    """
    try:
        with os.fdopen(descriptor, "wb") as file:
            size = sum(map(file.write, pieces))
            file.flush()
            os.fsync(file.fileno())
        temporary.rename(target)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
    return size


def make_folder(folder: Path) -> None:
    """Make a folder that is for its owner alone, with those above it, where there is none."""
    if not folder.is_dir():
        folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        sync_folder(folder.parent)


def check_can_write(folder: Path) -> None:
    """Raise the OSError that a file in a folder would meet, which may yet have to be made; writes nothing."""
    folder = folder.absolute()
    there = next(path for path in (folder, *folder.parents) if path.exists())
    code = 0
    if not there.is_dir():
        code = errno.ENOTDIR
    elif not os.access(there, os.W_OK | os.X_OK):
        code = errno.EACCES
    if code:
        raise OSError(code, os.strerror(code))


def sync_folder(folder: Path) -> None:
    """Have the names in a folder survive a loss of power."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
