"""What is fuzzed: each target takes any bytes and raises for a bug alone."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from random import Random
from typing import NamedTuple

from tests.fuzz import checkpoints, configuration, decoder, http, pasts


class Target(NamedTuple):
    """A function that is to survive every input, and inputs that lead far into it."""

    run: Callable[[bytes], None]
    make_input: Callable[[Random], bytes]

    def inputs(self, seed: int) -> Iterator[bytes]:
        """Yield inputs without end; equal seeds give equal ones."""
        rng = Random(seed)
        while True:
            yield self.make_input(rng)


TARGETS = {
    "decoder": Target(decoder.fuzz_decoder, decoder.make_input),
    "configuration": Target(configuration.fuzz_configuration, configuration.make_input),
    "checkpoint": Target(checkpoints.fuzz_checkpoint, checkpoints.make_input),
    "past": Target(pasts.fuzz_past, pasts.make_input),
    "report": Target(pasts.fuzz_report, pasts.make_input),
    "http": Target(http.fuzz_http, http.make_input),
}


def smallest(run: Callable[[bytes], None], data: bytes, tries: int = 2000) -> bytes:
    """Leave out of an input what is not needed for it to break a target in the same place."""
    place = breaks(run, data)
    size = len(data)
    while size and tries > 0:
        begin = 0
        while begin < len(data) and tries > 0:
            shorter = data[:begin] + data[begin + size :]
            tries -= 1
            if breaks(run, shorter) == place:
                data = shorter
            else:
                begin += size
        size //= 2
    return data


def breaks(run: Callable[[bytes], None], data: bytes) -> str | None:
    """Return what kind of error an input raises and where, None if it raises none."""
    try:
        run(data)
    except Exception as error:
        *_, last = traceback.extract_tb(error.__traceback__)
        return f"{type(error).__name__} in {last.filename}:{last.lineno}"
    return None
