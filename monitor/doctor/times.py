"""Times in another unit or zone."""

from __future__ import annotations

from datetime import UTC

import numpy as np
from numpy.typing import NDArray

from monitor.doctor.finding import Finding, Said
from monitor.doctor.observed import Observed, is_number
from monitor.events.times import MILLISECONDS_BELOW, SECONDS_BELOW, microseconds
from monitor.events.values import Refused

_UNITS = {
    "microseconds": 1e-6,
    "nanoseconds": 1e-9,
    "minutes": 60.0,
    "hours": 3600.0,
    "days": 86_400.0,
    "seconds that were divided by 1000": 1e3,
}
"""Units that are not read, in seconds."""

_EARLIEST = 946_684_800.0
"""2000-01-01: nobody's events are older."""

_AHEAD = 86_400.0
_HALF_HOUR = 1800.0
_EXACT = 240.0
"""Seconds that a time may be off from whole half hours, and still be a wrong zone: delays and drift."""


def check_times(seen: Observed) -> Said:
    """Yield in which unit times probably are, and by how many hours they are ahead."""
    rejected = seen.rejected["implausible_timestamp"] + seen.rejected["future_timestamp"]
    sent = [value for value in seen.column("timestamp") if is_number(value)]
    numbers = np.array(sent, dtype=np.float64)
    records = seen.record_us[seen.record_us > 0] / 1e6
    latest = float(np.median(records)) if len(records) else None
    path = seen.path("timestamp")
    if not rejected:
        return
    if len(numbers) and latest is not None:
        unit = unit_of(numbers, latest)
        if unit is not None:
            yield Finding(
                f"{rejected} of {len(seen.sent)} times at {path} are not plausible, such as "
                f"{sent[0]}: they look like {unit} since 1970.",
                "send seconds (1764400000.123), milliseconds (1764400000123) or ISO 8601.",
                explains=frozenset({"implausible_timestamp", "future_timestamp"}),
            )
            return
    ahead = _hours_ahead(seen)
    if ahead is not None:
        yield Finding(
            f"{seen.rejected['future_timestamp']} of {len(seen.sent)} times at {path} are {ahead:g} hours "
            "later than their records: local time seems to be sent as if it were UTC.",
            "send the zone (2026-01-31T12:00:00+02:00) or UTC; for texts without a zone set events.timezone.",
            explains=frozenset({"future_timestamp"}),
        )


def unit_of(numbers: NDArray[np.float64], latest: float) -> str | None:
    """Return the unit that makes times since 1970 plausible, None where the one that is read does.

    Parameters
    ----------
    numbers : float64, shape (n,)
        As sent: seconds below 1e11, milliseconds below 1e14.
    latest
        Seconds since 1970 by the records' own clock.
    """
    value = float(np.median(numbers))

    def plausible(seconds: float) -> bool:
        return _EARLIEST <= seconds <= latest + _AHEAD

    as_read = value if abs(value) < SECONDS_BELOW else value / 1e3
    if plausible(as_read) and abs(value) < MILLISECONDS_BELOW:
        return None
    return next((unit for unit, seconds in _UNITS.items() if plausible(value * seconds)), None)


def _hours_ahead(seen: Observed) -> float | None:
    """Return by how many hours times are ahead of their records, where they are whole half hours."""
    ahead = []
    for sent, record in zip(seen.sent, seen.record_us.tolist(), strict=True):
        value = sent.get("timestamp")
        if record > 0 and (is_number(value) or isinstance(value, str)):
            try:
                ahead.append((microseconds(value, UTC) - record) / 1e6)
            except Refused:
                continue
    if not ahead:
        return None
    seconds = float(np.median(ahead))
    half_hours = round(seconds / _HALF_HOUR)
    exact = abs(seconds - half_hours * _HALF_HOUR) <= _EXACT
    return half_hours / 2 if exact and 1 <= half_hours <= 28 else None
