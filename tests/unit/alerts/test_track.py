"""What is remembered of an alert survives a checkpoint."""

from __future__ import annotations

from dataclasses import fields, replace
from math import inf, nan
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.alerts.alert import Evidence, Moment
from monitor.alerts.track import Track
from monitor.checkpoint.tree import separate

maybe = lambda kind: st.one_of(st.none(), kind)  # noqa: E731
numbers = st.floats(allow_nan=False, allow_infinity=False)
times = st.integers(-(1 << 60), 1 << 60)
moments = st.builds(Moment, times, times, times)
KINDS: dict[str, Any] = {
    "support": st.integers(0, 1 << 40),
    "recalibration": maybe(st.just({"map": None, "reason": "too few", "parameters": {"a": 1.5}})),
    **dict.fromkeys(("method", "component", "undefined", "note"), maybe(st.text())),
    **dict.fromkeys(("prevalence_moved", "breaches_at_reference"), maybe(st.booleans())),
}
evidences = st.builds(
    Evidence, **{each.name: KINDS.get(each.name, maybe(numbers)) for each in fields(Evidence)}
)
tracks = st.builds(
    Track,
    **dict.fromkeys(("since", "started", "breached"), maybe(moments)),
    **dict.fromkeys(("resolved", "undefined_since"), maybe(times)),
    steps=st.integers(0, 99),
    best=maybe(numbers),
    silent=st.booleans(),
    evidence=evidences,
    reason=maybe(st.text()),
)


@given(tracks)
def test_a_track_comes_back(track: Track) -> None:
    tree, arrays = separate(track.tree())
    assert not arrays
    assert Track.from_tree(tree) == track


def test_numbers_that_no_checkpoint_takes_are_left_out() -> None:
    track = Track(evidence=Evidence(statistic=inf, value=nan, threshold=2.0))
    assert Track.from_tree(track.tree()).evidence == Evidence(threshold=2.0)


@pytest.mark.parametrize(
    "change",
    [
        {"steps": "3"},
        {"silent": 1},
        {"since": [1, 2]},
        {"started": [1, 2, "3"]},
        {"breached": 5},
        {"resolved": 1.5},
        {"best": "high"},
        {"evidence": None},
        {"evidence": {"unheard_of": 1}},
        {"evidence": {"value": "0.5"}},
        {"evidence": {"support": 1.5}},
        {"surplus": 1},
    ],
)
def test_something_else_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="alert"):
        Track.from_tree({**Track().tree(), **change})
    with pytest.raises(ValueError, match="alert"):
        Track.from_tree([])


@pytest.mark.parametrize(
    "track, state",
    [
        (Track(), "inactive"),
        (Track(breached=Moment(1, 1, 1), steps=1), "pending"),
        (Track(started=Moment(1, 1, 1)), "firing"),
        (Track(started=Moment(1, 1, 1), silent=True), "no_data"),
    ],
)
def test_the_state_follows_from_what_is_remembered(track: Track, state: str) -> None:
    assert track.state == state
    assert replace(track, silent=True).state == "no_data"
