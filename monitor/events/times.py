"""Event times: epoch numbers and ISO 8601 texts as microseconds, and which are plausible."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

from monitor.errors import ConfigurationError
from monitor.events.values import Refused, shown

REFUSED = -(2**63)
"""Stands for the time of an epoch number that `microseconds` refuses."""

SECONDS_BELOW = 1e11
MILLISECONDS_BELOW = 1e14
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_ROUNDS_UP = re.compile(r"[.,]\d{6}[5-9]")


@dataclass(frozen=True, slots=True)
class TimeRules:
    """How event times are read.

    Attributes
    ----------
    zone
        Zone of texts that name none; None refuses them. Of a local time that occurs twice the first
        is meant.
    minimum
        Least plausible time, in microseconds.
    max_future
        How far, in microseconds, an event may lie ahead of its record; None: any distance.
    now
        Clock (microseconds) that takes the place of the record's time in that rule: records of
        files have no time of their own.
    """

    zone: tzinfo | None
    minimum: int
    max_future: int | None
    now: Callable[[], int] | None

    def latest(self, record_ms: NDArray[np.int64]) -> NDArray[np.int64] | int | None:
        """Return the greatest time that an event may have, for each record or for all of them."""
        if self.max_future is None:
            return None
        if self.now is not None:
            return self.now() + self.max_future
        # A record without a time of its own (old message formats) says nothing about the future.
        return np.where(record_ms < 0, -REFUSED - 1, record_ms * 1000 + self.max_future)


def find_zone(name: str | None) -> tzinfo | None:
    """Return the zone of an IANA name.

    Raises
    ------
    ConfigurationError
        If there is none of that name.
    """
    if name is None:
        return None
    if name == "UTC":  # needs no zone database, which small images lack
        return UTC
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, LookupError):
        raise ConfigurationError(
            f"events.timezone: {shown(name)} is not a known zone; use an IANA name such as Europe/Berlin "
            "(on images without a zone database: pip install tzdata)"
        ) from None


def microseconds(value: float | str, zone: tzinfo | None) -> int:
    """Return a timestamp as sent in microseconds since the epoch.

    Parameters
    ----------
    value
        Epoch seconds (below 1e11), epoch milliseconds (below 1e14), or ISO 8601.
    zone
        Zone of a text that names none.

    Raises
    ------
    Refused
        `implausible_timestamp`, `naive_timestamp` or `wrong_type`.
    """
    if isinstance(value, str):
        return _from_iso(value, zone)
    number = float(value)
    if abs(number) >= MILLISECONDS_BELOW:
        raise Refused(
            "implausible_timestamp",
            f"{shown(value)} is too large; send epoch seconds (below 1e11) or milliseconds (below 1e14)",
        )
    return round(number * (1e6 if abs(number) < SECONDS_BELOW else 1e3))


def epoch_microseconds(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return `microseconds` of many epoch numbers, REFUSED where it refuses."""
    size = np.abs(values)
    with np.errstate(over="ignore"):
        scaled = values * np.where(size < SECONDS_BELOW, 1e6, 1e3)
    return np.rint(np.where(size < MILLISECONDS_BELOW, scaled, float(REFUSED))).astype(np.int64)


def _from_iso(text: str, zone: tzinfo | None) -> int:
    try:
        # A bare number would pass as a date without dashes.
        time = None if text.isdecimal() else datetime.fromisoformat(text)
    except ValueError:
        time = None
    if time is None:
        raise Refused(
            "wrong_type",
            f"{shown(text)} is no ISO 8601 time; send 2026-01-31T12:00:00Z, or epoch seconds as a number",
        )
    if time.tzinfo is None:
        if zone is None:
            raise Refused("naive_timestamp", f"{shown(text)} names no zone; set events.timezone")
        time = time.replace(tzinfo=zone)
    try:
        # fromisoformat cuts digits beyond microseconds.
        return (time - _EPOCH) // _MICROSECOND + (1 if _ROUNDS_UP.search(text) else 0)
    except (ValueError, OverflowError):  # local times at the ends of the calendar
        raise Refused("implausible_timestamp", f"{shown(text)} is outside the calendar") from None
