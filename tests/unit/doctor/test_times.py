"""Times in another unit or zone are named; plausible ones are left alone."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from monitor.doctor.times import unit_of
from tests.support.records import RECORD_MS
from tests.support.samples import binary, configured, replaced, said

GOOD = ["Nothing that these messages show."]
NOW = RECORD_MS / 1000


@pytest.mark.parametrize(
    ("factor", "unit"),
    [
        (1e6, "microseconds"),
        (1e9, "nanoseconds"),
        (1e-3, "seconds that were divided by 1000"),
        (1 / 60, "minutes"),
        (1 / 3600, "hours"),
        (1 / 86_400, "days"),
    ],
)
def test_another_unit(tmp_path: Path, factor: float, unit: str) -> None:
    messages = binary(20)
    times = [int((NOW - 60 + i) * factor) for i in range(20)]
    found = said(configured(tmp_path), replaced(messages, "timestamp", times))
    assert found["What is wrong"] == [
        f"fraud: 20 of 20 times at timestamp are not plausible, such as {times[0]}: they look like {unit} "
        "since 1970.",
        "    fix: send seconds (1764400000.123), milliseconds (1764400000123) or ISO 8601.",
    ]


@pytest.mark.parametrize("factor", [1, 1e3])
def test_units_that_are_read(tmp_path: Path, factor: float) -> None:
    times = [(NOW - 1e6 + i) * factor for i in range(20)]
    messages = replaced(binary(20), "timestamp", times)
    assert said(configured(tmp_path), messages)["What is wrong"] == GOOD


def test_unit_of_old_and_strange_times() -> None:
    assert unit_of(np.array([1_000_000_000.0]), NOW) is None
    assert unit_of(np.array([1_000_000_000_000_000.0]), NOW) == "microseconds"
    assert unit_of(np.array([42.0]), NOW) is None
    assert unit_of(np.array([-5.0]), NOW) is None


@pytest.mark.parametrize(("hours", "named"), [(2, "2"), (5.5, "5.5"), (-2, None), (2.2, None), (40, None)])
def test_local_time_as_utc(tmp_path: Path, hours: float, named: str | None) -> None:
    times = [NOW + i - 20 + 3600 * hours for i in range(20)]
    texts = [datetime.fromtimestamp(t, UTC).isoformat() for t in times]
    for sent in (times, texts):
        text = said(configured(tmp_path), replaced(binary(20), "timestamp", sent))["What is wrong"][0]
        if named is not None:
            assert text.startswith(f"fraud: 20 of 20 times at timestamp are {named} hours later than their")
        else:
            assert text == GOOD[0] or text.startswith("20 of 20 messages rejected as future_timestamp")


def test_one_wrong_clock(tmp_path: Path) -> None:
    messages = binary(20)
    messages[3]["timestamp"] = NOW + 1e6
    text = said(configured(tmp_path), messages)["What is wrong"][0]
    assert text.startswith("1 of 20 messages rejected as future_timestamp")
