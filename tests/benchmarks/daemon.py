"""A daemon at full speed with about 20,000 series: scrapes, probes, and how long polls wait meanwhile.

Run as `python -m tests.benchmarks.daemon [SECONDS] [MODELS]`. Records come from memory, one poll after the
other without a pause, so that the thread that polls never gives the interpreter away by itself.
"""

from __future__ import annotations

import itertools
import statistics
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator

from monitor.daemon import Daemon
from monitor.records import Partition, RecordBatch
from monitor.sources.base import Poll
from tests.benchmarks.traffic import POLL, TOPIC, binary, configuration, events
from tests.support.records import RECORD_MS, Raw
from tests.support.scripted import Scripted

PLACE = Partition(TOPIC, 0)


def endless(models: int) -> Iterator[RecordBatch]:
    """Yield polls without end: 100,000 events again and again, each time later."""
    source = events(models=models)
    before, after = zip(
        *(next(source).split(b"%.3f" % (RECORD_MS / 1000 + i / 1000)) for i in range(100_000)), strict=True
    )
    offset = 0
    while True:
        made = []
        for i in range(offset, offset + POLL):
            place, ms = i % len(before), RECORD_MS + i
            value = b"%b%d.%03d%b" % (before[place], ms // 1000, ms % 1000, after[place])
            made.append(Raw(i, ms, None, value, ()))
        offset += POLL
        yield RecordBatch(PLACE, made)


class FullSpeed(Scripted):
    """Always has records, and notes when it was asked for them."""

    def __init__(self, models: int) -> None:
        super().__init__()
        self.wanted = frozenset({PLACE})
        self.polled_at: list[float] = []
        self._batches = endless(models)

    def poll(self, timeout: float) -> Poll:
        self.polled_at.append(time.monotonic())
        self.polls = [Poll([next(self._batches)])]
        return super().poll(timeout)


class Watched(Daemon):
    """Notes when it evaluates."""

    def __init__(self, *arguments, **options) -> None:
        super().__init__(*arguments, **options)
        self.evaluations: list[tuple[float, float]] = []

    def _evaluate(self) -> None:
        began = time.monotonic()
        super()._evaluate()
        self.evaluations.append((began, time.monotonic()))


def main(seconds: float, models: int) -> None:
    """Let it run, ask meanwhile, and print how long things took."""
    with tempfile.TemporaryDirectory() as state:
        _watch(seconds, models, state)


def _watch(seconds: float, models: int, state: str) -> None:
    config = configuration(
        {"*": binary()},
        evaluation={"every": "10s"},
        checkpoint={"directory": state},
        server={"port": 0},
    )
    source = FullSpeed(models)
    daemon = Watched(config, source=source.made)
    thread = threading.Thread(target=daemon.run)
    thread.start()
    while len(daemon.evaluations) < 3:
        time.sleep(0.1)
    base = f"http://127.0.0.1:{daemon.port}"
    taken: dict[str, list[float]] = {"/metrics": [], "/livez": []}
    began = time.monotonic()
    while time.monotonic() < began + seconds:
        for path, times in taken.items():
            asked = time.perf_counter()
            _get(base + path)
            times.append(time.perf_counter() - asked)
            time.sleep(0.1)
    ended = time.monotonic()
    lines = _get(base + "/metrics").count(b"\nclassifier_")
    daemon.stop()
    thread.join(30)
    print(f"{models} models, {lines:,} series; evaluations take {_middle(daemon.evaluations):.1f} s")
    for path, times in taken.items():
        print(f"{path:18s} {_spread(times)}")
    polls = [t for t in source.polled_at if began <= t <= ended]
    during: list[float] = []
    between: list[float] = []
    for one, following in itertools.pairwise(polls):
        evaluating = any(a < following and one < b for a, b in daemon.evaluations)
        (during if evaluating else between).append(following - one)
    for name, gaps in {"during evaluations": during, "between them": between}.items():
        print(f"{name:18s} {_spread(gaps)} from poll to poll; {POLL * len(gaps) / sum(gaps):,.0f} events/s")


def _spread(times: list[float]) -> str:
    ordered = sorted(1e3 * t for t in times)
    middle, high = ordered[len(ordered) // 2], ordered[len(ordered) * 95 // 100]
    return f"median {middle:.0f} ms, 95% {high:.0f} ms, longest {ordered[-1]:.0f} ms ({len(ordered)})"


def _middle(spans: list[tuple[float, float]]) -> float:
    return statistics.median(end - start for start, end in spans)


def _get(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=60) as answer:
        return answer.read()


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 30, int(sys.argv[2]) if len(sys.argv) > 2 else 100)
