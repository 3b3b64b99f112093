"""Looks for inputs that break monitor: ``python -m tests.fuzz --seconds 300``.

Prints executions per second of each target and, for a crash, the smallest input that reproduces it; the
exit status is then 1. ``--input`` runs one input again.
"""

from __future__ import annotations

import argparse
import base64
import random
import resource
import signal
import sys
import time
import traceback
from types import FrameType

from tests.fuzz.targets import TARGETS, smallest

LONGEST_SECONDS = 20
MOST_MEMORY = 8 << 30
"""Bounds of one input: what takes more is a crash."""


def main() -> int:
    """Run the targets one after the other."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--seconds", type=float, default=300, help="for all targets together")
    parser.add_argument("--seed", type=int, default=random.randrange(2**31), help="the same inputs again")
    parser.add_argument("--target", action="append", choices=sorted(TARGETS), help="only this; repeatable")
    parser.add_argument("--input", type=base64.b64decode, help="one input, as a crash prints it")
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
    signal.signal(signal.SIGALRM, _too_long)
    names = options.target or sorted(TARGETS)
    if options.input is not None:
        for name in names:
            TARGETS[name].run(options.input)
        return 0
    print(f"seed {options.seed}", flush=True)
    return max(_hunt(name, options.seconds / len(names), options.seed) for name in names)


def _hunt(name: str, seconds: float, seed: int) -> int:
    """Run one target until its time is over or it breaks; return 1 for a crash."""
    count = 0
    crash: tuple[bytes, Exception] | None = None
    inputs = TARGETS[name].inputs(seed)
    start = time.monotonic()
    while crash is None and time.monotonic() < start + seconds:
        data = next(inputs)
        count += 1
        try:
            _bounded(name, data)
        except Exception as error:
            crash = data, error
    rate = count / (time.monotonic() - start)
    print(f"{name:14} {count:8} executions {rate:8.0f}/s  {'CRASH' if crash else 'ok'}", flush=True)
    if crash is None:
        return 0
    data, error = crash
    traceback.print_exception(error, limit=-4, file=sys.stdout)
    if not isinstance(error, TimeoutError):
        data = smallest(lambda data: _bounded(name, data), data)
    print(f"again: python -m tests.fuzz --target {name} --input {base64.b64encode(data).decode()}")
    print(f"which is {data[:500]!r}", flush=True)
    return 1


def _bounded(name: str, data: bytes) -> None:
    signal.setitimer(signal.ITIMER_REAL, LONGEST_SECONDS)
    try:
        TARGETS[name].run(data)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _too_long(number: int, frame: FrameType | None) -> None:
    raise TimeoutError(f"more than {LONGEST_SECONDS} seconds")


if __name__ == "__main__":
    sys.exit(main())
