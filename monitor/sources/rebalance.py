"""Membership in the group: what a rebalance does at once, and how one leaves."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import Any

from kafka.admin import MemberToRemove
from kafka.consumer.subscription_state import AsyncConsumerRebalanceListener

from monitor.records import Partition
from monitor.sources.assignor import OneOwnerAssignor


class RebalanceListener(AsyncConsumerRebalanceListener):  # type: ignore[misc]
    """Pauses what is assigned and remembers what came and went.

    Callbacks run on the client's network thread, where a blocking call would stop heartbeats (and a
    blocking `commit` raises), so partitions are paused here and positioned on the poll thread.
    """

    def __init__(self, consumer: Any, assignor: OneOwnerAssignor) -> None:
        self._consumer = consumer
        self._assignor = assignor
        self._lock = threading.Lock()
        self._assigned: set[Partition] = set()
        self._revoked: set[Partition] = set()
        self.rebalances = 0

    async def on_partitions_assigned(self, assigned: Iterable[Any]) -> None:
        """Pause partitions until they have a position of ours."""
        for partition in assigned:
            self._consumer.pause(partition)
            # Any position: without one, poll() asks for the committed offset and, there being none, raises.
            self._consumer.seek(partition, 0)
        with self._lock:
            self._assigned |= self._noted(assigned)

    async def on_partitions_revoked(self, revoked: Iterable[Any]) -> None:
        """Remember what was handed over in good order."""
        with self._lock:
            self._revoked |= self._noted(revoked)

    async def on_partitions_lost(self, lost: Iterable[Any]) -> None:
        """Remember what was taken away, and claim it no longer when joining again."""
        self._assignor.member_assignment = None
        with self._lock:
            self._revoked |= self._noted(lost)

    def take(self) -> tuple[set[Partition], set[Partition]]:
        """Return what was assigned and what was revoked since the last call."""
        with self._lock:
            taken = self._assigned, self._revoked
            self._assigned, self._revoked = set(), set()
        return taken

    def _noted(self, partitions: Iterable[Any]) -> set[Partition]:
        noted = {Partition(*partition) for partition in partitions}
        self.rebalances += bool(noted)
        return noted


def leave(consumer: Any, admin: Any, group_id: str, timeout: float) -> None:
    """Close a consumer, so that a standby need not wait for the session timeout."""
    member = consumer.group_metadata()
    consumer.close(autocommit=False, timeout_ms=int(timeout * 1000))
    if member.group_instance_id and member.member_id:
        # A static member sends no LeaveGroup. Named by its member id as well, so that a process that took the
        # name over stays.
        me = MemberToRemove(member.member_id, member.group_instance_id, "shut down")
        admin.remove_group_members(group_id, [me])
