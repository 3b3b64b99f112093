"""Starting again with a million held events, and saving them while events flow.

python -m tests.benchmarks.restart [HELD]        1,000,000 by default; needs KAFKA_HOME

Times from the start of the process to /readyz 200, with the parts: the interpreter and what it imports,
joining the group as a static member, restoring. Then how long a checkpoint takes, and for how long no poll
can begin meanwhile, with records from memory that come without a pause.
"""

from __future__ import annotations

import itertools
import os
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

from kafka import KafkaProducer

from monitor.checkpoint.writer import Writer
from monitor.config import load_config
from monitor.daemon import Daemon
from monitor.records import RecordBatch
from monitor.sources.base import Poll
from monitor.tenure import Tenure
from tests.benchmarks.daemon import PLACE, endless
from tests.chaos import script
from tests.chaos.instance import Instance
from tests.support.brokers import Broker, free_ports
from tests.support.scripted import Scripted

MODELS = 4
ROUNDS = 3
SECONDS = 30
"""How long polls are watched."""

CONFIGURATION = """
kafka: {{bootstrap_servers: ["{address}"], topics: [predictions], group_id: restart, group_instance_id: only,
        start: earliest}}
models:
  "*": {{task: binary, classes: [legit, fraud], segments: [region],
        windows: [{{name: held, events: {each}}}]}}
limits: {{held_events: {each}}}
evaluation: {{every: {evaluation}}}
checkpoint: {{directory: "{directory}", every: {every}}}
server: {{port: {port}}}
logging: {{format: json, level: debug}}
"""


class Start(NamedTuple):
    """Seconds from the start of the process, by part."""

    total: float
    imports: float
    """Until HTTP is served."""
    join: float
    restore: float
    rest: float
    """Until the partitions have their positions, and the loop has turned once."""

    def __str__(self) -> str:
        return (
            f"ready after {self.total:.2f} s: {self.imports:.2f} interpreter, imports, HTTP; "
            f"{self.join:.2f} connecting and joining; {self.restore:.2f} restoring; "
            f"{self.rest:.2f} until read"
        )


def start(instance: Instance) -> Start:
    """Start the daemon, and wait until it is ready."""
    began, at = time.monotonic(), time.time()
    instance.start()
    while instance.get("/readyz")[0] != 200:
        assert instance.alive, instance.tail()
        time.sleep(0.01)
    total = time.monotonic() - began
    lines = {line.message: line for line in instance.lines() if line.time >= at}
    taken = lines["taking over"]
    restore = taken.fields["seconds"]
    imports = lines["serving"].time - at
    join = taken.time - restore - lines["serving"].time
    return Start(total, imports, join, restore, total - imports - join - restore)


def fill(broker: Broker, count: int) -> None:
    broker.create_topic("predictions")
    producer = KafkaProducer(bootstrap_servers=broker.address, linger_ms=20, batch_size=2**17)
    values = (record.value for batch in endless(MODELS) for record in batch.records)
    for value in itertools.islice(values, count):
        producer.send("predictions", value)
    producer.flush(60)
    producer.close(5)


