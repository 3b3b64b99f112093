"""A daemon with alerts and actions on a scripted source: what a test brings, and what becomes of it."""

from __future__ import annotations

import json
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from monitor.config import load_config
from monitor.daemon import Daemon
from monitor.records import RecordBatch
from tests.support.daemons import Running
from tests.support.receivers import Receiver
from tests.support.records import raw
from tests.support.scripted import PARTITION, Scripted

START = 1_764_400_000_000_000
TOKEN = "act-token"
SECRET = "hook-secret"

Options = Mapping[str, Any]


def configuration(
    hook: Receiver,
    rules: Options,
    *,
    models: Options | None = None,
    pager: Receiver | None = None,
    alerts: Options | None = None,
    actions: Options | None = None,
    **rollback: Any,
) -> dict[str, Any]:
    """Return a configuration, but for what depends on its folder.

    Parameters
    ----------
    hook
        Where the action `rollback` goes, with the further keywords as its options.
    rules
        Of alerts.
    models
        One binary model "fraud" by default.
    pager
        Alertmanager; None: Prometheus delivers.
    alerts, actions
        Further options of these sections.
    """
    delivery = {} if pager is None else {"deliver": "alertmanager", "alertmanager_urls": [pager.url]}
    return {
        "kafka": {"bootstrap_servers": ["localhost:9092"], "topics": ["t"], "group_id": "g"},
        "events": {"allowed_lateness": "0s"},
        "models": models or {"fraud": MODEL},
        "evaluation": {"every": "100ms", "device": "cpu"},
        "alerts": {"every": "10s", "rules": rules, **delivery, **(alerts or {})},
        "actions": {
            "rollback": {"type": "webhook", "url": f"{hook.url}/rollback", **rollback},
            **(actions or {}),
        },
    }


MODEL: Options = {
    "task": "binary",
    "classes": ["legit", "fraud"],
    "label_maturity": "0s",
    "windows": [{"name": "last_20", "events": 20}],
}


