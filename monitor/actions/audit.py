"""The audit log: every decision and what became of it, one JSON object a line, only ever appended to."""

from __future__ import annotations

import json
import logging
import os
import threading
from collections import deque
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from monitor.checkpoint.disk import make_folder, sync_folder

log = logging.getLogger(__name__)

MAX_WAITING = 10_000
RETRY_EVERY = 5.0


class Audit:
    """Appends to a file in a thread of its own, so that nobody waits for a disk.

    The file is opened anew each time: whoever rotates logs may move it away.

    Parameters
    ----------
    path
        Of the file, made where there is none, for its owner alone; None: nothing is kept.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._waiting: deque[bytes] = deque()
        self._lost = 0
        self._error: str | None = None
        self._changed = threading.Condition()
        self._closing = False
        self._thread: threading.Thread | None = None  # from the first line on

    @property
    def alive(self) -> bool:
        """Whether what is added is still written."""
        return self._thread is None or self._thread.is_alive()

    @property
    def problem(self) -> str | None:
        """Why lines are not on disk, with the remedy; None while all are."""
        with self._changed:
            lost = f"; {self._lost} lines beyond {MAX_WAITING:,} were lost" if self._lost else ""
            return f"{self._error}{lost}" if self._error or lost else None

    def add(self, entry: Mapping[str, Any]) -> None:
        """Let a line be written; never waits."""
        if self._path is None:
            return
        line = json.dumps(entry, separators=(",", ":")).encode() + b"\n"
        with self._changed:
            if len(self._waiting) >= MAX_WAITING:
                self._lost += 1
                return
            self._waiting.append(line)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="audit", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def flush(self, timeout: float) -> bool:
        """Wait until everything added so far is on disk, for at most `timeout` seconds; return whether it is.

        Where the disk takes nothing this returns at once.
        """
        with self._changed:
            self._changed.wait_for(lambda: not self._waiting or self._error is not None, timeout)
            return not self._waiting

    def close(self, timeout: float = 2.0) -> None:
        """Write what waits, for at most `timeout` seconds."""
        self.flush(timeout)
        with self._changed:
            self._closing = True
            self._changed.notify_all()
            if self._waiting:
                log.error("%d lines of the audit log were not written: %s", len(self._waiting), self._error)
        if self._thread is not None:
            self._thread.join(timeout)

    def _run(self) -> None:
        assert self._path is not None
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._closing)
                if self._closing:
                    return
                lines = list(self._waiting)
            error = _append(self._path, b"".join(lines))
            with self._changed:
                if error is None:
                    for _ in lines:
                        self._waiting.popleft()
                elif self._error is None:
                    log.error("%s", error)
                self._error = error
                self._changed.notify_all()
                if error is not None:
                    self._changed.wait_for(lambda: self._closing, RETRY_EVERY)


def _append(path: Path, content: bytes) -> str | None:
    """Append whole lines that survive a loss of power; return what is wrong, None where nothing is."""
    try:
        make_folder(path.parent)
        new = not path.exists()
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            size = os.fstat(descriptor).st_size
            if size and os.pread(descriptor, 1, size - 1) != b"\n":
                content = b"\n" + content  # a line that a crash or a full disk cut off stays alone
            while content:
                content = content[os.write(descriptor, content) :]
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        if new:
            sync_folder(path.parent)
    except OSError as error:
        return (
            f"the audit log {path} cannot be written: {error.strerror}; make room, or set actions.audit_file"
        )
    return None
