"""Looks at a pipeline now and then while files go through it, so that there is a past to show."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from monitor.evaluation import Wanted
from monitor.pipeline import Pipeline
from monitor.presets import RECORDED, families
from monitor.records import Partition, RecordBatch

FIRST_RECORDS = 100
"""Records between the first looks."""

_WANTED = Wanted(families(RECORDED), cumulative=True, segments=False)

LOOKS = 50
"""Looks after which the records between them double: looking at n records takes log n looks."""


class Recording:
    """Cuts what is read to pieces, and looks after each.

    Parameters
    ----------
    pipeline
        What the pieces go through.
    """

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline
        self._between = FIRST_RECORDS
        self._looks = 0
        self._since = 0

    def pieces(
        self, batches: Sequence[RecordBatch]
    ) -> Iterator[tuple[list[RecordBatch], frozenset[Partition]]]:
        """Yield so many records of each partition that it is time for a look, and who has further ones."""
        place = 0
        while left := [batch for batch in batches if len(batch.records) > place]:
            end = place + self._between
            pending = frozenset(batch.partition for batch in left if len(batch.records) > end)
            yield [RecordBatch(batch.partition, batch.records[place:end]) for batch in left], pending
            place = end

    def look(self, records: int) -> None:
        """Evaluate, if so many further records make it time to."""
        self._since += records
        if self._since < self._between:
            return
        pipeline = self._pipeline
        evaluation = pipeline.evaluate(replace(pipeline.snapshot(), wanted=_WANTED))
        pipeline.adopt(evaluation)
        pipeline.history.add(evaluation.report)
        self._since = 0
        self._looks += 1
        if self._looks % LOOKS == 0:
            self._between *= 2
