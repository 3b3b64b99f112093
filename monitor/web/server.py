"""Runs the application in a thread of its own."""

from __future__ import annotations

import asyncio
import errno
import socket
import threading
import time

import uvicorn
from starlette.types import ASGIApp

from monitor.errors import MonitorError

START_SECONDS = 10.0
STOP_SECONDS = 2.0


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

    Attributes
    ----------
    port : int
        The port that is bound, once `start` has returned.
    """

    def __init__(self, app: ASGIApp, host: str, port: int) -> None:
        self.host = host
        self.port = port
        self._uvicorn = uvicorn.Server(
            uvicorn.Config(
                app,
                log_config=None,
                log_level="warning",
                access_log=False,
                lifespan="off",
                ws="none",
                loop="asyncio",
                http="h11",
                server_header=False,
                timeout_keep_alive=30,
                timeout_graceful_shutdown=1,
            )
        )
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Bind and serve; return once requests are answered.

        Raises
        ------
        MonitorError
            If the address cannot be bound.
        """
        listener = _bind(self.host, self.port)
        self.port = listener.getsockname()[1]
        self._thread = threading.Thread(
            target=lambda: asyncio.run(self._serve(listener)), name="http", daemon=True
        )
        self._thread.start()
        deadline = time.monotonic() + START_SECONDS
        while not self._uvicorn.started:
            if not self._thread.is_alive() or time.monotonic() > deadline:
                raise MonitorError(f"the HTTP server on {self.host}:{self.port} did not start; see the log")
            time.sleep(0.005)

    async def _serve(self, listener: socket.socket) -> None:
        await self._uvicorn.serve([listener])
        # Answers that slow clients have not taken would keep their connections open.
        for connection in list(self._uvicorn.server_state.connections):
            if connection.transport is not None:
                connection.transport.abort()
        await asyncio.sleep(0)

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


def _bind(host: str, port: int) -> socket.socket:
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except OSError as error:
        raise MonitorError(f"server.host {host!r} is no address of this machine: {error.strerror}") from None
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