def starts(broker: Broker, folder: Path, held: int) -> None:
    """Read all events, then start again and again, after good ends and after bad ones."""
    fill(broker, held + held // 50)  # models have not exactly as many events each
    (port,) = free_ports(1)
    where = {"address": broker.address, "directory": folder / "state", "port": port}
    text = CONFIGURATION.format(each=held // MODELS, evaluation="10s", every="5s", **where)
    instance = Instance("restart", folder, text, port)
    print(f"first start, nothing to restore: {start(instance)}")
    instance.until(instance.caught_up, 120)
    for name, end in {"SIGTERM": instance.stop, "SIGKILL": instance.kill}.items():
        found = []
        for _ in range(ROUNDS):
            time.sleep(6)  # a checkpoint is written
            end()
            found.append(start(instance))
        print(f"after {name}, median of {ROUNDS}: {Start(*map(statistics.median, zip(*found, strict=True)))}")
    instance.stop()
    lines = list(instance.lines())
    written = [line.fields for line in lines if line.message == "checkpoint written"][-5:]
    seconds = statistics.median(fields["seconds"] for fields in written)
    print(f"a checkpoint has {written[-1]['bytes'] / 1e6:.1f} MB and takes {seconds:.2f} s (median of 5)")


class Paced(Scripted):
    """Brings the held events, then further ones, and notes when it was asked."""

    def __init__(self, held: int) -> None:
        super().__init__()
        self.wanted = frozenset({PLACE})
        self.polled_at: list[float] = []
        self.filled = threading.Event()
        self._left = held
        self._batches: Iterator[RecordBatch] = endless(MODELS)

    def poll(self, timeout: float) -> Poll:
        self.polled_at.append(time.monotonic())
        if not self.owned:
            super().poll(timeout)
        batch = next(self._batches)
        self.offsets[PLACE] = batch.records[-1].offset + 1
        self._left -= len(batch.records)
        if self._left <= 0:
            self.filled.set()
        return Poll([batch])


Span = tuple[float, float]


@contextmanager
def noting(owner: Any, method: str) -> Iterator[list[Span]]:
    """Note from when to when a method runs."""
    inner = getattr(owner, method)
    spans: list[Span] = []

    def timed(*arguments: Any) -> Any:
        began = time.monotonic()
        try:
            return inner(*arguments)
        finally:
            spans.append((began, time.monotonic()))

    with patch.object(owner, method, timed):
        yield spans


def gaps(folder: Path, held: int, evaluation: str) -> None:
    """Print how long polls wait while checkpoints are written."""
    (port,) = free_ports(1)
    path = folder / f"gaps-{evaluation}.yaml"
    where = {"address": "localhost:9092", "directory": folder / f"gaps-{evaluation}", "port": port}
    path.write_text(CONFIGURATION.format(each=held // MODELS, evaluation=evaluation, every="3s", **where))
    source = Paced(held + held // 50)
    daemon = Daemon(load_config(path, {}), source=source.made)
    with (
        noting(Tenure, "_submit") as cuts,
        noting(Writer, "_write") as writes,
        noting(Daemon, "_evaluate") as evaluations,
    ):
        thread = threading.Thread(target=daemon.run)
        thread.start()
        source.filled.wait(300)
        began = time.monotonic()
        time.sleep(SECONDS)
        ended = time.monotonic()
        size = daemon.status().checkpoint_bytes / 1e6
        daemon.stop()
        thread.join(60)
    polls = [at for at in source.polled_at if began <= at <= ended]
    found: dict[str, list[float]] = {"during checkpoints": [], "during evaluations": [], "else": []}
    for at, following in itertools.pairwise(polls):
        if _meets(at, following, cuts + writes):
            kind = "during checkpoints"
        else:
            kind = "during evaluations" if _meets(at, following, evaluations) else "else"
        found[kind].append(1e3 * (following - at))
    print(f"evaluating every {evaluation}; milliseconds from poll to poll of 2000 records:")
    for kind, times in found.items():
        if times:
            print(f"  {kind}: median {statistics.median(times):.0f}, longest {max(times):.0f} ({len(times)})")
    for what, spans in {"the cut": cuts, "tree and file": writes}.items():
        seconds = [end - begin for begin, end in spans if began <= begin and end <= ended]
        middle, longest = statistics.median(seconds), max(seconds)
        print(f"  {what}: median {middle:.3f} s, longest {longest:.3f} ({len(seconds)})")
    print(f"  a checkpoint has {size:.1f} MB")


def _meets(begin: float, end: float, spans: list[Span]) -> bool:
    return any(first < end and begin < last for first, last in spans)


def main(held: int) -> None:
    """Print the figures, with the load of the machine, which they depend on."""
    print(f"{os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}")
    with script.broker() as (broker, folder):
        starts(broker, folder, held)
    with tempfile.TemporaryDirectory() as name:
        for evaluation in ("1h", "10s"):
            gaps(Path(name), held, evaluation)
    print(f"load at the end {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
