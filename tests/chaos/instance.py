"""A monitor in a process of its own: started, killed, paused, asked over HTTP, its log read."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from tests.support.commands import MONITOR
from tests.support.nursery import Child, Nursery

_OWN_SERIES = re.compile(r"^(monitor_\w+)(\{[^}]*\})? (\S+)$", re.MULTILINE)


class Line(NamedTuple):
    """One entry of the log."""

    time: float
    instance: str
    message: str
    fields: dict[str, Any]


class Instance:
    """One configuration file, run again and again.

    Parameters
    ----------
    name
        Names its files in `folder`.
    folder
        For the configuration and the log.
    configuration
        Text of monitor.yaml.
    port
        As in the configuration.
    children
        Where it is forked from, which saves the seconds of its imports; without one it is started anew.
    """

    def __init__(
        self, name: str, folder: Path, configuration: str, port: int, children: Nursery | None = None
    ) -> None:
        self.name = name
        self.port = port
        self.exits: list[int] = []
        self._path = folder / f"{name}.yaml"
        self._path.write_text(configuration)
        self._log = folder / f"{name}.log"
        self._children = children
        self._process: subprocess.Popen[bytes] | Child | None = None

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        arguments = ["run", "-c", str(self._path)]
        if self._children is not None:
            self._process = self._children.start(arguments, self._log)
            return
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [*MONITOR, *arguments], stdout=log, stderr=log, stdin=subprocess.DEVNULL
            )

    @property
    def alive(self) -> bool:
        """Whether it runs; notes how it ended where it did."""
        if self._process is None:
            return False
        if self._process.poll() is None:
            return True
        self._note()
        return False

    def kill(self) -> None:
        """End it as a loss of power does."""
        self._end(signal.SIGKILL)

    def stop(self) -> int:
        """Ask it to end; return its exit status."""
        return self._end(signal.SIGTERM)

    def pause(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def get(self, path: str, timeout: float = 5) -> tuple[int, str]:
        """Return status and body; status 0 where nobody answers."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=timeout) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()
        except OSError:
            return 0, ""

    def series(self, timeout: float = 5) -> dict[str, float]:
        """Return the daemon's own series, labels as they are written."""
        _, text = self.get("/metrics", timeout)
        return {name + (labels or ""): float(value) for name, labels, value in _OWN_SERIES.findall(text)}

    def owner(self, timeout: float = 5) -> bool:
        return self.series(timeout).get("monitor_owner") == 1

    def consumed(self) -> float:
        """Records that the state contains, by its own count."""
        series = self.series()
        return sum(value for name, value in series.items() if name.startswith("monitor_events_consumed"))

    def caught_up(self) -> bool:
        """Whether it owns partitions and has read them to their ends."""
        series = self.series()
        lags = [value for name, value in series.items() if name.startswith("monitor_consumer_lag")]
        return series.get("monitor_owner") == 1 and bool(lags) and not any(lags)

    def until(self, condition: Callable[[], bool], seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while not condition():
            assert self.alive, f"{self.name} ended with {self.exits[-1:]}: {self.tail()}"
            assert time.monotonic() < deadline, f"{self.name}: not within {seconds} s: {self.tail()}"
            time.sleep(0.05)

    def lines(self) -> Iterator[Line]:
        """Yield what it logged, in all its lives."""
        for text in self._log.read_text().splitlines() if self._log.exists() else ():
            if text.startswith("{"):
                entry = json.loads(text)
                time = datetime.fromisoformat(entry.pop("time")).timestamp()
                yield Line(time, self.name, entry.pop("message"), entry)

    def plain(self) -> list[str]:
        """Return what it wrote beside its log: messages of errors, and tracebacks, which may not be."""
        text = self._log.read_text() if self._log.exists() else ""
        return [line for line in text.splitlines() if not line.startswith("{")]

    def tail(self) -> str:
        return self._log.read_text()[-3000:] if self._log.exists() else ""

    def _end(self, number: signal.Signals) -> int:
        assert self._process is not None
        self._process.send_signal(number)
        try:
            self._process.wait(40)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            raise AssertionError(f"{self.name} does not end: {self.tail()}") from None
        return self._note()

    def _note(self) -> int:
        """Note the exit status of a process that has ended."""
        assert self._process is not None
        self.exits.append(self._process.returncode)
        self._process = None
        return self.exits[-1]
