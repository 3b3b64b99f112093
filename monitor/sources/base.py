"""What every source of events offers, whatever client is behind it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from monitor.records import Partition, RecordBatch


@dataclass(frozen=True, slots=True)
class Poll:
    """What one call of `Source.poll` brought.

    Attributes
    ----------
    batches
        Raw records, at most one batch a partition.
    revoked
        Partitions that are no longer ours since the last poll. One owner holds all partitions, so
        whoever loses one forgets the whole state.
    truncated
        Where reading goes on in partitions whose log ended before our position: what comes now has
        offsets that were given out before, and is new all the same.
    """

    batches: Sequence[RecordBatch] = ()
    revoked: frozenset[Partition] = field(default_factory=frozenset)
    truncated: Mapping[Partition, int] = field(default_factory=dict)


TakeOver = Callable[[frozenset[Partition]], Mapping[Partition, int]]
"""What a live source calls with the partitions that it was assigned, before it reads the first of them.

Called on the poll thread, with `topic_ids` up to date; it may block, and raise a `MonitorError` that ends the
source. It returns the next offsets of those of the partitions of which something is remembered. It is called
again for partitions that are added, after everything was revoked, and where placing failed and is repeated.
"""


class Source(Protocol):
    """A source of raw records. All methods are called on the poll thread, `close` last."""

    def poll(self, timeout: float) -> Poll:
        """Return what is there, waiting up to `timeout` seconds for the first record.

        Raises
        ------
        SourceError
            Where waiting does not help (authorisation, fenced, a topic that was recreated).
        """

    def assigned(self) -> frozenset[Partition]:
        """Partitions that are ours and positioned; empty on a standby."""

    def lag(self) -> Mapping[Partition, int]:
        """Records between the position and the end, for each assigned partition; 0: caught up."""

    def hold(self, partitions: Collection[Partition]) -> None:
        """Read no further from exactly these partitions until the next call (aligned catch-up)."""

    def positions(self) -> Mapping[Partition, int]:
        """Offset that is read next, for each assigned partition.

        It lies past everything delivered, and past transaction markers and aborted records behind that.
        """

    def commit(self, next_offsets: Mapping[Partition, int]) -> bool:
        """Tell the broker, as a courtesy to lag tools, what a checkpoint contains.

        Returns
        -------
        bool
            Whether the broker took it, which it does from the present owner alone. False where it did not
            answer, or the group is changing, or has gone on without us: then the next poll says that
            everything is revoked.

        Raises
        ------
        SourceError
            Where another process has taken our name.
        """

    def close(self) -> None:
        """Leave; never raises, never hangs for more than a few seconds."""


class LiveSource(Source, Protocol):
    """A source without an end, with what the daemon tells of it."""

    @property
    def problem(self) -> str | None:
        """Why nothing can be read at the moment; None while all is well."""

    @property
    def joined(self) -> bool:
        """Whether this is a member of the group that knows its share and has placed itself in it.

        A member without partitions is a standby.
        """

    @property
    def offsets_lost(self) -> int:
        """Records that were gone before they were read."""

    @property
    def log_truncations(self) -> int:
        """How often a partition's log ended before our position."""

    @property
    def rebalances(self) -> int:
        """How often partitions came or went."""

    @property
    def topic_ids(self) -> Mapping[str, str | None]:
        """Id of each topic that is known; None where the broker gives none."""
