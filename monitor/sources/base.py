"""What every source of events offers, whatever client is behind it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
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
    """

    batches: Sequence[RecordBatch] = ()
    revoked: frozenset[Partition] = field(default_factory=frozenset)


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

    def commit(self, next_offsets: Mapping[Partition, int]) -> None:
        """Tell the broker, as a courtesy to lag tools, what the state contains."""

    def close(self) -> None:
        """Leave; never raises, never hangs for more than a few seconds."""


class LiveSource(Source, Protocol):
    """A source without an end, with what the daemon tells of it."""

    @property
    def problem(self) -> str | None:
        """Why nothing can be read at the moment; None while all is well."""

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
