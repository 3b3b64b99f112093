"""What memory holds while millions of events flow: the process, an event held, cumulative state.

Run as `python -m tests.benchmarks.memory [MILLIONS]`. One model takes half of the events, 20 others in
two versions each the rest; all windows are full and everything is evaluated after each million.
"""

from __future__ import annotations

import ctypes
import itertools
import random
import resource
import sys
from collections.abc import Iterator

from monitor.clock import SystemClock
from monitor.pipeline import Pipeline
from tests.benchmarks.traffic import TOPIC, binary, configuration, events, polls

MILLION = 1_000_000


def mixed() -> Iterator[bytes]:
    """Yield events of one large model and of many small ones, in one event time."""
    rng = random.Random(1)
    one, many = events(), events(models=20, versions=2)
    while True:
        large = rng.random() < 0.5
        first, second = next(one), next(many)
        yield first if large else second


def main(millions: int) -> None:
    """Print one line a million, then what the state of each version takes."""
    segments = binary(segments=["region"])
    pipeline = Pipeline(configuration({"fraud": segments, "*": binary()}), [TOPIC], SystemClock())
    source = polls(mixed(), millions * MILLION, partitions=4)
    per_million = MILLION // 2000
    seen = 0
    print("events, resident MB, state MB, held events")
    while chunk := list(itertools.islice(source, 1)):
        pipeline.apply(pipeline.decode(chunk))
        pipeline.advance(())
        seen += 1
        if seen % per_million == 0:
            evaluation = pipeline.evaluate(pipeline.snapshot())
            pipeline.adopt(evaluation)
            held = sum(len(settled.held) for _, settled in evaluation.settled)
            del evaluation
            print(
                f"{seen // per_million}M {_resident():8.1f} {pipeline.state.nbytes() / 1e6:8.1f} {held:9,d}",
                flush=True,
            )
    print("bytes an event held; bytes of cumulative state for each segment value (one class has scores)")
    for view in pipeline.state.view().versions[:4]:
        version = view.settle(pipeline.state.clocks.watermark or 0)
        cumulative = version.histogram.nbytes() + version.counts.nbytes()
        print(
            f"{view.model} {view.version}: {version.held.nbytes() / len(version.held):.1f}; "
            f"{cumulative / len(version.histogram.shift):,.0f} ({len(version.histogram.shift)} rows)"
        )
    ctypes.CDLL(None).malloc_trim(0)
    print(f"resident once the allocator gave back what is free: {_resident():.1f} MB")
    print(f"largest ever {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3:.0f} MB")


def _resident() -> float:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 1e6


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
