"""What is remembered, under right checksums: it becomes a pipeline that works, or is refused as damaged."""

from __future__ import annotations

import json
from functools import cache
from random import Random

from monitor.checkpoint.errors import CheckpointError
from monitor.checkpoint.format import decode
from monitor.clock import ManualClock
from monitor.memory.restore import Past, restore
from monitor.records import RecordBatch
from tests.fuzz.checkpoints import ODD_IN_HEADER, TOKENS, opened, sealed
from tests.fuzz.mutation import changed_bytes, changed_tree
from tests.property.test_checkpoint_format import forged, whole
from tests.support.pasts import NOW, Traffic, configured, consume, settle, started, tree_of

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
    """Return a checkpoint of which some values, or some bits, are other than they were."""
    file = rng.choice(_files())
    if rng.random() < 0.7:
        header, arrays = opened(file)
        file = forged(json.dumps(changed_tree(rng, [header], ODD_IN_HEADER)).encode(), arrays)
    if rng.random() < 0.5:
        file = changed_bytes(rng, file, rng.choice(_files()), TOKENS)
    return file


@cache
def _files() -> list[bytes]:
    """Return checkpoints of a pipeline: of nothing, of waiting events, of settled ones, and of both."""
    pipeline, traffic = started(CONFIG), Traffic(0)
    files = [whole(tree_of(pipeline))]
    for _ in range(2):
        consume(pipeline, traffic.poll(12))
        pipeline.advance(())
        files.append(whole(tree_of(pipeline)))
        settle(pipeline)
        files.append(whole(tree_of(pipeline)))
    return files


@cache
def _later() -> list[RecordBatch]:
    """Return records behind those of every checkpoint."""
    traffic = Traffic(0)
    traffic.poll(24)
    return traffic.poll(8)
