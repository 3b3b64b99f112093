"""The folder of a group: who owns it, and the files of its checkpoints.

The owner is who claimed the highest epoch. One that lost it without knowing (stopped, cut off) may still
write: its file has a lower epoch and stands behind those of its successor. Nothing here waits for another
process.

A crash leaves, by where it happens in `Folder.write`:

1. temporary file begun, or whole but not yet synced: the previous checkpoint; the rest is pruned later
2. renamed, folder not yet synced: after a loss of power either one, both whole
3. folder synced: the new checkpoint; old files are pruned at the next write
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from monitor.checkpoint import names
from monitor.checkpoint.disk import check_can_write, make_folder, sync_folder, write_whole
from monitor.checkpoint.errors import CheckpointError, explained
from monitor.checkpoint.format import decode, encode, verify
from monitor.checkpoint.names import Listing, Stamp
from monitor.checkpoint.tree import Tree

_ATTEMPTS = 100


Content = TypeVar("Content")


@dataclass(frozen=True)
class Restored(Generic[Content]):
    """What was found of the past: at least one file."""

    path: Path | None
    """File that `content` comes from; None where none of the files can be read."""
    content: Content | None
    problems: tuple[str, ...] = ()
    """What is wrong with each newer file, and the remedy; newest first."""

    @property
    def refusal(self) -> str | None:
        """Where nothing could be read: what to tell the user instead of starting from nothing."""
        if self.content is not None:
            return None
        reasons = "; ".join(self.problems)
        return (
            "there are checkpoints, but none can be restored, and to start without would forget the past: "
            f"{reasons}. To start afresh, move these files away"
        )


class Folder:
    """Checkpoints of one consumer group.

    Parameters
    ----------
    directory
        Where the folder of the group is, or will be once an epoch is claimed.
    group_id
        Any text; see `names.folder_name`.
    keep
        Good checkpoints that are kept.
    """

    def __init__(self, directory: str | Path, group_id: str, keep: int = 2) -> None:
        self.path = Path(directory) / names.folder_name(group_id)
        self._keep = keep
        self._good: dict[Stamp, bool] = {}
        """What is known of files; they never change once they have their name."""

    def claim(self) -> int:
        """Become the owner.

        Returns
        -------
        int
            An epoch that is higher than any before and that no other process has.

        Raises
        ------
        CheckpointError
            The folder cannot be made or written, or others claim it all the time.
        """
        with explained("claim", self.path):
            make_folder(self.path)
            epoch = 0
            for _ in range(_ATTEMPTS):
                # Counting up by itself, since what a network file system lists may be old.
                epoch = max(epoch, self._list().highest) + 1
                with suppress(FileExistsError):
                    os.close(_create(self.path / names.marker(epoch), os.O_EXCL))
                    # Who hung since listing may have created one again that was pruned meanwhile.
                    if self._list().highest <= epoch:
                        self._keep_claim(epoch)
                        return epoch
        raise CheckpointError(
            f"cannot claim {self.path}: other processes keep doing so; run fewer with one kafka.group_id"
        )

    def _keep_claim(self, epoch: int) -> None:
        """Have a claim survive a loss of power; one that may not is taken back, lest it stand in our way."""
        try:
            sync_folder(self.path)
        except OSError:
            self._remove(names.marker(epoch))
            raise

    def check(self) -> None:
        """Look whether checkpoints can be written here, as far as that can be told without writing.

        Raises
        ------
        CheckpointError
            They cannot.
        """
        with explained("write to", self.path):
            check_can_write(self.path)

    def is_highest(self, epoch: int) -> bool:
        """Tell whether the one with this epoch is still the owner: nobody has a higher one.

        Raises
        ------
        CheckpointError
            The folder cannot be read.
        """
        return self.highest() <= epoch

    def highest(self) -> int:
        """Return the highest epoch that was ever claimed, 0 for none.

        Raises
        ------
        CheckpointError
            The folder cannot be read.
        """
        with explained("read", self.path):
            return self._list().highest

    def files(self) -> list[Path]:
        """List the checkpoints, newest first; good or not.

        Raises
        ------
        CheckpointError
            The folder cannot be read.
        """
        with explained("read", self.path):
            return [self.path / stamp.name for stamp in self._list().checkpoints]

    def newest(self, understand: Callable[[Tree], Content]) -> Restored[Content] | None:
        """Read the newest checkpoint that is good.

        Parameters
        ----------
        understand
            Makes of a tree what is wanted; where it raises a `CheckpointError`, the file is no good.

        Returns
        -------
        Restored or None
            None: there is no checkpoint at all. Where there are but none is good, the result has no content;
            the caller must refuse to start from nothing.

        Raises
        ------
        CheckpointError
            The folder cannot be read.
        """
        for _ in range(_ATTEMPTS):
            problems: list[str] = []
            for path in self.files():
                try:
                    return Restored(path, understand(_read(path)), tuple(problems))
                except CheckpointError as problem:
                    if isinstance(problem.__cause__, FileNotFoundError):
                        break  # its owner pruned it since it was listed, so there are newer ones
                    problems.append(str(problem))
            else:
                return Restored(None, None, tuple(problems)) if problems else None
        raise CheckpointError(
            f"cannot read {self.path}: its files vanish all the time; is one monitor too many?"
        )

    def write(self, epoch: int, sequence: int, tree: Tree) -> int:
        """Write a checkpoint, then prune.

        Pruned is what is older than the newest `keep` good files, what an interrupted write left, and all
        claims but the highest. Only one thread may write under one epoch.

        Parameters
        ----------
        epoch
            What `claim` gave. Whether it is still the highest is for the caller to ask before.
        sequence
            Greater than any before in this epoch.
        tree
            See `format.encode`.

        Returns
        -------
        int
            Bytes written.

        Raises
        ------
        CheckpointError
            The tree cannot be written, or the disk cannot take it. Earlier checkpoints are as they were.
        """
        stamp = Stamp(epoch, sequence)
        pieces = encode(tree)
        with explained("write a checkpoint to", self.path):
            make_folder(self.path)
            size = self._store(stamp, pieces)
        self._good[stamp] = True
        self._prune(epoch)
        return size

    def _store(self, stamp: Stamp, pieces: Iterable[bytes | memoryview]) -> int:
        temporary = self.path / stamp.temporary
        size = write_whole(_create(temporary, os.O_TRUNC), temporary, self.path / stamp.name, pieces)
        sync_folder(self.path)
        return size

    def _prune(self, epoch: int) -> None:
        # What cannot be removed now will be at the next write; the checkpoint itself is safe.
        with suppress(OSError):
            found = self._list()
            good = 0
            for stamp in found.checkpoints:
                if good >= self._keep:
                    self._remove(stamp.name)
                    self._good.pop(stamp, None)
                else:
                    good += self._is_good(stamp)
            for stamp in found.temporaries:
                if stamp.epoch <= epoch:
                    self._remove(stamp.temporary)
            for claimed in found.markers:
                if claimed < max(found.markers):
                    self._remove(names.marker(claimed))

    def _remove(self, name: str) -> None:
        with suppress(OSError):
            (self.path / name).unlink()

    def _is_good(self, stamp: Stamp) -> bool:
        """Tell whether a file is whole and can be read, looking into it only if nothing is known of it."""
        if stamp not in self._good:
            try:
                with (self.path / stamp.name).open("rb") as file:
                    verify(file)
                self._good[stamp] = True
            except (CheckpointError, OSError):
                self._good[stamp] = False
        return self._good[stamp]

    def _list(self) -> Listing:
        try:
            with os.scandir(self.path) as entries:
                return names.listing(e.name for e in entries if e.is_file(follow_symlinks=False))
        except FileNotFoundError:
            return names.listing([])


def _read(path: Path) -> Tree:
    with explained("read", path), path.open("rb") as file:
        return decode(file, str(path))


def _create(path: Path, flags: int) -> int:
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | flags, 0o600)
