"""Ticks of an axis of event times, in UTC. Pure."""

from __future__ import annotations

from datetime import UTC, datetime

from monitor.web.charts.scales import Ticks

SECOND, MINUTE, HOUR, DAY = 1, 60, 3600, 86_400
_STEPS = (
    *(n * SECOND for n in (1, 2, 5, 10, 15, 30)),
    *(n * MINUTE for n in (1, 2, 5, 10, 15, 30)),
    *(n * HOUR for n in (1, 2, 3, 6, 12)),
    *(n * DAY for n in (1, 2, 7, 14, 28, 91, 182, 364)),
)


def time_ticks(first: float, last: float, most: int) -> Ticks:
    """Return times in microseconds between two, in steps that people count in, with their labels."""
    start, end = first / 1e6, last / 1e6
    longest = (end - start) / (364 * DAY)
    step = next((s for s in _STEPS if (end - start) / s <= most), 364 * DAY * (1 + int(longest / most)))
    places = range(int(-(-start // step)), int(end // step) + 1)
    return [(place * step * 1e6, _label(place * step, step)) for place in places]


def day(microseconds: float) -> str:
    """Write the date."""
    return f"{_datetime(microseconds / 1e6):%Y-%m-%d}"


def _label(seconds: int, step: int) -> str:
    at = _datetime(seconds)
    if step >= 91 * DAY:
        return f"{at:%Y-%m}"
    if step >= DAY or seconds % DAY == 0:
        return f"{at.day} {at:%b}"
    return f"{at:%H:%M}" if step >= MINUTE else f"{at:%H:%M:%S}"


def _datetime(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
