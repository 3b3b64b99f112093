"""Files of earlier versions: two minor versions back they must be read, with the numbers that they had."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from monitor.checkpoint.format import decode
from monitor.clock import ManualClock
from monitor.memory.restore import restore
from tests.support.old_checkpoints import FOLDER, config, numbers
from tests.support.pasts import NOW, Traffic, consume, restored

FOLDERS = sorted(FOLDER.iterdir())


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_an_old_checkpoint_has_the_numbers_that_it_had(folder: Path) -> None:
    past = restore(decode((folder / "checkpoint").read_bytes()), config(), ManualClock(NOW))
    assert past.changes == ()
    assert past.topic_ids == {"t": "an-id"}
    assert past.taken == NOW
    pipeline = past.pipeline
    pipeline.advance(())
    expected = json.loads((folder / "numbers.json").read_text())
    assert json.loads(json.dumps(numbers(pipeline))) == expected
    consume(pipeline, Traffic(9).poll(200))  # 120 of each partition were read
    assert pipeline.consumed.total() == expected["consumed"]["t"] + 2 * (200 - 120)
    assert restored(pipeline, config()).changes == ()
