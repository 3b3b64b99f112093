"""Daemons that start at once: forked from a process that has imported everything."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.support.fleet import become

_SERVE = "from tests.support.nursery import serve; serve()"


class Child:
    """One of them, with what tests use of `subprocess.Popen`."""

    def __init__(self, nursery: Nursery, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._nursery = nursery

    def poll(self) -> int | None:
        if self.returncode is None:
            self.returncode = self._nursery.ask("poll", self.pid)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        deadline = time.monotonic() + (timeout or 60)
        while (code := self.poll()) is None:
            if time.monotonic() > deadline:
                raise subprocess.TimeoutExpired("monitor", timeout or 60)
            time.sleep(0.02)
        return code

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


class Nursery:
    """The process that they are forked from; for one thread."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", _SERVE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[2],
        )

    def start(self, arguments: list[str], log: Path) -> Child:
        """Run a command line; what it prints is appended to a file."""
        return Child(self, self.ask("start", arguments, str(log)))

    def ask(self, *question: Any) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps(question), file=self._process.stdin, flush=True)
        return json.loads(self._process.stdout.readline())

    def stop(self) -> None:
        self._process.communicate(timeout=20)


@contextmanager
def nursery() -> Iterator[Nursery]:
    """Run one until the block is left; children must have ended by then."""
    found = Nursery()
    try:
        yield found
    finally:
        found.stop()


def serve() -> None:
    """Answer questions, a line each, until there are no more."""
    import monitor.cli
    import monitor.daemon  # noqa: F401

    answers = {"start": _start, "poll": _poll}
    for line in sys.stdin:
        name, *arguments = json.loads(line)
        print(json.dumps(answers[name](*arguments)), flush=True)


def _poll(pid: int) -> int | None:
    ended, status = os.waitpid(pid, os.WNOHANG)
    return os.waitstatus_to_exitcode(status) if ended else None


def _start(arguments: list[str], log: str) -> int:
    pid = os.fork()
    if pid == 0:
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        become(arguments, {}, out=log, err=log)
    return pid
