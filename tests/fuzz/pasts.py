"""What is remembered, under right checksums: it becomes a pipeline that works, or is refused as damaged."""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from random import Random

import numpy as np

from monitor.checkpoint.errors import CheckpointError
from monitor.checkpoint.format import decode
from monitor.checkpoint.tree import Tree
from monitor.clock import ManualClock
from monitor.memory.restore import Past, restore
from monitor.records import RecordBatch
from tests.fuzz.checkpoints import TOKENS, sealed
from tests.fuzz.mutation import ODD, changed_bytes, changed_tree, places
from tests.property.test_checkpoint_format import whole
from tests.support.pasts import NOW, Traffic, configured, consume, evaluated, settle, started, tree_of

CONFIG = configured()


def fuzz_past(data: bytes) -> None:
    """Restore; what was restored goes on with new events, and can be remembered again."""
    past = _restored(sealed(data))
    if past is not None:
        consume(past.pipeline, _later())
        past.pipeline.advance(())
        settle(past.pipeline)
        assert _restored(whole(tree_of(past.pipeline))) is not None


def fuzz_report(data: bytes) -> None:
    """Restore; what was restored has a report. (This takes fifty times as long.)"""
    past = _restored(sealed(data))
    if past is not None:
        past.pipeline.evaluate(past.pipeline.snapshot())


def _restored(file: bytes) -> Past | None:
    try:
        return restore(decode(file), CONFIG, ManualClock(NOW))
    except CheckpointError:
        return None


def make_input(rng: Random) -> bytes:
    """Return a checkpoint of which some values, elements of arrays, or bits are other than they were."""
    file = rng.choice(_files())
    if rng.random() < 0.9:
        tree = changed_tree(rng, [decode(file)], ODD_IN_TREE)
        for _ in range(rng.randrange(4)):
            _change_element(rng, tree)
        with suppress(CheckpointError):  # some odd values cannot be written
            file = whole(tree)
    if rng.random() < 0.2:
        file = changed_bytes(rng, file, rng.choice(_files()), TOKENS)
    return file


def _change_element(rng: Random, tree: Tree) -> None:
    arrays = [holder[key] for holder, key in places(tree) if isinstance(holder[key], np.ndarray)]
    arrays = [array for array in arrays if array.size]
    if arrays:
        array = rng.choice(arrays)
        at = rng.randrange(array.size)
        if array.dtype.kind == "f":
            array.flat[at] = rng.choice([np.nan, np.inf, -np.inf, -1.0, -0.0, 0.5, 2.0])
        elif array.dtype.kind in "iu":
            limits = np.iinfo(array.dtype)
            near = np.clip(int(array.flat[at]) + rng.choice([-1, 1]), limits.min, limits.max)
            array.flat[at] = rng.choice([limits.min, limits.max, 0, 1, 2, near])
        else:
            array.flat[at] ^= True


ODD_IN_TREE = (
    *ODD,
    np.zeros(0),
    np.zeros((2, 2), np.int64),
    np.arange(5, dtype=np.int16),
    np.ones(3, np.bool_),
)


@cache
def _files() -> list[bytes]:
    """Return checkpoints of a pipeline: of nothing, of waiting events, of settled ones, and of both."""
    pipeline, traffic = started(CONFIG), Traffic(0)
    files = [whole(tree_of(pipeline))]
    for _ in range(2):
        consume(pipeline, traffic.poll(12))
        pipeline.advance(())
        files.append(whole(tree_of(pipeline)))
        evaluated(pipeline)
        settle(pipeline)
        files.append(whole(tree_of(pipeline)))
    return files


@cache
def _later() -> list[RecordBatch]:
    """Return records behind those of every checkpoint."""
    traffic = Traffic(0)
    traffic.poll(24)
    return traffic.poll(8)
