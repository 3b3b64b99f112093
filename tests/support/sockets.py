"""Clients that speak to a server byte by byte, as well-behaved ones never do."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

SECONDS = 20.0


class Answer(NamedTuple):
    """What came back."""

    status: int
    headers: dict[str, str]
    body: bytes


def request(path: str | bytes, *headers: str, method: str = "GET", host: str = "localhost") -> bytes:
    """Return a request; nothing in it is checked."""
    target = path if isinstance(path, bytes) else path.encode()
    lines = [f"Host: {host}", *headers, "", ""]
    return method.encode() + b" " + target + b" HTTP/1.1\r\n" + "\r\n".join(lines).encode()


@contextmanager
def connected(
    port: int, context: ssl.SSLContext | None = None, receive_buffer: int | None = None
) -> Iterator[socket.socket]:
    """Connect to this machine; with TLS where a context is given."""
    raw = socket.socket()
    raw.settimeout(SECONDS)
    if receive_buffer is not None:
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    with raw:
        raw.connect(("127.0.0.1", port))
        if context is None:
            yield raw
        else:
            with context.wrap_socket(raw, server_hostname="localhost") as wrapped:
                yield wrapped


def read_answer(client: socket.socket) -> Answer | None:
    """Return the next answer, which says how long it is; None if the connection ends without one."""
    with client.makefile("rb") as file:
        try:
            line = file.readline()
            if not line:
                return None
            headers = {}
            while (header := file.readline()) not in (b"\r\n", b""):
                name, _, value = header.decode("latin-1").partition(":")
                headers[name.lower()] = value.strip()
            length = headers.get("content-length")
            body = file.read() if length is None else file.read(int(length))
            return Answer(int(line.split()[1]), headers, body)
        except ConnectionError:
            return None


def ask(
    port: int, path: str | bytes, *headers: str, context: ssl.SSLContext | None = None, **options: str
) -> Answer | None:
    """Send one request and return its answer."""
    with connected(port, context) as client:
        client.sendall(request(path, *headers, "Connection: close", **options))
        return read_answer(client)


def ended(client: socket.socket) -> bool:
    """Read until the other end closes; False if it does not in time."""
    try:
        while client.recv(65536):
            pass
    except TimeoutError:
        return False
    except OSError:
        pass
    return True
