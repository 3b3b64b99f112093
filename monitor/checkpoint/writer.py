"""The thread that writes checkpoints, so that reading events never waits for a disk."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from monitor.checkpoint.folder import Folder
from monitor.checkpoint.tree import Tree
from monitor.clock import Clock, SystemClock
from monitor.errors import MonitorError

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Statistics:
    """What a writer did so far."""

    written: int = 0
    errors: int = 0
    bytes: int = 0
    """Size of the last checkpoint written."""
    seconds: float = 0.0
    """How long that took, fsync included."""
    timestamp: int | None = None
    """Wall-clock time at which it was done, in microseconds since the epoch."""


class _Cut(NamedTuple):
    sequence: int
    tree: Callable[[], Tree]
    tag: Any


class Writer:
    """Writes checkpoints in a thread of its own, one after the other.

    All methods are for one other thread and none but `flush` and `close` blocks.

    Parameters
    ----------
    folder
        Where to.
    epoch
        What `Folder.claim` gave. Once there is a higher one nothing is written any more.
    before
        Called with the tag, in the thread, before the file is written; where it raises, it isn't. For what
        must be safe before the offsets of a checkpoint are committed.
    clock
        For the statistics.

    Attributes
    ----------
    problem : str or None
        Why the last checkpoint was not written, with the remedy; None once one is.
    superseded : bool
        Somebody else is the owner now: the state is to be dropped, and nothing to be committed.
    statistics : Statistics
        Replaced as a whole, so that any thread may read it.
    """

    def __init__(
        self,
        folder: Folder,
        epoch: int,
        before: Callable[[Any], None] | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.problem: str | None = None
        self.superseded = False
        self.statistics = Statistics()
        self._folder = folder
        self._epoch = epoch
        self._before = before
        self._clock = clock or SystemClock()
        self._changed = threading.Condition()
        self._waiting: _Cut | None = None
        self._busy = False
        self._closing = False
        self._submitted = 0
        self._newest = 0
        self._done: list[tuple[int, Any]] = []
        self._thread = threading.Thread(target=self._run, name="checkpoint", daemon=True)
        self._thread.start()

    @property
    def alive(self) -> bool:
        """Whether checkpoints are still written."""
        return self._thread.is_alive() or self.superseded

    def submit(self, tree: Callable[[], Tree], tag: Any) -> int:
        """Have a checkpoint written as soon as the one in flight is; one that waits is replaced.

        One that fails is not tried again: the next submission is newer. Without effect once the writer is
        superseded.

        Parameters
        ----------
        tree
            Makes the tree (see `format.encode`), in the writer's thread: what it is made of may not change.
        tag
            Comes back from `done`; the offsets to commit.

        Returns
        -------
        int
            Its sequence number in this epoch.
        """
        with self._changed:
            if self._closing:
                raise RuntimeError("the writer of checkpoints is closed")
            self._submitted += 1
            if not self.superseded:
                self._waiting = _Cut(self._submitted, tree, tag)
                self._changed.notify_all()
            return self._submitted

    def done(self) -> list[tuple[int, Any]]:
        """Return sequence number and tag of what was written since the last call, oldest first."""
        with self._changed:
            done, self._done = self._done, []
            return done

    def flush(self, timeout: float) -> bool:
        """Wait for what has been submitted.

        Parameters
        ----------
        timeout
            Seconds.

        Returns
        -------
        bool
            True: the newest submission is on disk. False: not in time, or it failed, or somebody else is the
            owner.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._waiting is None and not self._busy, timeout)
            return self._newest == self._submitted

    def close(self, timeout: float) -> bool:
        """Write what waits, if there is time, and end the thread.

        A write that hangs on its disk cannot be interrupted; it does not keep the process from ending.

        Parameters
        ----------
        timeout
            Seconds.

        Returns
        -------
        bool
            Whether the thread has ended.
        """
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        self._thread.join(timeout)
        with self._changed:
            self._waiting = None
        return not self._thread.is_alive()

    def _run(self) -> None:
        while not self.superseded and (cut := self._take()):
            self._write(cut)
            del cut  # the next one would wait beside a state that is no longer needed
            with self._changed:
                self._busy = False
                if self.superseded:
                    self._waiting = None
                self._changed.notify_all()

    def _take(self) -> _Cut | None:
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._closing)
            cut, self._waiting = self._waiting, None
            self._busy = cut is not None
            return cut

    def _write(self, cut: _Cut) -> None:
        try:
            if self._is_superseded():
                return
            if self._before:
                self._before(cut.tag)
                if self._is_superseded():  # it may have taken long
                    return
            begin = self._clock.monotonic()
            size = self._folder.write(self._epoch, cut.sequence, cut.tree())
        except Exception as e:
            with suppress(MonitorError):
                if self._is_superseded():  # a successor removes what is being written
                    return
            if not isinstance(e, MonitorError):
                log.exception("a checkpoint could not be written")
            self.problem = str(e) if isinstance(e, MonitorError) else f"{type(e).__name__}: {e}"
            self.statistics = replace(self.statistics, errors=self.statistics.errors + 1)
            return
        self.problem = None
        self.statistics = Statistics(
            self.statistics.written + 1,
            self.statistics.errors,
            size,
            self._clock.monotonic() - begin,
            self._clock.now(),
        )
        with self._changed:
            self._newest = cut.sequence
            self._done.append((cut.sequence, cut.tag))

    def _is_superseded(self) -> bool:
        self.superseded = not self._folder.is_highest(self._epoch)
        return self.superseded
