"""How long a missing broker or topic is waited for, and how often one says so."""

from __future__ import annotations

import logging

from monitor.clock import Clock
from monitor.errors import SourceError

logger = logging.getLogger(__name__)

LONGEST_PAUSE = 30.0
"""Seconds between two attempts, at most."""


class Patience:
    """Doubling pauses between attempts, one log line a problem, an error when time is up.

    Parameters
    ----------
    give_up_after
        Seconds from the first failure to the error.
    clock
        Where time comes from.

    Attributes
    ----------
    problem
        What is being waited for, in words; None while all is well.
    """

    def __init__(self, give_up_after: float, clock: Clock) -> None:
        self.problem: str | None = None
        self._give_up_after = give_up_after
        self._clock = clock
        self._since = 0.0
        self._next = 0.0
        self._pause = 0.0

    def remaining(self) -> float:
        """Return the seconds until the next attempt is due; 0 where it is."""
        return max(0.0, self._next - self._clock.monotonic()) if self.problem else 0.0

    def failed(self, problem: str) -> None:
        """Note a failed attempt.

        Raises
        ------
        SourceError
            Where the wait has lasted for `give_up_after`.
        """
        now = self._clock.monotonic()
        if self.problem is None:
            self._since, self._pause = now, 0.5
        waited = now - self._since
        if waited >= self._give_up_after:
            given_up = f" (given up after {waited:.0f} s: kafka.give_up_after)" if waited >= 1 else ""
            raise SourceError(problem + given_up)
        if problem != self.problem:
            logger.warning("%s; trying again for %.0f s", problem, self._give_up_after - waited)
        self.problem = problem
        self._pause = min(2 * self._pause, LONGEST_PAUSE)
        self._next = now + min(self._pause, self._give_up_after - waited)

    def succeeded(self) -> None:
        """Note that the wait is over."""
        if self.problem is not None:
            logger.info("no longer: %s", self.problem)
        self.problem = None
