"""What the history of reports costs: taking in one more, memory, and its share of a checkpoint.

Run as `python -m tests.benchmarks.history [MODELS]`. The reports are those of one evaluation, over again at
later times: what is measured does not depend on the values.
"""

from __future__ import annotations

import sys
import time
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace

from monitor.checkpoint.format import encode
from monitor.clock import SystemClock
from monitor.history.budget import nbytes
from monitor.memory.tracks import pack_tracks, unpack_tracks
from monitor.pipeline import Pipeline
from monitor.report import Report
from tests.benchmarks.traffic import TOPIC, binary, configuration, events, polls

MODELS = 1000
WINDOWS = [{"name": "last_20", "events": 20}, {"name": "last_10", "events": 10}]
ROUNDS = 200


def reports(first: Report) -> Iterator[Report]:
    """Yield the same report every ten seconds."""
    for n in range(ROUNDS):
        later = n * 10_000_000
        yield replace(
            first,
            evaluated_at=first.evaluated_at + later,
            windows=tuple(replace(w, end=w.end + later) for w in first.windows if w.end is not None),
        )


def main(models: int) -> None:
    """Print the figures."""
    pipeline = Pipeline(configuration({"*": binary(windows=WINDOWS)}), [TOPIC], SystemClock())
    for batch in polls(events(models=models), 30 * models, partitions=4):
        pipeline.apply(pipeline.decode([batch]))
        pipeline.advance(())
    report = pipeline.evaluate(pipeline.snapshot()).report
    history = pipeline.history
    seconds = []
    for each in reports(report):
        began = time.thread_time()
        history.add(each)
        seconds.append(time.thread_time() - began)
    timed = sorted(seconds[ROUNDS // 2 :])
    counted = sum(map(nbytes, history.tracks.values()))
    began = time.perf_counter()
    packed = pack_tracks(history.tracks.values())
    pack_seconds = time.perf_counter() - began
    size = sum(map(len, encode({"history": packed})))
    began = time.perf_counter()
    unpack_tracks(packed)
    unpack_seconds = time.perf_counter() - began
    tracemalloc.start()
    unpacked = unpack_tracks(packed)
    held = tracemalloc.get_traced_memory()[0]
    assert len(unpacked) == len(history.tracks)
    points = sum(len(track.times) for track in history.tracks.values()) // len(history.tracks)
    print(
        f"{len(history.tracks)} tracks of {points} points: one report "
        f"more median {timed[len(timed) // 2] * 1e3:.0f} ms of CPU, longest {timed[-1] * 1e3:.0f} ms; "
        f"{counted / 1e6:.1f} MB counted, {held / 1e6:.1f} MB traced; packing {pack_seconds * 1e3:.0f} ms, "
        f"unpacking {unpack_seconds * 1e3:.0f} ms, {size / 1e6:.1f} MB in a checkpoint"
    )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else MODELS)
