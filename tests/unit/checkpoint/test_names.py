from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from monitor.checkpoint.names import Stamp, folder_name, group_id, listing

TEXTS = st.text(st.characters(), max_size=40) | st.text("./\\%~ \0a", max_size=10)


@given(TEXTS)
@example("")
@example(".")
@example("..")
@example("../../etc")
@example("/")
@example("%2E")
def test_any_group_id_is_one_visible_file_name_and_comes_back(text):
    name = folder_name(text)
    assert group_id(name) == text
    assert Path(name).name == name
    assert not name.startswith(".")
    assert name.isascii() and name.isprintable() and name


def test_a_plain_group_id_stays_readable():
    assert folder_name("fraud-monitor_2.eu") == "fraud-monitor_2.eu"
    assert folder_name("team/fraud") == "team%2Ffraud"


def test_names_that_are_not_ours_are_left_out():
    found = listing(
        "epoch-3 epoch-03 epoch- epoch-² epoch-4x report.txt checkpoint-1-2.tmp "
        "checkpoint-1-2 checkpoint-10-1 checkpoint-2-11 checkpoint-2-9 checkpoint--1-2".split()
    )
    assert found.markers == [3]
    assert found.checkpoints == [Stamp(10, 1), Stamp(2, 11), Stamp(2, 9), Stamp(1, 2)]
    assert found.temporaries == [Stamp(1, 2)]
    assert found.highest == 10


@pytest.mark.parametrize("names", [[], ["other"]])
def test_nothing_was_claimed(names):
    assert listing(names).highest == 0
