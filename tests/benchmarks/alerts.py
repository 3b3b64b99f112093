"""What following alerts costs beside decoding and state, for a stream of one model on one core.

Run as `python -m tests.benchmarks.alerts [EVENTS] [PASSES]`. Each poll counts with its fastest pass, and the
figures of all cases come from the same run, in turn.
"""

from __future__ import annotations

import os
import sys
import time
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from monitor.alerting import Present
from monitor.clock import SystemClock
from monitor.daemon import collect_rarely
from monitor.deciding import Deciding
from monitor.pipeline import Pipeline
from tests.benchmarks.traffic import POLL, TOPIC, binary, configuration, events, polls

RULES: Mapping[str, Mapping[str, Any]] = {
    "no rule": {},
    "recall": {"Recall": {"model": "fraud", "metric": "recall", "floor": 0.01}},
    "accuracy": {"Accuracy": {"model": "fraud", "metric": "accuracy", "floor": 0.01}},
    "calibration": {"Calibration": {"model": "fraud", "detector": "calibration"}},
    "interval": {"Auc": {"model": "fraud", "metric": "roc_auc", "floor": 0.01, "condition": "interval"}},
}


def one_pass(rules: Mapping[str, Any], values: list[bytes]) -> dict[str, list[float]]:
    """Return the microseconds an event of decoding and state, and of deciding, poll by poll."""
    config = configuration({"fraud": binary()}, events={"allowed_lateness": "1s"}, alerts={"rules": rules})
    pipeline = Pipeline(config, [TOPIC], SystemClock())
    deciding = Deciding(pipeline)
    steps: defaultdict[str, list[float]] = defaultdict(list)
    for batch in polls(iter(values), len(values)):
        began = time.perf_counter()
        pipeline.apply(pipeline.decode([batch]))
        pipeline.advance(())
        between = time.perf_counter()
        deciding.turn(Present())
        steps["state"].append((between - began) / POLL * 1e6)
        steps["alerts"].append((time.perf_counter() - between) / POLL * 1e6)
    assert pipeline.consumed[TOPIC] == len(values) and not pipeline.rejected
    return steps


def main(count: int, passes: int) -> None:
    """Print microseconds an event."""
    collect_rarely()
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    source = events()
    values = [next(source) for _ in range(count - count % POLL)]
    runs = [{name: one_pass(rules, values) for name, rules in RULES.items()} for _ in range(passes)]
    for name in RULES:
        quiet = {
            step: sum(map(min, zip(*(run[name][step] for run in runs), strict=True))) / (len(values) / POLL)
            for step in ("state", "alerts")
        }
        print(
            f"{name:12s} decode and state {quiet['state']:.2f} us an event, alerts {quiet['alerts']:.2f} us, "
            f"{quiet['alerts'] / quiet['state']:.2f} of it; {1e6 / sum(quiet.values()):,.0f} events/s"
        )


if __name__ == "__main__":
    arguments = [int(a) for a in sys.argv[1:]]
    main(*(arguments + [300_000, 3][len(arguments) :]))
