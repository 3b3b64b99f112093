"""Lets few requests at a time do what takes long, so that the others are answered meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from monitor.web.refusal import refusal

AT_ONCE = 2
"""Requests that are worked on at once; more would only take the interpreter from each other."""

WAITING = 100
"""Most requests that wait for their turn."""

WAIT_SECONDS = 10.0
"""How long one waits; also Prometheus's own default time-out."""


class Turns:
    """Runs functions in the thread pool, few at a time.

    Parameters
    ----------
    at_once, waiting, wait_seconds
        How many run, how many wait, and how long; whoever cannot have that is asked to come back.
    """

    def __init__(
        self, at_once: int = AT_ONCE, waiting: int = WAITING, wait_seconds: float = WAIT_SECONDS
    ) -> None:
        self._free = asyncio.Semaphore(at_once)
        self._queue = waiting
        self._wait_seconds = wait_seconds

    def __call__(self, answer: Callable[[Request], Response]) -> Callable[[Request], Awaitable[Response]]:
        """Return an endpoint that calls `answer` when it is its turn."""

        async def endpoint(request: Request) -> Response:
            if not await self._turn():
                return refusal(503, "too many requests at once; ask again", headers={"Retry-After": "5"})
            try:
                if await request.is_disconnected():
                    return Response()  # nobody reads it
                return await run_in_threadpool(answer, request)
            finally:
                self._free.release()

        return endpoint

    async def _turn(self) -> bool:
        if self._free.locked() and self._queue <= 0:
            return False
        self._queue -= 1
        try:
            async with asyncio.timeout(self._wait_seconds):
                return await self._free.acquire()
        except TimeoutError:
            return False
        finally:
            self._queue += 1
