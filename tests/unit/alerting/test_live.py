"""Which version is live: by the newest events, however they come."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from monitor.alerting.live import LiveVersions
from monitor.events.batch import EventBatch
from tests.support.tasks import SPECS
from tests.support.watching import events

EVENTS = events(next(iter(SPECS.values())), 1500, 0)


def read(live: LiveVersions, version: str, count: int) -> None:
    live.read(EventBatch({("fraud", version): EVENTS.select(np.arange(count)).columns}))


@given(
    st.lists(st.tuples(st.sampled_from("123"), st.integers(1, 1500)), min_size=1, max_size=8),
    st.integers(1, 700),
)
def test_it_does_not_depend_on_how_many_events_a_poll_brings(runs: list[tuple[str, int]], size: int) -> None:
    whole, pieces = LiveVersions(), LiveVersions()
    for version, count in runs:
        read(whole, version, count)
        for done in range(0, count, size):
            read(pieces, version, min(size, count - done))
    assert (whole.live, whole.before) == (pieces.live, pieces.before)


def test_a_takeover_is_seen_after_600_events_whatever_came_before() -> None:
    live = LiveVersions()
    read(live, "1", 1500)
    read(live, "2", 599)
    assert live.live == {"fraud": "1"}
    read(live, "2", 1)
    assert (live.live, live.before) == ({"fraud": "2"}, {"fraud": ("1",)})
