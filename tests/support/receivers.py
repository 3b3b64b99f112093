"""HTTP receivers on this machine that answer as a test says, byte by byte if need be."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple


class Received(NamedTuple):
    """One request."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


Reply = Callable[[socket.socket, Received], None]


def answer(status: int = 200, body: bytes = b"", *headers: str) -> Reply:
    """Answer every request alike."""

    def reply(client: socket.socket, _: Received) -> None:
        client.sendall(response(status, body, *headers))

    return reply


def hang(client: socket.socket, _: Received) -> None:
    """Say nothing until the other side gives up."""
    client.settimeout(30)
    client.recv(1)


def response(status: int, body: bytes, *headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status} Reason", f"Content-Length: {len(body)}", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


class Receiver:
    """Takes connections one at a time and keeps what was asked.

    Attributes
    ----------
    stopping
        Set when the test is over: replies that wait should end.
    """

    def __init__(self, reply: Reply | None, context: ssl.SSLContext | None = None, port: int = 0) -> None:
        self.requests: list[Received] = []
        self.connections = 0
        self.stopping = threading.Event()
        self.reply = reply
        self._context = context
        self._listener = socket.create_server(("127.0.0.1", port))
        self.port: int = self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        scheme = "http" if self._context is None else "https"
        return f"{scheme}://127.0.0.1:{self.port}"

    def stop(self) -> None:
        self.stopping.set()
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(5)

    def _run(self) -> None:
        while not self.stopping.is_set():
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            with client, suppress(OSError):
                client.settimeout(5)
                self._serve(client)

    def _serve(self, client: socket.socket) -> None:
        if self._context is not None:
            with self._context.wrap_socket(client, server_side=True) as secure:
                self._exchange(secure)
        else:
            self._exchange(client)

    def _exchange(self, client: socket.socket) -> None:
        if self.reply is None:  # hangs
            self.stopping.wait(30)
            return
        request = _read(client)
        if request is not None:
            self.requests.append(request)
            self.reply(client, request)


@contextmanager
def receiving(
    reply: Reply | None = None, context: ssl.SSLContext | None = None, port: int = 0
) -> Iterator[Receiver]:
    """Run a receiver, on any port by default; one without a reply takes connections and never says a word."""
    receiver = Receiver(reply, context, port)
    try:
        yield receiver
    finally:
        receiver.stop()


def _read(client: socket.socket) -> Received | None:
    with client.makefile("rb") as file:
        line = file.readline().decode("latin-1").split()
        if len(line) != 3:
            return None
        headers = {}
        while (header := file.readline()) not in (b"\r\n", b""):
            name, _, value = header.decode("latin-1").partition(":")
            headers[name.lower()] = value.strip()
        return Received(line[0], line[1], headers, file.read(int(headers.get("content-length", 0))))
