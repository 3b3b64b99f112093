"""What it costs to keep everything that is remembered, and to read it again.

Run as `python -m tests.benchmarks.checkpoint [DIRECTORY]`. Each figure is the least of a few passes, since
the machine may be shared; the file is written with fsync, and read while the system still has it in memory.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from monitor.checkpoint.folder import Folder
from monitor.clock import SystemClock
from monitor.config import Config
from monitor.daemon import collect_rarely
from monitor.memory.cut import cut
from monitor.memory.restore import restore
from monitor.pipeline import Pipeline
from tests.benchmarks.traffic import POLL, TOPIC, binary, configuration, events, polls

PASSES = 5
LARGE = [{"name": "last_250k", "events": 250_000}]


def with_regions(values: Iterator[bytes], count: int) -> Iterator[bytes]:
    """Give each event one of many segment values."""
    rng = random.Random(0)
    for value in values:
        event = json.loads(value)
        event["segments"] = {"region": f"region-{rng.randrange(count)}"}
        yield json.dumps(event).encode()


CASES: dict[str, tuple[Mapping[str, Any], Callable[[], Iterator[bytes]], int]] = {
    "1,000,000 held events, 4 versions": (
        {"fraud": binary(windows=LARGE, segments=["region"])},
        lambda: events(versions=4),
        1_000_000,
    ),
    "1000 versions of 20 events": (
        {"*": binary(segments=["region"])},
        lambda: events(models=100, versions=10),
        20_000,
    ),
    "500 configured models of 20 events": (
        {f"model-{n}": binary(segments=["region"]) for n in range(500)},
        lambda: events(models=500),
        10_000,
    ),
    "100 segment values, 4 versions": (
        {"fraud": binary(segments=["region"])},
        lambda: with_regions(events(versions=4), 100),
        200_000,
    ),
}


def main(directory: str) -> None:
    """Print a line for each case."""
    collect_rarely()
    for name, (models, source, count) in CASES.items():
        config = configuration(models)
        pipeline = Pipeline(config, [TOPIC], SystemClock())
        for batch in polls(source(), count, partitions=4):
            pipeline.apply(pipeline.decode([batch]))
            pipeline.advance(())
        assert pipeline.consumed[TOPIC] == count - count % POLL and not pipeline.rejected
        for waits in (True, False):
            figures = [_pass(pipeline, config, Folder(directory, "benchmark")) for _ in range(PASSES)]
            best = {what: min(f[what] for f in figures) for what in figures[0]}
            state = "as it is" if waits else "all settled"
            print(
                f"{name}, {state}: cut {best['cut'] * 1e3:.1f} ms, tree {best['tree']:.3f} s, write "
                f"{best['write']:.3f} s, read and restore {best['restore']:.3f} s, "
                f"{best['bytes'] / 1e6:.1f} MB",
                flush=True,
            )
            for view in pipeline.state.view().versions:
                pipeline.state.adopt(view, view.settle(pipeline.state.clocks.watermark or 0))


def _pass(pipeline: Pipeline, config: Config, folder: Folder) -> dict[str, float]:
    """Return seconds of each step, and bytes."""
    epoch = folder.claim()
    began = time.perf_counter()
    taken = cut(pipeline, {TOPIC: None})
    cut_at = time.perf_counter()
    tree = taken.tree()
    tree_at = time.perf_counter()
    size = folder.write(epoch, 1, tree)
    written_at = time.perf_counter()
    found = folder.newest(lambda tree: restore(tree, config, SystemClock()))
    read_at = time.perf_counter()
    assert found is not None and found.content is not None and not found.problems
    return {
        "cut": cut_at - began,
        "tree": tree_at - cut_at,
        "write": written_at - tree_at,
        "restore": read_at - written_at,
        "bytes": size,
    }


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(sys.argv[1])
    else:
        with tempfile.TemporaryDirectory() as directory:
            main(directory)
