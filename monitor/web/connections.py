"""What clients may hold of the server: so many connections, for so long, with so much unsent.

uvicorn closes what is idle after an answer, and nothing else: neither a request that never ends nor an
answer that is never taken, nor a TLS handshake that stops halfway.
"""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import suppress

from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST = 256
"""Most connections, those in a TLS handshake included; one with TLS takes .8 MB."""

REQUEST_SECONDS = 30.0
"""How long a connection may go without a complete request."""

ANSWER_SECONDS = 60.0
"""How long a client may take for an answer, counted from its request."""

UNSENT_BYTES = 256 * 2**20
"""Most bytes of answers that wait to be taken, by all clients together."""

PIECE = 2**16
"""Bytes of an answer that are given to the transport at once; it asks to wait when it has as many."""


class Connection:
    """One connection from its acceptance on.

    Attributes
    ----------
    request
        What is being answered, None while there is no complete request.
    since
        When that began.
    unsent
        Bytes of its answer that still wait.
    transport
        None until the TLS handshake is done.
    """

    __slots__ = ("_aborted", "_socket", "request", "since", "transport", "unsent")

    def __init__(self, accepted: socket.socket, now: float) -> None:
        self._socket = accepted
        self._aborted = False
        self.since = now
        self.request: Scope | None = None
        self.unsent = 0
        self.transport: asyncio.WriteTransport | None = None

    @property
    def open(self) -> bool:
        """Whether it is neither closed nor about to be."""
        return not self._aborted and self._socket.fileno() >= 0

    def begin(self, request: Scope | None, now: float) -> None:
        """Answer a request, or wait for one."""
        self.request, self.since, self.unsent = request, now, 0

    def abort(self) -> None:
        """Drop it, with whatever was not sent."""
        self._aborted = True
        self.unsent = 0
        if self.transport is not None:
            self.transport.abort()
        else:
            with suppress(OSError):  # it is gone already
                self._socket.shutdown(socket.SHUT_RDWR)


class Connections:
    """All connections of a server. Used by its event loop alone.

    Parameters
    ----------
    most
        Most connections at once.
    unsent_bytes
        Most bytes that wait to be taken.
    clock
        Monotonic time in seconds.
    """

    def __init__(
        self,
        most: int = MOST,
        unsent_bytes: int = UNSENT_BYTES,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._most = most
        self._unsent_bytes = unsent_bytes
        self._clock = clock
        self._all: set[Connection] = set()

    def __iter__(self) -> Iterator[Connection]:
        """Yield those that are open."""
        self._all = {connection for connection in self._all if connection.open}
        return iter(list(self._all))

    def add(self, accepted: socket.socket) -> Connection:
        """Take in a new one, for which an old one has to go where there are too many."""
        if len(self._all) >= self._most and len(others := list(self)) >= self._most:
            # A probe or a scrape sends its request at once, so it is not the one that waits longest.
            min(others, key=lambda other: (other.request is not None, other.since)).abort()
        connection = Connection(accepted, self._clock())
        self._all.add(connection)
        return connection

    def reap(self) -> None:
        """Drop those that have taken too long."""
        now = self._clock()
        for connection in self:
            limit = REQUEST_SECONDS if connection.request is None else ANSWER_SECONDS
            if now - connection.since > limit:
                connection.abort()

    async def answer(self, app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        """Have the application answer a request of the connection that scope["state"] has."""
        connection: Connection = scope["state"]["connection"]

        async def send_in_pieces(message: Message) -> None:
            body = memoryview(message.get("body", b""))
            if len(body) <= PIECE:
                await send(message)
                return
            self._make_room(connection, len(body))
            for start in range(0, len(body), PIECE):
                more = message.get("more_body", False) or start + PIECE < len(body)
                await send({**message, "body": body[start : start + PIECE], "more_body": more})
                connection.unsent = max(0, connection.unsent - PIECE)

        connection.begin(scope, self._clock())
        try:
            await app(scope, receive, send_in_pieces)
        finally:
            if connection.request is scope:  # a pipelined one may have begun already
                connection.begin(None, self._clock())

    def _make_room(self, connection: Connection, size: int) -> None:
        connection.unsent = size
        holding = sorted((c for c in self if c.unsent), key=lambda c: c.since)
        waiting = sum(c.unsent for c in holding)
        for other in holding:
            if waiting <= self._unsent_bytes or other is connection:
                break
            waiting -= other.unsent
            other.abort()
