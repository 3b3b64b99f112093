"""Codes of places in the log, and the partitions that they stand for."""

from __future__ import annotations

import pytest

from monitor.errors import ConfigurationError, SourceError
from monitor.events.position import OFFSET_BITS, SOURCES, Positions
from monitor.records import Partition


@pytest.mark.parametrize("topics", [["t"], ["t", "a"], ["b", "t", "a"], [f"t{n}" for n in range(100)]])
def test_a_code_says_whose_it_is(topics: list[str]) -> None:
    positions = Positions(topics)
    assert positions.topics == tuple(sorted(topics))
    for topic in topics:
        for partition in (0, 1, 255):
            code = positions.base(topic, partition) + 2**48 - 1
            assert positions.partition(code >> OFFSET_BITS) == Partition(topic, partition)


@pytest.mark.parametrize("source", [3 << 13, SOURCES, -1])
def test_a_code_of_no_topic_is_refused(source: int) -> None:
    positions = Positions(["a", "b", "c"])
    assert positions.partition((3 << 13) - 1) == Partition("c", 8191)
    with pytest.raises(ValueError, match="no topic"):
        positions.partition(source)


def test_limits_of_the_code() -> None:
    with pytest.raises(ConfigurationError, match="at most 16384 topics"):
        Positions(map(str, range(16385)))
    with pytest.raises(SourceError, match="with 2 topics at most 16384 partitions"):
        Positions(["a", "b"]).base("a", 16384)
    assert Positions(["a"]).base("a", SOURCES - 1) + 2**48 - 1 == 2**63 - 1
