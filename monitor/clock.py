"""Time as an object, so that tests can move it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Protocol


class Clock(Protocol):
    """A source of wall-clock and monotonic time."""

    def now(self) -> int:
        """Wall-clock time in microseconds since the epoch, UTC."""

    def monotonic(self) -> float:
        """Seconds on a clock that never goes back; only differences mean anything."""


class SystemClock:
    """The clocks of this machine."""

    def now(self) -> int:
        """Wall-clock time in microseconds since the epoch, UTC."""
        return time.time_ns() // 1000

    def monotonic(self) -> float:
        """Seconds on a clock that never goes back."""
        return time.monotonic()


@dataclass
class ManualClock:
    """A clock that stands still until it is told otherwise."""

    microseconds: int = 1_764_400_000_000_000

    def now(self) -> int:
        """Wall-clock time in microseconds since the epoch, UTC."""
        return self.microseconds

    def monotonic(self) -> float:
        """Seconds on a clock that never goes back."""
        return self.microseconds / 1e6

    def advance(self, seconds: float) -> None:
        """Move both clocks forward by `seconds`."""
        self.microseconds += round(seconds * 1e6)
