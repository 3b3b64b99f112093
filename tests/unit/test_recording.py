import math
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.pipeline import Snapshot
from monitor.recording import FIRST_RECORDS, LOOKS, Recording
from monitor.records import Partition, RecordBatch


class Counting:
    """A pipeline that notes how often it is evaluated."""

    def __init__(self):
        self.reports = []
        self.history = SimpleNamespace(add=self.reports.append)

    def snapshot(self):
        return Snapshot(None, {})

    def evaluate(self, _):
        return SimpleNamespace(report=len(self.reports))

    def adopt(self, _):
        pass


@given(st.lists(st.integers(1, 5 * FIRST_RECORDS), max_size=4))
def test_pieces_hold_every_record_once_and_say_who_has_further_ones(sizes):
    batches = [RecordBatch(Partition("file", i), list(range(size))) for i, size in enumerate(sizes)]
    joined = {batch.partition: [] for batch in batches}
    for piece, pending in Recording(Counting()).pieces(batches):
        for batch in piece:
            assert 0 < len(batch.records) <= FIRST_RECORDS
            joined[batch.partition] += batch.records
        left = {b.partition for b in batches if len(joined[b.partition]) < len(b.records)}
        assert pending == left
    assert joined == {batch.partition: list(batch.records) for batch in batches}


def test_looking_becomes_rarer_with_what_was_read():
    pipeline = Counting()
    recording = Recording(pipeline)
    records = 0
    while records < 1_000_000:
        [(piece, _)] = list(recording.pieces([RecordBatch(Partition("file", 0), [None] * FIRST_RECORDS)]))
        recording.look(len(piece[0].records))
        records += len(piece[0].records)
    # So many looks each at every 100, 200, … records.
    each = FIRST_RECORDS * LOOKS
    k = int(math.log2(records / each + 1))
    rest = (records - each * (2**k - 1)) / (FIRST_RECORDS * 2**k)
    assert len(pipeline.reports) == pytest.approx(k * LOOKS + rest, abs=2)
    assert len(pipeline.reports) < 400


def test_there_is_a_look_when_enough_was_read_and_none_before():
    pipeline = Counting()
    recording = Recording(pipeline)
    recording.look(FIRST_RECORDS - 1)
    assert pipeline.reports == []
    recording.look(1)
    assert len(pipeline.reports) == 1
