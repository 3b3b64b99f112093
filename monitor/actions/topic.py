"""A message on a control topic."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from monitor.actions.decision import Decision
from monitor.actions.sender import Outcome
from monitor.actions.webhook import body_of
from monitor.errors import MonitorError

Post = Callable[[bytes, bytes, Sequence[tuple[str, bytes]]], None]
"""Writes key, value and headers to the topic; returns once the brokers have them, or raises MonitorError."""


class TopicMessage:
    """Sends decisions as messages whose key is the model.

    Parameters
    ----------
    post
        What writes.
    close
        What ends writing.
    """

    def __init__(self, post: Post, close: Callable[[], None]) -> None:
        self._post = post
        self._close = close

    def send(self, decision: Decision, now: int) -> Outcome:
        """Make one attempt."""
        headers = [("idempotency-key", decision.idempotency_key.encode())]
        try:
            self._post(decision.model.encode(), body_of(decision), headers)
        except MonitorError as error:
            return Outcome("retry", str(error))
        return Outcome("done")

    def close(self) -> None:
        """Cut off an attempt that is under way, and make no further one."""
        self._close()
