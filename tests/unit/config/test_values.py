from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.config.values import format_duration, parse_bytes, parse_duration


@pytest.mark.parametrize(
    ("text", "duration"),
    [
        ("0s", timedelta(0)),
        ("500ms", timedelta(milliseconds=500)),
        ("10s", timedelta(seconds=10)),
        ("5m", timedelta(minutes=5)),
        ("1.5h", timedelta(minutes=90)),
        ("7d", timedelta(days=7)),
    ],
)
def test_durations_are_numbers_with_units(text: str, duration: timedelta) -> None:
    assert parse_duration(text) == duration


@pytest.mark.parametrize(
    "value", ["10", "10 s", "-1s", "1w", "s", "", "1h30m", "١s", 10, 1.5, True, None, [], "36501d"]
)
def test_what_is_no_duration_is_refused_with_a_remedy(value: object) -> None:
    with pytest.raises(ValueError, match="write"):
        parse_duration(value)


@given(st.timedeltas(timedelta(0), timedelta(days=36_500)))
def test_a_formatted_duration_reads_as_itself(duration: timedelta) -> None:
    assert parse_duration(format_duration(duration)) == duration


@given(st.integers(0, 36_500), st.sampled_from(["ms", "s", "m", "h", "d"]))
def test_a_duration_is_so_many_of_its_unit(number: int, unit: str) -> None:
    assert parse_duration(f"{number}{unit}") == number * parse_duration(f"1{unit}")


@pytest.mark.parametrize(
    ("value", "size"),
    [("1MB", 10**6), ("1MiB", 2**20), ("100kB", 10**5), ("7", 7), (4096, 4096), ("2 GB", 2 * 10**9)],
)
def test_sizes_are_numbers_with_units(value: object, size: int) -> None:
    assert parse_bytes(value) == size


@pytest.mark.parametrize("value", ["1XB", "0", "-1MB", 0, True, 1.5, None, "MB", "1.5MB"])
def test_what_is_no_size_is_refused_with_a_remedy(value: object) -> None:
    with pytest.raises(ValueError, match="write"):
        parse_bytes(value)
