"""The command line, in this process for quick tests and in its own where signals and pipes matter."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from monitor import cli

MONITOR = [sys.executable, "-c", "from monitor.cli import main; main()"]
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True)
class Done:
    """What a command left."""

    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Commands:
    """Runs commands in this process; what they print is captured."""

    monkeypatch: pytest.MonkeyPatch
    capsys: pytest.CaptureFixture[str]

    def __call__(self, *arguments: object) -> Done:
        self.monkeypatch.setattr(sys, "argv", ["monitor", *map(str, arguments)])
        self.monkeypatch.setenv("COLUMNS", "200")
        self.capsys.readouterr()
        root = logging.getLogger()
        handlers, level = root.handlers[:], root.level
        signals = {number: signal.getsignal(number) for number in _SIGNALS}
        code: Any = 0
        try:
            cli.main()
        except SystemExit as ended:
            code = ended.code or 0
        finally:
            root.handlers[:] = handlers
            root.setLevel(level)
            logging.getLogger("monitor.actions").setLevel(logging.NOTSET)  # `monitor replay` raises it
            for number, handler in signals.items():
                signal.signal(number, handler)
        out, err = self.capsys.readouterr()
        assert "Traceback" not in out + err
        return Done(code, out, err)


@contextmanager
def started(*arguments: object, **environment: str) -> Iterator[subprocess.Popen[str]]:
    """Start a command in a process of its own, and end it when the block is left."""
    process = subprocess.Popen(
        [*MONITOR, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()
