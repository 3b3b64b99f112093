"""Versions packed into few arrays come back as they were, on any device."""

from __future__ import annotations

import pytest
import torch

from monitor.events.batch import EventBatch
from monitor.state.packing import pack, positions, recoded, unpack
from monitor.state.store import State, VersionView
from monitor.state.windows import Plan, WindowSpec
from tests.support.pasts import to_the_bit
from tests.support.streams import CPU, DEVICES
from tests.support.tasks import SPECS, Mix, random_columns

PLANS = {name: Plan(spec, (WindowSpec("last_30", "events", 30),), 5, 20) for name, spec in SPECS.items()}


def example(device: torch.device) -> tuple[VersionView, ...]:
    s = State(PLANS, allowed_lateness=0, retire_after=10**15, device=device)
    for seed, model in enumerate(PLANS):
        for version, size in (("few", 3), ("many", 50)):
            s.apply(EventBatch({(model, version): random_columns(SPECS[model], size, seed, Mix())}))
    for view in s.view().versions:
        if view.version == "many":
            s.adopt(view, view.settle(49))
            s.apply(EventBatch({(view.model, "many"): random_columns(SPECS[view.model], 7, 99)}))
    s.apply(
        EventBatch({("binary", "all scores missing"): random_columns(SPECS["binary"], 4, 1, Mix(unscored=1))})
    )
    return s.view().versions


@pytest.mark.parametrize("device", DEVICES, ids=str)
def test_versions_come_back_as_they_were(device: torch.device) -> None:
    versions = {(v.model, v.version): v for v in example(device)}
    packs = pack(versions.values())
    assert any(v.base.over_limit for v in versions.values())
    assert len(packs) == 3  # two kinds of binary models share one, so do two of multilabel ones
    back = [view for each in packs for view in unpack(each, PLANS.__getitem__, lambda *_: 3, device)]
    assert len(back) == len(versions)
    for view in back:
        assert to_the_bit(view) == to_the_bit(versions[view.model, view.version])
        assert view.base.device == device


def test_versions_share_nothing_with_their_pack() -> None:
    packs = pack(example(CPU))
    back = [view for each in packs for view in unpack(each, PLANS.__getitem__, lambda *_: 3, CPU)]
    for each in packs:
        for part in ("held", "waiting", "counts", "histogram"):
            for array in each[part].values():
                array.fill(0)
    expected = {(v.model, v.version): v for v in example(CPU)}
    for view in back:
        assert to_the_bit(view) == to_the_bit(expected[view.model, view.version])


def test_nothing_is_packed_into_nothing() -> None:
    assert pack([]) == []
    assert unpack({"versions": []}, PLANS.__getitem__, lambda *_: 3, CPU) == []


def test_positions_are_changed_by_their_partition_alone() -> None:
    packed, *_ = pack(example(CPU))
    before = [codes.copy() for codes in positions(packed)]
    table = torch.arange(1 << 15).numpy() + 5
    after = positions(recoded(packed, table))
    for old, new, kept in zip(before, after, positions(packed), strict=True):
        assert ((new >> 48) == 5).all()
        assert ((new & (1 << 48) - 1) == old).all()
        assert (kept == old).all()
