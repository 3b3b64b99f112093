"""A daemon in this process, asked over HTTP as its users ask it."""

from __future__ import annotations

import json
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from monitor.config import load_config
from monitor.daemon import Daemon
from tests.support.brokers import Broker

CONFIGURATION = """
kafka:
  bootstrap_servers: ["{address}"]
  topics: [{topic}]
  group_id: {topic}
  start: earliest
  receive_message_max_bytes: 2147483647
{kafka}
models:
  fraud: {{task: binary, classes: [legit, fraud], positive_class: fraud, segments: [region],
          windows: [{{name: last_50, events: 50}}, {{name: 1h, duration: 1h}}]}}
  iris: {{task: multiclass, classes: [a, b, c]}}
events: {{max_skew: 1s}}
limits: {{event_bytes: 200kB}}
evaluation: {{every: 200ms}}
server: {{port: 0}}
"""


def configuration(broker: Broker, topic: str, **kafka: str) -> str:
    extra = "".join(f"  {key}: {value}\n" for key, value in kafka.items())
    return CONFIGURATION.format(address=broker.address, topic=topic, kafka=extra)


def event(i: int, **changes: object) -> bytes:
    fields = {
        "id": f"e{i}",
        "model": "fraud",
        "version": "1",
        "timestamp": 1_764_400_000 + i,
        "label": "fraud" if i % 4 == 0 else "legit",
        "score": (i % 10) / 10,
        "segments": {"region": "eu" if i % 2 else "us"},
    }
    return json.dumps({**fields, **changes}).encode()


class Running:
    """A daemon that serves."""

    def __init__(self, daemon: Daemon, thread: threading.Thread) -> None:
        self.daemon = daemon
        self.thread = thread

    def get(self, path: str, **headers: str) -> bytes:
        request = urllib.request.Request(f"http://127.0.0.1:{self.daemon.port}{path}", headers=headers)
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.read()

    def json(self, path: str) -> Any:
        return json.loads(self.get(path))

    def wait_until(self, condition: Callable[[], bool], seconds: float = 120) -> None:
        deadline = time.monotonic() + seconds
        while not condition():
            assert self.thread.is_alive(), "the daemon ended"
            assert time.monotonic() < deadline, f"not within {seconds} s; {self.daemon.status()}"
            time.sleep(0.05)

    def wait_for_records(self, records: int, seconds: float = 120) -> None:
        """Wait until so many records are consumed, none is left, and a report has them all."""
        self.wait_until(lambda: sum(self.daemon.status().events_consumed.values()) >= records, seconds)
        self.wait_until(lambda: not any(self.daemon.status().consumer_lag.values()), seconds)
        consumed_at = time.time_ns() // 1000
        self.wait_until(
            lambda: (report := self.daemon.report()) is not None and report.evaluated_at > consumed_at,
            seconds,
        )


@contextmanager
def running(configuration: str, folder: Path) -> Iterator[Running]:
    """Run a daemon with this monitor.yaml until the block is left; it must end by itself then.

    Its checkpoints go into a folder "state" beside the file.
    """
    path = folder / "monitor.yaml"
    path.write_text(configuration)
    daemon = Daemon(load_config(path, {"MONITOR__CHECKPOINT__DIRECTORY": str(folder / "state")}))
    failed: list[BaseException] = []

    def run() -> None:
        try:
            daemon.run()
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=run, name="daemon")
    thread.start()
    found = Running(daemon, thread)
    try:
        found.wait_until(lambda: daemon.port is not None, 20)
        yield found
    finally:
        daemon.stop()
        thread.join(30)
    assert not thread.is_alive(), "the daemon did not stop"
    if failed:
        raise failed[0]
