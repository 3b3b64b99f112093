"""An instance's time as the owner: what it takes over, and how what it learns becomes safe.

The order of what has effects is written here alone; docs/reliability.md says what a crash at each point does:

1. take over: claim an epoch, then restore the newest checkpoint
2. cut (poll thread): offsets and state of one moment, as references to what never changes
3. write (writer's thread), if the epoch is still the highest: reports of retired versions, dead letters up to
   the cut, then the file
4. commit (poll thread, its next turn): the offsets of the cut that was written; the actions decided before it
   may be carried out
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Collection, Mapping
from typing import NamedTuple

from monitor.actions.desk import Desk
from monitor.archive import Archive
from monitor.checkpoint.errors import CheckpointError
from monitor.checkpoint.folder import Folder
from monitor.checkpoint.writer import Statistics, Writer
from monitor.clock import Clock
from monitor.config import Config
from monitor.errors import MonitorError
from monitor.logs import log_change
from monitor.memory.cut import cut
from monitor.pipeline import Pipeline, Snapshot
from monitor.records import Partition
from monitor.sources.base import LiveSource
from monitor.sources.dead_letters import DeadLetters
from monitor.sources.topics import other_topics

log = logging.getLogger(__name__)

COMMIT_SECONDS = 5.0
"""A fenced member learns it from a commit alone."""

LETTERS_SECONDS = 10.0
"""How long a checkpoint waits for the dead letters before it."""

FINISH_SECONDS = 10.0
"""How long the last checkpoint may take."""

HURRY_SECONDS = 1.0
"""Least time between checkpoints that decisions about actions wait for."""

WAITING_REPORTS = 1000
"""Reports of retired versions that wait for a disk which takes none."""


class Superseded(MonitorError):
    """Another instance owns the state now."""


class _Tag(NamedTuple):
    """What belongs to a cut beside its state."""

    next_offsets: Mapping[Partition, int]
    letters: int
    decisions: int


class Tenure:
    """One time as the owner, from `monitor.takeover` to `finish` or `abandon`; for the poll thread alone.

    Parameters
    ----------
    config, clock
        The configuration; time.
    folder
        Checkpoints of the group.
    pipeline
        What was restored, or a new one.
    epoch
        What was claimed; None where that failed, with `problem` saying why: it is tried again.
    topic_ids
        Id of each topic at the take-over.
    anew
        Topics that were recreated, to be read from their beginning.
    letters
        Where rejected records go, None where they go nowhere.
    desk
        What decides about actions, None where there are none.

    Attributes
    ----------
    pipeline
        The state, which belongs to this tenure.
    """

    def __init__(
        self,
        config: Config,
        clock: Clock,
        folder: Folder,
        pipeline: Pipeline,
        epoch: int | None,
        *,
        topic_ids: Mapping[str, str | None],
        anew: Collection[str] = (),
        letters: DeadLetters | None = None,
        desk: Desk | None = None,
        problem: str | None = None,
    ) -> None:
        self.pipeline = pipeline
        self._clock = clock
        self._folder = folder
        self._every = config.checkpoint.every.total_seconds()
        self._topic_ids = dict(topic_ids)
        self._anew = frozenset(anew)
        self._letters = letters
        self._desk = desk
        self._archive = Archive(folder.path)
        self._retired: deque[Snapshot] = deque()
        self._writer: Writer | None = None
        self._claim_problem = problem
        self._said: str | None = None
        self._claims_failed = 0 if problem is None else 1
        self._highest = 0 if epoch is not None else _highest(folder)
        self._saved: Mapping[Partition, int] = dict(pipeline.state.next_offsets)
        self._written = self._committed = clock.monotonic()
        self._due = self._submitted = self._written
        if epoch is not None:
            self._writer = Writer(folder, epoch, self._before, clock)

    @property
    def alive(self) -> bool:
        """Whether checkpoints can be written: False if the thread for it died."""
        return self._writer is None or self._writer.alive

    @property
    def problem(self) -> str | None:
        """Why the last checkpoint was not written, with the remedy; None where it was."""
        return self._claim_problem if self._writer is None else self._writer.problem

    @property
    def errors(self) -> int:
        """Checkpoints that could not be written."""
        return self._claims_failed + self.statistics.errors

    @property
    def age(self) -> float:
        """Seconds since a checkpoint was last written, or since this tenure began."""
        return self._clock.monotonic() - self._written

    @property
    def statistics(self) -> Statistics:
        """What was written in this tenure."""
        return Statistics() if self._writer is None else self._writer.statistics

    def is_of_other_topics(self, topic_ids: Mapping[str, str | None]) -> bool:
        """Whether a topic is another one than at the take-over."""
        return bool(other_topics(self._topic_ids, topic_ids))

    def known(self, partitions: Collection[Partition]) -> dict[Partition, int]:
        """Return the next offsets of those of the partitions of which something is remembered."""
        beginnings = {partition: 0 for partition in partitions if partition.topic in self._anew}
        offsets = self.pipeline.state.next_offsets
        return beginnings | {p: offsets[p] for p in partitions if p in offsets}

    def retire(self, snapshot: Snapshot) -> None:
        """Keep the last reports of versions; they are written with the next checkpoint."""
        if len(self._retired) == WAITING_REPORTS:
            log.warning("the last report of a retired version is given up: checkpoints cannot be written")
            self._retired.popleft()
        self._retired.append(snapshot)

    def step(self, source: LiveSource, lock: threading.Lock) -> None:
        """Commit what was written, and have the next checkpoint written if it is due.

        Raises
        ------
        Superseded, SourceError
            Somebody else is the owner now.
        """
        problem = self.problem
        log_change(log, self._said, problem)
        self._said = problem
        now = self._clock.monotonic()
        due = self._take_in_written() or now - self._committed >= COMMIT_SECONDS
        if due and not self._commit(source):
            return  # the next poll says whether this is the end
        decided = self._desk is not None and self._desk.decided and now >= self._submitted + HURRY_SECONDS
        if (now >= self._due or decided) and source.assigned():  # before it has a place, nothing is new
            self._due, self._submitted = now + self._every, now
            self._submit(source, lock)

    def finish(self, source: LiveSource, lock: threading.Lock) -> None:
        """Write and commit a last checkpoint; takes some 15 s at most.

        Raises
        ------
        Superseded, SourceError
            As `step`.
        """
        if source.assigned():
            self._submit(source, lock)
        writer = self._writer
        if writer is None or not writer.flush(FINISH_SECONDS):
            log.warning(
                "no last checkpoint: what was read since the one before will be read again",
                extra={"reason": self.problem or "the disk or the dead letters take too long"},
            )
        if self._take_in_written():
            self._commit(source)
        self.abandon()

    def abandon(self) -> None:
        """End without a further word: the state is somebody else's, or in doubt."""
        if self._writer is not None:
            self._writer.close(0)
        if self._desk is not None:
            self._desk.forget()

    def _submit(self, source: LiveSource, lock: threading.Lock) -> None:
        if self._writer is None and not self._claim():
            return
        assert self._writer is not None
        positions = source.positions()
        with lock:
            self.pipeline.move_on(positions)
            decisions, outbox = (0, None) if self._desk is None else (self._desk.mark(), self._desk.tree())
            taken = cut(self.pipeline, source.topic_ids, outbox)
        letters = 0 if self._letters is None else self._letters.mark()
        self._writer.submit(taken.tree, _Tag(taken.next_offsets, letters, decisions))

    def _claim(self) -> bool:
        """Try again to claim an epoch, unless somebody else did meanwhile."""
        try:
            if not self._folder.is_highest(self._highest):
                raise _superseded(self._folder)
            epoch = self._folder.claim()
        except CheckpointError as error:
            self._claim_problem = str(error)
            self._claims_failed += 1
            return False
        log.info("claimed", extra={"epoch": epoch})
        self._writer = Writer(self._folder, epoch, self._before, self._clock)
        return True

    def _take_in_written(self) -> bool:
        """Note what was written since the last call; return whether there was something."""
        writer = self._writer
        if writer is None:
            return False
        if writer.superseded:
            raise _superseded(self._folder)
        done = writer.done()
        if not done:
            return False
        sequence, tag = done[-1]
        self._saved = tag.next_offsets
        if self._desk is not None:
            self._desk.saved(tag.decisions)
        self._written = self._clock.monotonic()
        log.debug(
            "checkpoint written",
            extra={
                "sequence": sequence,
                "bytes": writer.statistics.bytes,
                "seconds": writer.statistics.seconds,
            },
        )
        return True

    def _commit(self, source: LiveSource) -> bool:
        self._committed = self._clock.monotonic()
        return not self._saved or source.commit(self._saved)

    def _before(self, tag: _Tag) -> None:
        """Make safe what a checkpoint forgets; runs in the writer's thread."""
        while self._retired:
            self._archive.add(self.pipeline, self._retired[0])
            self._retired.popleft()
        letters = self._letters
        if letters is not None and not letters.settled(tag.letters, LETTERS_SECONDS):
            raise CheckpointError(
                "checkpoints wait for rejected events to reach kafka.dead_letter_topic; mend that topic, or "
                "set kafka.dead_letter.on_error: drop"
            )


def _highest(folder: Folder) -> int:
    try:
        return folder.highest()
    except CheckpointError:
        return 0


def _superseded(folder: Folder) -> Superseded:
    return Superseded(
        f"another instance has claimed the state in {folder.path} and owns it now, so this one stops; "
        "restart it as a standby (each needs a kafka.group_instance_id of its own, or none), or give it a "
        "kafka.group_id of its own"
    )
