"""One owner a group: one member reads every partition, the others stand by."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import groupby
from operator import itemgetter
from typing import Any

from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
from kafka.protocol.consumer.metadata import ConsumerProtocolAssignment

from monitor.records import Partition


def one_owner(
    owned: Mapping[str, Collection[Partition]], partitions: Collection[Partition]
) -> dict[str, list[Partition]]:
    """Give every partition to one member.

    The member that holds most of them stays the owner (the first by name where none does). What
    another member still holds is given to nobody: that member lets go of it, and the next round,
    which it asks for, gives it to the owner.

    Parameters
    ----------
    owned
        What each member holds now.
    partitions
        All partitions of the topics subscribed to.

    Returns
    -------
    dict
        Sorted partitions of each member; empty lists for all but one.
    """
    wanted = set(partitions)
    owner = max(sorted(owned), key=lambda member: len(wanted & set(owned[member])))
    held = {partition for member, theirs in owned.items() if member != owner for partition in theirs}
    return {member: sorted(wanted - held) if member == owner else [] for member in owned}


class OneOwnerAssignor(CooperativeStickyAssignor):  # type: ignore[misc]
    """kafka-python's cooperative protocol with `one_owner` as the plan."""

    name = "monitor-one-owner"

    def assign(self, cluster: Any, members: Any) -> dict[str, Any]:
        """Assign, as the group's leader; see `AbstractPartitionAssignor.assign`."""
        metadata = {member.member_id: self.parse_member_metadata(member.metadata) for member in members}
        owned = {
            member: [Partition(*partition) for partition in theirs.partitions]
            for member, theirs in metadata.items()
        }
        topics = {topic for theirs in metadata.values() for topic in theirs.subscription}
        partitions = [
            Partition(topic, number)
            for topic in topics
            for number in cluster.partitions_for_topic(topic) or ()
        ]
        return {
            member: ConsumerProtocolAssignment(self.version, _by_topic(share), b"")
            for member, share in one_owner(owned, partitions).items()
        }


def _by_topic(partitions: list[Partition]) -> list[tuple[str, list[int]]]:
    return [
        (topic, [partition.partition for partition in group])
        for topic, group in groupby(partitions, key=itemgetter(0))
    ]
