"""Raw records from Kafka, through kafka-python."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from typing import Any, Literal

from kafka import TopicPartition
from kafka.errors import KafkaError, LogTruncationError, OffsetOutOfRangeError
from kafka.structs import MemberState, OffsetAndMetadata

from monitor.clock import Clock, SystemClock
from monitor.logs import log_change
from monitor.records import Partition, RecordBatch
from monitor.sources import quirks
from monitor.sources.assignor import OneOwnerAssignor
from monitor.sources.base import Poll, TakeOver
from monitor.sources.cluster import Cluster
from monitor.sources.lag import EndOffsets
from monitor.sources.positions import Start, committed, ranges, starting_points
from monitor.sources.rebalance import RebalanceListener, leave
from monitor.sources.refusals import error_text, explain_passing, explain_refusal, is_passing, is_put_out
from monitor.sources.settings import consumer_settings
from monitor.sources.tracking import Tracking, partition_text

logger = logging.getLogger(__name__)

COMMIT_TIMEOUT_MS = 3000
CLOSE_TIMEOUT = 5.0
"""Seconds."""

# Brokers that give no topic ids may lack long polls as well (the embedded one): an empty poll there
# comes back at once, and the client would ask again without end.
_SHORT_POLL_MS = 5
_PAUSE_AFTER_SHORT_POLL = 0.05


class KafkaSource:
    """Topics of Kafka, read by the one owner of a consumer group; see `monitor.sources.base.Source`.

    Nothing connects before the first `poll`, and no `poll` lasts much longer than one attempt to
    connect: while a broker or a topic is missing, polls are empty and `problem` says why.

    Parameters
    ----------
    settings
        kafka-python's consumer settings by their own names.
    topics
        Topics to read.
    group_id
        The consumer group.
    start
        Where partitions begin that nothing is known of.
    start_timestamp
        Epoch microseconds where ``start="windows"`` begins; None where no window needs a past.
    give_up_after
        Seconds that an unreachable broker or a missing topic is waited for.
    take_over
        See `monitor.sources.base.TakeOver`.
    on_topic_recreated
        ``"refuse"``: an error. ``"restart"``: everything is reported as revoked and taken over again, and
        the new topic is read from its beginning.
    clock
        Where time comes from.
    stop
        Ends every wait between attempts when set.

    Attributes
    ----------
    commit_failures : int
        Commits in a row that no broker took; a later one makes them good.
    """

    def __init__(
        self,
        settings: Mapping[str, object],
        topics: Sequence[str],
        group_id: str,
        *,
        start: Start = "windows",
        start_timestamp: Callable[[], int | None] = lambda: None,
        give_up_after: float = 600.0,
        take_over: TakeOver = lambda _: {},
        on_topic_recreated: Literal["refuse", "restart"] = "refuse",
        clock: Clock | None = None,
        stop: threading.Event | None = None,
    ) -> None:
        self.commit_failures = 0
        self._settings = consumer_settings(settings)
        self._topics = list(topics)
        self._group_id = group_id
        self._start: Start = start
        self._start_timestamp = start_timestamp
        self._take_over = take_over
        self._clock = clock or SystemClock()
        self._stop = stop or threading.Event()
        self._cluster = Cluster(
            self._settings,
            self._topics,
            give_up_after,
            self._clock,
            restart=on_topic_recreated == "restart",
        )
        self._consumer: Any = None
        self._listener: RebalanceListener | None = None
        self._ends: EndOffsets | None = None
        self._tracking: Tracking | None = None
        self._long_polls = True
        self._assigned: frozenset[Partition] = frozenset()
        self._pending: set[Partition] = set()  # assigned by the group, without a position of ours
        self._recreated: set[str] = set()
        self._put_out = False  # of the group, as a commit has told
        self._trouble: str | None = None
        self._held: frozenset[Partition] = frozenset()

    @property
    def problem(self) -> str | None:
        """Why nothing can be read at the moment; None while all is well."""
        return self._cluster.problem or self._trouble

    @property
    def joined(self) -> bool:
        """Whether this is a member of the group that has placed itself in all of its share."""
        if self._consumer is None or self._pending or self._losing():
            return False
        return bool(self._consumer.group_metadata().state is MemberState.STABLE)

    @property
    def offsets_lost(self) -> int:
        """Records that were gone before they were read."""
        return self._tracking.offsets_lost if self._tracking else 0

    @property
    def log_truncations(self) -> int:
        """How often a partition's log ended before our position."""
        return self._tracking.log_truncations if self._tracking else 0

    @property
    def rebalances(self) -> int:
        """How often partitions came or went."""
        return self._listener.rebalances if self._listener else 0

    @property
    def topic_ids(self) -> Mapping[str, str | None]:
        """Id of each topic; None where the broker gives none."""
        return self._cluster.topic_ids

    def poll(self, timeout: float) -> Poll:
        """Return what is there; see `Source.poll`."""
        if self._consumer is None and not self._open():
            self._stop.wait(min(timeout, self._cluster.pause()))
            return Poll()
        assert self._tracking is not None
        found: dict[Any, list[Any]] = {}
        try:
            self._note_recreated(self._cluster.look())
            if self._tracking.astray and not self._losing():
                self._relocate()
            if self._pending and not self._losing():
                self._position()
            if not self._losing():
                found = self._fetch(timeout)
            self._say(None)
        except (OffsetOutOfRangeError, LogTruncationError) as error:
            self._tracking.note_astray(error)
        except KafkaError as error:
            if not is_passing(error):
                raise explain_refusal(error, self._settings, self._group_id) from error
            self._say(self._trouble or explain_passing(error, self._settings))
            self._stop.wait(min(timeout, 0.5))
        return self._after(found)

    def assigned(self) -> frozenset[Partition]:
        """Partitions that are ours and positioned; empty on a standby."""
        return self._assigned

    def lag(self) -> Mapping[Partition, int]:
        """Offsets between position and end of each assigned partition."""
        return {} if self._ends is None else self._ends.lag(self.positions())

    def hold(self, partitions: Collection[Partition]) -> None:
        """Read no further from exactly these partitions until the next call."""
        held = frozenset(partitions)
        for partition in (held - self._held) & self._assigned:
            self._consumer.pause(TopicPartition(*partition))
        for partition in (self._held - held) & self._assigned:
            self._consumer.resume(TopicPartition(*partition))
        self._held = held

    def positions(self) -> Mapping[Partition, int]:
        """Offset that is read next, for each assigned partition; see `Source.positions`."""
        if self._tracking is None:
            return {}
        return {partition: self._tracking.next(partition) for partition in self._assigned}

    def commit(self, next_offsets: Mapping[Partition, int]) -> bool:
        """Tell the broker what a checkpoint contains; see `Source.commit`.

        Raises
        ------
        SourceError
            Where another process has taken our name.
        """
        offsets = {
            TopicPartition(*partition): OffsetAndMetadata(offset, "", -1)
            for partition, offset in next_offsets.items()
            if partition in self._assigned
        }
        if not offsets:
            return False
        try:
            self._consumer.commit(offsets, timeout_ms=COMMIT_TIMEOUT_MS)
        except KafkaError as error:
            if is_put_out(error):
                self._put_out = True
                return False
            if not is_passing(error):
                raise explain_refusal(error, self._settings, self._group_id) from error
            self.commit_failures += 1
            # The first may come before it is known that no broker answers, which `problem` says by itself.
            if self.commit_failures == 2 and self.problem is None:
                logger.warning("commits fail and will be repeated: %s", error_text(error))
            return False
        self.commit_failures = 0
        return True

    def close(self) -> None:
        """Leave the group; never raises, never takes longer than a few seconds."""
        # On a thread of its own: a client whose broker hangs may not keep its time-outs.
        leaving = threading.Thread(target=self._leave, name="kafka-close", daemon=True)
        leaving.start()
        leaving.join(CLOSE_TIMEOUT)
        self._assigned = frozenset()

    def _open(self) -> bool:
        assignor = OneOwnerAssignor()
        consumer = self._cluster.open(assignor, self._group_id)
        if consumer is None:
            return False
        self._listener = RebalanceListener(consumer, assignor)
        consumer.subscribe(self._topics, listener=self._listener)
        with suppress(KafkaError):
            # A leader that does not know the topics yet would assign nothing, to an owner too.
            consumer.bootstrap(timeout_ms=3000, refresh=True)
        self._tracking = Tracking(consumer)
        self._ends = EndOffsets(consumer, self._cluster.admin, self._clock)
        self._long_polls = any(self.topic_ids.values())
        self._consumer = consumer
        return True

    def _fetch(self, timeout: float) -> dict[Any, list[Any]]:
        milliseconds = int(timeout * 1000)
        short = not self._long_polls and bool(self._assigned)
        found = quirks.poll(self._consumer, min(milliseconds, _SHORT_POLL_MS) if short else milliseconds)
        if short and not found:
            self._stop.wait(min(timeout, _PAUSE_AFTER_SHORT_POLL))
        return found

    def _after(self, found: dict[Any, list[Any]]) -> Poll:
        assert self._listener is not None and self._tracking is not None
        came, went = self._listener.take()
        if self._put_out:
            return Poll(revoked=self._begin_again(came))
        self._pending |= came
        if went or self._losing():
            # What was fetched meanwhile is read again: whoever loses a partition forgets all of them.
            self._tracking.forget()
            return Poll(revoked=frozenset(went) | self._let_go())
        batches = []
        for partition, records in found.items():
            ours = Partition(partition.topic, partition.partition)
            if ours not in self._assigned:  # fetched before we were put out of the group
                continue
            self._tracking.delivered(ours, records[-1].offset + 1)
            batches.append(RecordBatch(ours, records))
        self._reconcile()
        return Poll(batches, truncated=self._tracking.take_truncated())

    def _reconcile(self) -> None:
        """Take up partitions that are ours without a callback, as after a join that had to be repeated."""
        stable = self._consumer.group_metadata().state is MemberState.STABLE
        if self._pending or self._recreated or not stable:
            return
        missing = {Partition(*partition) for partition in self._consumer.assignment()} - self._assigned
        if missing:
            self._consumer.pause(*(TopicPartition(*partition) for partition in missing))
            self._pending |= missing

    def _begin_again(self, came: set[Partition]) -> frozenset[Partition]:
        """Give every partition up but for what came when the client joined again, if it has already."""
        logger.warning(
            "the group %r has gone on without this instance (no answer for kafka.session_timeout_ms, or it "
            "was removed): the state is dropped, and it joins again",
            self._group_id,
        )
        lost, self._assigned = self._assigned, frozenset()
        self._put_out, self._pending = False, came & {Partition(*p) for p in self._consumer.assignment()}
        assert self._tracking is not None
        self._tracking.forget()
        return lost

    def _let_go(self) -> frozenset[Partition]:
        """Give every partition up; those that remain ours are positioned anew."""
        lost, self._assigned = self._assigned, frozenset()
        self._pending = {Partition(*partition) for partition in self._consumer.assignment()}
        self._consumer.pause(*self._consumer.assignment())
        if not self._pending:
            self._recreated = set()
        logger.info("partitions given up: %s", sorted(map(partition_text, lost)))
        return lost

    def _note_recreated(self, topics: set[str]) -> None:
        if self._assigned or self._pending:
            self._recreated |= topics

    def _losing(self) -> bool:
        """Whether what was read so far is to be reported as lost before anything new is read."""
        return bool(self._recreated and self._assigned)

    def _position(self) -> None:
        """Seek and resume what was assigned; after an error it stays pending."""
        self._note_recreated(self._cluster.look_now())
        if self._losing():
            return
        assert self._ends is not None and self._tracking is not None
        entered = {partition.topic for partition in self._assigned} | self._recreated
        known = self._take_over(frozenset(self._pending))
        # Asked for afterwards: the one whose state we took over may have read on until then.
        available = ranges(self._cluster.admin, self._pending)
        points = starting_points(
            self._consumer, available, known, entered, self._start, self._start_timestamp
        )
        self._warn_of_lost_state(self._pending - known.keys())
        for partition, point in points.items():
            self._tracking.go_to(partition, point)
            self._ends.begin(partition, available[partition].end)
        self._assigned |= self._pending
        self._pending, self._recreated = set(), set()
        self._consumer.resume(*(TopicPartition(*p) for p in points if p not in self._held))
        logger.info(
            "reading from %s", {partition_text(p): point.offset for p, point in sorted(points.items())}
        )
        self._cluster.say(None)

    def _warn_of_lost_state(self, unknown: Collection[Partition]) -> None:
        """Warn where the group has read partitions before of which no checkpoint knows."""
        with suppress(KafkaError):  # it is a warning, no more
            read = committed(self._cluster.admin, self._group_id, unknown)
            if read:
                logger.warning(
                    "the group %r has read %s before, but no checkpoint in checkpoint.directory knows of it: "
                    "windows, counts and alerts begin anew (kafka.start); if the checkpoints are on another "
                    "server or in another folder, stop, and set checkpoint.directory to that folder",
                    self._group_id,
                    ", ".join(f"{partition_text(p)} up to {offset}" for p, offset in sorted(read.items())),
                )

    def _relocate(self) -> None:
        self._note_recreated(self._cluster.look_now())
        if not self._losing():
            assert self._tracking is not None
            self._tracking.relocate(self._cluster.admin, self._assigned)

    def _say(self, trouble: str | None) -> None:
        log_change(logger, self._trouble, trouble)
        self._trouble = trouble

    def _leave(self) -> None:
        try:
            if self._consumer is not None:
                leave(self._consumer, self._cluster.admin, self._group_id, timeout=CLOSE_TIMEOUT * 0.4)
        except Exception as error:  # whatever it is, we are going
            logger.debug("leaving the group: %s", error)
        finally:
            self._cluster.close()