class RunningClock:
    """Runs like a real one from `START` on, and jumps when it is told to."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._ahead = 0.0

    def now(self) -> int:
        return START + round(self.monotonic() * 1e6)

    def monotonic(self) -> float:
        return time.monotonic() - self._began + self._ahead

    def advance(self, seconds: float) -> None:
        self._ahead += seconds


@dataclass
class Events:
    """Writes events of one partition, with times that only grow.

    Attributes
    ----------
    clock
        Of those who read them.
    time
        Event time of the last one, in microseconds.
    offset
        Of the next one.
    """

    clock: RunningClock
    time: int = 0
    offset: int = 0

    def batch(
        self, model: str, version: str, outcomes: str, over: float = 1.0, ago: float = 0
    ) -> RecordBatch:
        """Return one event for each character: `+` a fraud found, `-` one missed, `.` any other event.

        They lie evenly in the `over` seconds that ended `ago` seconds ago.
        """
        records, end = [], self.clock.now() - round(ago * 1e6)
        for i, outcome in enumerate(outcomes, 1):
            self.time = max(self.time + 1, end - round((1 - i / len(outcomes)) * over * 1e6))
            event = {
                "model": model,
                "version": version,
                "timestamp": self.time / 1e6,
                "label": "legit" if outcome == "." else "fraud",
                "score": 0.9 if outcome == "+" else 0.1,
            }
            records.append(raw(self.offset, json.dumps(event).encode(), self.time // 1_000))
            self.offset += 1
        return RecordBatch(PARTITION, records)


class Scene:
    """What a test sees of one daemon.

    Attributes
    ----------
    source, clock, events
        What it reads, its time, and what writes that.
    """

    def __init__(self, running: Running, source: Scripted, clock: RunningClock, events: Events) -> None:
        self.running = running
        self.daemon = running.daemon
        self.source = source
        self.clock = clock
        self.events = events

    def bring(self, model: str, version: str, outcomes: str, over: float = 11) -> None:
        """Let seconds pass in which events come; the windows of the time before are evaluated soon."""
        self.clock.advance(over)
        self.source.bring(self.events.batch(model, version, outcomes, over))
        self.turn(1)

    def caught_up(self) -> None:
        """Wait until old events are read and decided about."""
        self.wait_until(lambda: self.daemon._responding._catching_up.present.current)  # type: ignore[union-attr]

    def minute(self) -> None:
        """Let a minute pass, after which Alertmanagers are told again."""
        self.clock.advance(61)
        self.turn()
        self.daemon._notifier.notice()  # type: ignore[union-attr]

    def turn(self, turns: int = 2) -> None:
        """Have the loop turn, with a new look at everything."""
        for _ in range(turns):
            self.clock.advance(1.1)
            self.source.bring()

    def alerts(self, name: str | None = None, **labels: str) -> list[dict[str, Any]]:
        """Return the alerts with a name and with labels, as the API has them."""
        return [
            alert
            for alert in self.running.json("/api/v1/alerts")["alerts"]
            if name in (None, alert["alert"]) and labels.items() <= alert["labels"].items()
        ]

    def alert(self, name: str, **labels: str) -> dict[str, Any]:
        (found,) = self.alerts(name, **labels)
        return found

    def transitions(self, name: str | None = None) -> list[dict[str, Any]]:
        """Return the changes so far, oldest first."""
        found = reversed(self.running.json("/api/v1/alerts")["transitions"])
        return [each for each in found if name in (None, each["alert"])]

    def decisions(self) -> list[dict[str, Any]]:
        """Return the decisions so far, oldest first."""
        return list(reversed(self.running.json("/api/v1/actions")["decisions"]))

    def statuses(self) -> list[str]:
        return [each["status"] for each in self.decisions()]

    def decided(self, *statuses: str) -> None:
        """Wait until the decisions have these statuses, oldest first, while time passes."""
        try:
            self.wait_until(lambda: self.statuses() == list(statuses))
        except AssertionError:
            raise AssertionError(f"{self.statuses()} instead of {statuses}; {self.decisions()}") from None

    def wait_until(self, condition: Callable[[], bool], seconds: float = 20) -> None:
        """Wait for something, while time passes ten times as fast."""
        deadline = time.monotonic() + seconds
        while not condition():
            assert self.running.thread.is_alive(), "the daemon ended"
            assert time.monotonic() < deadline, f"not within {seconds} s"
            self.clock.advance(0.2)
            time.sleep(0.02)

    def series(self, family: str) -> dict[str, float]:
        """Return the exported series of a family by their labels as text."""
        found = {}
        for line in self.running.get("/metrics").decode().splitlines():
            name, _, rest = line.partition("{")
            if name == family:
                labels, _, value = rest.rpartition("} ")
                found[labels] = float(value)
        return found

    def states(self, **labels: str) -> list[int]:
        """Return what monitor_alert_state says of alerts with these labels."""
        wanted = [f'{name}="{value}"' for name, value in labels.items()]
        return [
            int(value)
            for found, value in self.series("monitor_alert_state").items()
            if all(each in found for each in wanted)
        ]

    def post(self, path: str, body: Mapping[str, Any] | None = None, method: str = "POST") -> tuple[int, Any]:
        """Act with the token; return the status and the object in the answer, None without one."""
        headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
        return self.ask(path, json.dumps(body or {}).encode() if method == "POST" else None, method, headers)

    def ask(self, path: str, body: bytes | None, method: str, headers: Mapping[str, str]) -> tuple[int, Any]:
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.daemon.port}{path}", body, dict(headers), method=method
        )
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                return answer.status, _object(answer.read())
        except urllib.error.HTTPError as error:
            with error:
                return error.code, _object(error.read())


def _object(body: bytes) -> Any:
    return json.loads(body) if body else None


def write(folder: Path, config: Options) -> Path:
    """Write a configuration with the files that it needs into a folder; return where it is."""
    (folder / "act.token").write_text(TOKEN)
    (folder / "hook.key").write_text(SECRET)
    actions = {
        name: {"secret_file": str(folder / "hook.key"), **action}
        if isinstance(action, dict) and action.get("type") == "webhook"
        else action
        for name, action in config.get("actions", {}).items()
    }
    whole = {
        **config,
        "actions": actions,
        "checkpoint": {"directory": str(folder / "state")},
        "server": {"port": 0, "act_token_file": str(folder / "act.token")},
    }
    path = folder / "monitor.yaml"
    path.write_text(json.dumps(whole))
    return path


@contextmanager
def playing(
    folder: Path,
    config: Options,
    *,
    source: Scripted | None = None,
    clock: RunningClock | None = None,
    events: Events | None = None,
) -> Iterator[Scene]:
    """Run a daemon with a configuration until the block is left; it must end by itself then.

    Parameters
    ----------
    config
        From `configuration`.
    source, clock, events
        New ones by default; a second daemon goes on with the events of the first.
    """
    source, clock = source or Scripted(), clock or RunningClock()
    daemon = Daemon(load_config(write(folder, config), {}), clock, source.made)
    failed: list[BaseException] = []

    def run() -> None:
        try:
            daemon.run()
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=run, name="daemon")
    thread.start()
    running = Running(daemon, thread)
    try:
        running.wait_until(lambda: daemon.status().ready, 20)
        yield Scene(running, source, clock, events or Events(clock))
    finally:
        daemon.stop()
        thread.join(30)
    assert not thread.is_alive(), "the daemon did not stop"
    if failed:
        raise failed[0]
