"""Runs the application in a thread of its own."""

from __future__ import annotations

import asyncio
import errno
import resource
import socket
import ssl
import threading
import time
from contextlib import suppress

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from monitor.errors import MonitorError
from monitor.tls import Tls, server_context
from monitor.web.connections import MOST, Connection, Connections

START_SECONDS = 10.0
STOP_SECONDS = 2.0
KEEP_ALIVE_SECONDS = 25
"""After an answer; below what `Connections` gives to a request, so that idle connections end politely."""

HANDSHAKE_SECONDS = 10.0
REAP_SECONDS = 1.0
ACCEPT_AT_ONCE = 32


class Server:
    """An HTTP server.

    Parameters
    ----------
    app
        What to serve.
    host
        Name or address to bind (server.host).
    port
        Port to bind (server.port); 0 takes a free one.
    tls
        Serve HTTPS with this; None serves HTTP.

    Attributes
    ----------
    port : int
        The port that is bound, once `start` has returned.
    """

    def __init__(self, app: ASGIApp, host: str, port: int, tls: Tls | None = None) -> None:
        self.host = host
        self.port = port
        self._app = app
        self._tls = tls
        self._connections = Connections(_most_connections())
        self._config = uvicorn.Config(
            self._answer,
            interface="asgi3",
            log_config=None,
            log_level="error",  # a warning for each bad request would fill the log
            access_log=False,
            lifespan="off",
            ws="none",
            loop="asyncio",
            http=H11Protocol,
            server_header=False,
            proxy_headers=False,
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=1,
        )
        self._uvicorn = uvicorn.Server(self._config)
        self._thread: threading.Thread | None = None

    @property
    def address(self) -> str:
        """Where the page is."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http{'' if self._tls is None else 's'}://{host}:{self.port}/"

    def start(self) -> None:
        """Bind and serve; return once requests are answered.

        Raises
        ------
        MonitorError
            If the address cannot be bound, or a file of `tls` cannot be used.
        """
        context = None if self._tls is None else server_context(self._tls)
        listener = _bind(self.host, self.port)
        self.port = listener.getsockname()[1]
        self._thread = threading.Thread(
            target=lambda: asyncio.run(self._serve(listener, context)), name="http", daemon=True
        )
        self._thread.start()
        deadline = time.monotonic() + START_SECONDS
        while not self._uvicorn.started:
            if not self._thread.is_alive() or time.monotonic() > deadline:
                raise MonitorError(f"the HTTP server on {self.host}:{self.port} did not start; see the log")
            time.sleep(0.005)

    async def _serve(self, listener: socket.socket, context: ssl.SSLContext | None) -> None:
        with listener:
            listener.setblocking(False)
            async with asyncio.TaskGroup() as group:
                others = [group.create_task(self._accept(listener, context)), group.create_task(self._reap())]
                await self._uvicorn.serve([])  # no socket of its own
                for task in others:
                    task.cancel()
        # Answers that slow clients have not taken would keep their connections open.
        for connection in self._connections:
            connection.abort()
        await asyncio.sleep(0)

    async def _accept(self, listener: socket.socket, context: ssl.SSLContext | None) -> None:
        """Take in connections; uvicorn would take any number, and give each a minute for its handshake."""
        loop = asyncio.get_running_loop()
        opening: set[asyncio.Task[None]] = set()

        def take(accepted: socket.socket) -> None:
            task = loop.create_task(self._open(self._connections.add(accepted), accepted, context))
            opening.add(task)
            task.add_done_callback(opening.discard)

        while True:
            try:
                take((await loop.sock_accept(listener))[0])
                # Each turn of the loop waits for the interpreter: others that came meanwhile share this one.
                for _ in range(ACCEPT_AT_ONCE):
                    take(listener.accept()[0])
            except BlockingIOError:
                continue
            except OSError as error:
                if error.errno != errno.ECONNABORTED:  # the process has no descriptor left
                    await asyncio.sleep(0.05)

    async def _open(
        self, connection: Connection, accepted: socket.socket, context: ssl.SSLContext | None
    ) -> None:
        accepted.setblocking(False)
        with suppress(OSError):  # no handshake, or none in time
            connection.transport, _ = await asyncio.get_running_loop().connect_accepted_socket(
                lambda: H11Protocol(
                    config=self._config,
                    server_state=self._uvicorn.server_state,
                    app_state={"connection": connection},
                ),
                accepted,
                ssl=context,
                ssl_handshake_timeout=None if context is None else HANDSHAKE_SECONDS,
            )

    async def _reap(self) -> None:
        while True:
            await asyncio.sleep(REAP_SECONDS)
            self._connections.reap()

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._connections.answer(self._app, scope, receive, send)

    @property
    def alive(self) -> bool:
        """Whether its thread runs."""
        return self._thread is not None and self._thread.is_alive()

    def stop(self) -> None:
        """Stop serving. Open requests get a second; takes 2 s at most."""
        if self._thread is None:
            return
        self._uvicorn.should_exit = True
        self._thread.join(STOP_SECONDS)
        self._uvicorn.force_exit = True


def check_port(host: str, port: int) -> None:
    """See whether an address can be bound, before something that takes long.

    Raises
    ------
    MonitorError
        If it cannot, with the remedy.
    """
    _bind(host, port).close()


def _bind(host: str, port: int) -> socket.socket:
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except (OSError, UnicodeError) as error:  # UnicodeError: what cannot be a name, as with two dots
        reason = getattr(error, "strerror", "no name is written so")
        raise MonitorError(
            f"server.host {host!r} is no address of this machine: {reason}; set server.host"
        ) from None
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(2048)
    except OSError as error:
        listener.close()
        raise MonitorError(_explain(error, host, port)) from None
    return listener


def _explain(error: OSError, host: str, port: int) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"server.port {port} on {host} is taken by another process; stop that one or set server.port"
    if error.errno == errno.EACCES:
        return f"server.port {port} needs rights that this process does not have; set one of 1024 or more"
    if error.errno == errno.EADDRNOTAVAIL:
        return f"server.host {host!r} is no address of this machine; set server.host"
    return f"cannot bind server.host {host!r}, server.port {port}: {error.strerror}"


def _most_connections() -> int:
    """Return how many connections leave enough descriptors for Kafka and files."""
    descriptors, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST if descriptors == resource.RLIM_INFINITY else min(MOST, descriptors // 2)
