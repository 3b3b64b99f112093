"""Silence begins when patience ends and ends with the next event, wherever a piece of the stream ends."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.alerting.silence import silences

PATIENCE = 10


def judged(times: list[int], until: int) -> list[tuple[int, int]]:
    return list(silences(np.array(times, np.int64), until, PATIENCE))


@pytest.mark.parametrize(
    ("times", "until", "expected"),
    [
        ([], 100, []),
        ([0], 9, []),
        ([0], 10, [(10, 0)]),
        ([0, 9, 18], 20, []),
        ([0, 10], 11, [(10, 0), (10, 1)]),
        ([0, 3, 40, 41], 60, [(13, 1), (40, 2), (51, 3)]),
    ],
)
def test_when_a_version_is_judged(times: list[int], until: int, expected: list[tuple[int, int]]) -> None:
    assert judged(times, until) == expected


@given(st.lists(st.integers(0, 60), min_size=1, max_size=12), st.data())
def test_pieces_say_the_same_as_the_whole(times: list[int], data: st.DataObject) -> None:
    """The last event of a piece begins the next one; what was silent is not judged silent again."""
    times.sort()
    end = times[-1] + data.draw(st.integers(0, 30))
    whole = [time for time, _ in judged(times, end)]
    cuts = sorted(data.draw(st.sets(st.integers(times[0], end), max_size=4)) | {end})
    found: list[int] = []
    rest, known = list(times), []
    for cut in cuts:
        piece = known + [time for time in rest if time <= cut]
        rest = [time for time in rest if time > cut]
        found += [time for time, _ in judged(piece, cut) if time not in found or time == piece[-1]]
        known = piece[-1:]
    assert sorted(set(found)) == sorted(set(whole))
