"""Child processes that always end with the demo."""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from monitor.errors import MonitorError

STOP_SECONDS = 10.0
_LOOK_SECONDS = 0.05
_SHOWN_LINES = 8

T = TypeVar("T")


class InterruptedByUser(MonitorError):
    """The user asked the demo to end before it had started."""


@dataclass(frozen=True)
class Child:
    """A running process whose output goes to a file.

    Attributes
    ----------
    name
        What it is called in messages.
    """

    name: str
    process: subprocess.Popen[bytes]
    log: Path

    def check(self) -> None:
        """Raise a MonitorError, with the end of its output, if the process has ended."""
        if self.process.poll() is not None:
            raise self._failure(f"ended with status {self.process.returncode}")

    def wait_until(self, answer: Callable[[], T | None], seconds: float, stop: threading.Event) -> T:
        """Return the first answer that is not None.

        Raises
        ------
        MonitorError
            If the process ends first, there is none within `seconds`, or `stop` is set.
        """
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            self.check()
            if (found := answer()) is not None:
                return found
            if stop.wait(_LOOK_SECONDS):
                raise InterruptedByUser("stopped before the demo had started")
        raise self._failure(f"did not answer within {seconds:g} s")

    def _failure(self, what: str) -> MonitorError:
        lines = self.log.read_text(errors="replace").splitlines()[-_SHOWN_LINES:]
        return MonitorError(
            "\n  ".join([f"{self.name} {what}; the end of its output:", *(lines or ["(none)"])])
        )


@contextmanager
def child(name: str, command: Sequence[str], log: Path, env: dict[str, str] | None = None) -> Iterator[Child]:
    """Run a command while the block runs.

    In a session of its own, so that Ctrl-C reaches the demo alone and everything ends in order.

    Raises
    ------
    MonitorError
        If it cannot be started.
    """
    with log.open("wb") as output:
        try:
            process = subprocess.Popen(  # noqa: S603 - our own commands
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=env,
                start_new_session=True,
            )
        except OSError as error:
            raise MonitorError(f"{name} cannot be started ({error}); does {command[0]} run here?") from None
    try:
        yield Child(name, process, log)
    finally:
        process.terminate()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
