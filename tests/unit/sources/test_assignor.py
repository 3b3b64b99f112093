from types import SimpleNamespace

from hypothesis import given
from hypothesis import strategies as st

from monitor.records import Partition
from monitor.sources.assignor import OneOwnerAssignor, one_owner

PARTITIONS = [Partition("t", number) for number in range(6)]


def settle(owned):
    """Run rounds as a group does: whoever loses a partition asks for another one."""
    for rounds in range(1, 5):
        plan = one_owner(owned, PARTITIONS)
        revoked = any(set(owned[member]) - set(plan[member]) for member in owned)
        owned = plan
        if not revoked:
            return rounds, owned
    raise AssertionError("the group does not settle")


def test_first_member_gets_everything():
    assert one_owner({"a": [], "b": []}, PARTITIONS) == {"a": PARTITIONS, "b": []}


def test_joining_standby_revokes_nothing():
    assert one_owner({"a": [], "owner": PARTITIONS, "z": []}, PARTITIONS)["owner"] == PARTITIONS


def test_added_partition_goes_to_the_owner():
    assert one_owner({"a": [], "owner": PARTITIONS[:5]}, PARTITIONS)["owner"] == PARTITIONS


def test_owner_of_most_stays():
    rounds, owned = settle({"a": PARTITIONS[:2], "b": PARTITIONS[2:]})
    assert owned == {"a": [], "b": PARTITIONS}
    assert rounds == 2


def test_partition_held_by_another_waits_for_the_next_round():
    plan = one_owner({"a": PARTITIONS[:2], "b": PARTITIONS[2:]}, PARTITIONS)
    assert plan == {"a": [], "b": PARTITIONS[2:]}


def test_partition_of_a_topic_that_is_gone_is_given_to_nobody():
    gone = Partition("gone", 0)
    assert one_owner({"a": [gone, *PARTITIONS[:1]]}, PARTITIONS) == {"a": PARTITIONS}


@given(
    st.dictionaries(
        st.text("abcdef", min_size=1, max_size=3),
        st.sets(st.sampled_from(PARTITIONS)),
        min_size=1,
        max_size=4,
    )
)
def test_any_claims_settle_on_one_owner_and_never_share_a_partition(claims):
    plan = one_owner(claims, PARTITIONS)
    for member, share in plan.items():
        others = set().union(*(claims[other] for other in claims if other != member))
        assert not set(share) & others
    _, owned = settle(claims)
    assert sorted(map(len, owned.values())) == [0] * (len(claims) - 1) + [6]


def test_assignor_speaks_the_protocol():
    leader, standby = OneOwnerAssignor(), OneOwnerAssignor()
    leader.member_assignment = [Partition("t", 1)]
    members = [
        SimpleNamespace(member_id="m1", metadata=standby.metadata({"t", "u"})),
        SimpleNamespace(member_id="m2", metadata=leader.metadata({"t", "u"})),
    ]
    cluster = SimpleNamespace(partitions_for_topic=lambda topic: {"t": {0, 1}, "u": None}[topic])
    plan = leader.assign(cluster, members)
    assert [(tp.topic, tp.partition) for tp in plan["m2"].partitions()] == [("t", 0), ("t", 1)]
    assert plan["m1"].partitions() == []
