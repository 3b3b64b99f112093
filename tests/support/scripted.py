"""A live source that brings what a test says, one entry a poll, and then nothing."""

from __future__ import annotations

import threading
from collections.abc import Collection, Mapping, Sequence

from monitor.records import Partition, RecordBatch
from monitor.sources.base import Poll, TakeOver

PARTITION = Partition("t", 0)


class Scripted:
    """What the daemon sees of Kafka; `polls` may be added to while it runs.

    Attributes
    ----------
    behind
        Records that are still to be read beside those in `polls`.
    """

    def __init__(self, polls: Sequence[Poll] = ()) -> None:
        self.polls = list(polls)
        self.problem: str | None = None
        self.behind = 0
        self.offsets_lost = 0
        self.log_truncations = 0
        self.rebalances = 1
        self.topic_ids: Mapping[str, str | None] = {}
        self.take_over: TakeOver = lambda _: {}
        self.joined = False
        self.owned: frozenset[Partition] = frozenset()
        self.wanted = frozenset({PARTITION})
        self.offsets: dict[Partition, int] = {}
        self.committed: list[Mapping[Partition, int]] = []
        self.held: frozenset[Partition] = frozenset()
        self._waiting = 0
        self.closed = threading.Event()
        self.idle = threading.Event()

    def made(self, stop: threading.Event, take_over: TakeOver) -> Scripted:
        """Return this, as the daemon asks for its source."""
        self.take_over = take_over
        return self

    def poll(self, timeout: float) -> Poll:
        if missing := self.wanted - self.owned:
            self.offsets |= {p: 0 for p in missing} | dict(self.take_over(missing))
            self.owned, self.joined = self.wanted, True
        if self.polls:
            poll = self.polls.pop(0)
            for batch in poll.batches:
                self.offsets[batch.partition] = batch.records[-1].offset + 1
            self.owned -= poll.revoked
            self._waiting = sum(len(batch.records) for poll in self.polls for batch in poll.batches)
            return poll
        self.idle.set()
        self.closed.wait(0.01)
        return Poll()

    def bring(self, *batches: RecordBatch) -> None:
        """Have these polled, and wait until the next poll after them began."""
        self.idle.clear()
        self.polls += [Poll([batch]) for batch in batches]
        assert self.idle.wait(20)

    def assigned(self) -> frozenset[Partition]:
        return self.owned

    def lag(self) -> Mapping[Partition, int]:
        return dict.fromkeys(self.owned, self.behind + self._waiting)

    def hold(self, partitions: Collection[Partition]) -> None:
        self.held = frozenset(partitions)

    def positions(self) -> Mapping[Partition, int]:
        return {p: self.offsets[p] for p in self.owned}

    def commit(self, next_offsets: Mapping[Partition, int]) -> bool:
        self.committed.append(dict(next_offsets))
        return True

    def close(self) -> None:
        self.closed.set()
