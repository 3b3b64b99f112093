"""Decoding and state update of canonical JSON on one core, beside two JSON parsers in the same run.

Run as `python -m tests.benchmarks.pipeline [EVENTS] [PASSES]`. The machine may be shared: a poll counts
with its fastest pass, and the fastest and the slowest whole pass are printed beside it.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from monitor.clock import SystemClock
from monitor.daemon import collect_rarely
from monitor.pipeline import Pipeline
from tests.benchmarks.traffic import POLL, TOPIC, binary, configuration, events, polls

PEERS: dict[str, Callable[[bytes], Any]] = {"msgspec": msgspec.json.Decoder().decode, "json": json.loads}
"""Parsers that turn each message into a dict, and do nothing with it."""

CASES: dict[str, tuple[Mapping[str, Any], int]] = {
    "no segments": ({"fraud": binary()}, 1),
    "one segment key": ({"fraud": binary(segments=["region"])}, 1),
    "20 models, one key": ({"*": binary(segments=["region"])}, 20),
}


def one_pass(models: Mapping[str, Any], values: list[bytes]) -> dict[str, list[float]]:
    """Return the microseconds an event of each step, poll by poll."""
    pipeline = Pipeline(configuration(models), [TOPIC], SystemClock())
    steps: defaultdict[str, list[float]] = defaultdict(list)

    def note(name: str, began: float) -> float:
        now = time.perf_counter()
        steps[name].append((now - began) / POLL * 1e6)
        return now

    for number, batch in enumerate(polls(iter(values), len(values))):
        began = time.perf_counter()
        decoded = pipeline.decode([batch])
        between = note("decode", began)
        pipeline.apply(decoded)
        pipeline.advance(())
        note("state", between)
        note("both", began)
        for name, parse in PEERS.items() if number % 10 == 0 else ():
            began = time.perf_counter()
            for record in batch.records:
                parse(record.value)
            note(name, began)
    assert pipeline.consumed[TOPIC] == len(values) and not pipeline.rejected
    return steps


def main(count: int, passes: int) -> None:
    """Print microseconds an event."""
    collect_rarely()
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    for name, (models, names) in CASES.items():
        source = events(models=names)
        values = [next(source) for _ in range(count - count % POLL)]
        runs = [one_pass(models, values) for _ in range(passes)]
        quiet = {
            step: _mean([min(same) for same in zip(*(r[step] for r in runs), strict=True)])
            for step in runs[0]
        }
        whole = [_mean(run["both"]) for run in runs]
        print(
            f"{name:18s} decode {quiet['decode']:.2f} + state {quiet['state']:.2f} = {quiet['both']:.2f} us "
            f"an event, {1e6 / quiet['both']:,.0f} events/s (passes {min(whole):.2f} to {max(whole):.2f}); "
            f"only parsing: msgspec {quiet['msgspec']:.2f}, json {quiet['json']:.2f}; {len(values[0])} bytes"
        )


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)


if __name__ == "__main__":
    arguments = [int(a) for a in sys.argv[1:]]
    main(*(arguments + [1_000_000, 6][len(arguments) :]))
