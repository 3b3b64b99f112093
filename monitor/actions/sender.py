"""What carries actions out, and what came of an attempt."""

from __future__ import annotations

from typing import Literal, NamedTuple, Protocol

from monitor.actions.decision import Decision

Result = Literal["done", "retry", "failed", "refused"]

FIRST_RETRY = 1.0
LAST_RETRY = 60.0


class Outcome(NamedTuple):
    """What came of one attempt.

    Attributes
    ----------
    result
        "done"; "retry" where waiting may help; "failed" where it cannot; "refused" where it would be wrong.
    message
        What happened, in words that hold no secret.
    """

    result: Result
    message: str | None = None


class Sender(Protocol):
    """Carries out one action; `send` is called in one thread, `close` in another."""

    def send(self, decision: Decision, now: int) -> Outcome:
        """Make one attempt, which has an end; `now` in microseconds since the epoch."""

    def close(self) -> None:
        """Cut off an attempt that is under way, and make no further one."""


def retry_after(attempts: int, share: float) -> float:
    """Return the seconds until the next attempt.

    Parameters
    ----------
    attempts
        How many there were, at least one.
    share
        From 0 to 1: where between half the wait and the whole of it.
    """
    whole = min(LAST_RETRY, FIRST_RETRY * 2.0 ** min(attempts - 1, 10))
    return whole * (1 + share) / 2
