"""Decoding and state update of canonical JSON on one core, beside two JSON parsers in the same run.

Run as `python -m tests.benchmarks.pipeline [EVENTS] [REPEATS]`. Of the repeats the fastest is printed: the
slower ones tell what else the machine did.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import msgspec

from monitor.clock import SystemClock
from monitor.pipeline import Pipeline
from tests.benchmarks.traffic import POLL, TOPIC, binary, configuration, events, polls

PEERS: dict[str, Callable[[bytes], Any]] = {"msgspec": msgspec.json.Decoder().decode, "json": json.loads}
"""Parsers that turn each message into a dict, and do nothing with it."""


def one_pass(segments: list[str], count: int) -> dict[str, float]:
    """Return the seconds that each step took for all events."""
    pipeline = Pipeline(configuration({"fraud": binary(segments=segments)}), [TOPIC], SystemClock())
    seconds: defaultdict[str, float] = defaultdict(float)
    for batch in polls(events(), count):
        began = time.perf_counter()
        decoded = pipeline.decode([batch])
        between = time.perf_counter()
        pipeline.apply(decoded)
        pipeline.advance(())
        ended = time.perf_counter()
        seconds["decode"] += between - began
        seconds["state"] += ended - between
        values = [record.value for record in batch.records]
        for name, parse in PEERS.items():
            began = time.perf_counter()
            for value in values:
                parse(value)
            seconds[name] += time.perf_counter() - began
    assert pipeline.consumed[TOPIC] == count and not pipeline.rejected
    return seconds | {"both": seconds["decode"] + seconds["state"]}


def main(count: int, repeats: int) -> None:
    """Print microseconds an event."""
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    count -= count % POLL
    size = len(next(events()))
    print(f"{count} events of {size} bytes, polls of {POLL}, one core, best of {repeats}; us an event")
    for segments in ([], ["region"]):
        passes = [one_pass(segments, count) for _ in range(repeats)]
        best = {name: 1e6 / count * min(p[name] for p in passes) for name in passes[0]}
        worst = 1e6 / count * max(p["both"] for p in passes)
        print(
            f"segments {segments!s:10}  decode {best['decode']:.2f} + state {best['state']:.2f} = "
            f"{best['both']:.2f} (slowest pass {worst:.2f}): {1e6 / best['both']:,.0f} events/s; "
            f"only parsing: msgspec {best['msgspec']:.2f}, json {best['json']:.2f}"
        )


if __name__ == "__main__":
    arguments = [int(a) for a in sys.argv[1:]]
    main(*(arguments + [1_000_000, 3][len(arguments) :]))
