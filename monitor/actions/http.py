"""One HTTP request that has an end: no redirects, no proxies, a bounded answer, in a bounded time."""

from __future__ import annotations

import http.client
import socket
import ssl
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import urlsplit

MAX_ANSWER = 65_536


class HttpError(Exception):
    """There is no answer, and why."""


class Answer(NamedTuple):
    """Status, reason and at most `MAX_ANSWER` bytes of the body."""

    status: int
    reason: str
    body: bytes


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where requests go.

    Attributes
    ----------
    path
        With the query; it may hold secrets, and is shown nowhere.
    """

    secure: bool
    host: str
    port: int
    path: str = "/"

    def __str__(self) -> str:
        return f"{'https' if self.secure else 'http'}://{self.authority}"

    @property
    def authority(self) -> str:
        """Host and port, as the Host header has them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == (443 if self.secure else 80) else f"{host}:{self.port}"

    @classmethod
    def of(cls, url: str) -> Endpoint:
        """Return what an address names, which the configuration has checked."""
        parts = urlsplit(url)
        secure = parts.scheme == "https"
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        return cls(secure, parts.hostname or "", parts.port or (443 if secure else 80), path)


def verifying_context(ca_file: str | None = None) -> ssl.SSLContext:
    """Return settings that verify certificates: by the system's authorities, or by those in a file alone.

    Raises
    ------
    ValueError
        If the file cannot be used; the message says why.
    """
    try:
        context = ssl.create_default_context(cafile=ca_file)
    except ssl.SSLError:
        raise ValueError(f"{ca_file} holds no certificate as PEM") from None
    except OSError as error:
        raise ValueError(f"{ca_file} cannot be read: {error.strerror}") from None
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context


class Client:
    """Sends requests to one endpoint, one after the other.

    Parameters
    ----------
    timeout
        Seconds for the whole of a request, from the name's resolution to the answer's last byte.
    context
        For TLS; what `verifying_context` gives where None.
    """

    def __init__(self, endpoint: Endpoint, timeout: float, context: ssl.SSLContext | None = None) -> None:
        self._endpoint = endpoint
        self._timeout = timeout
        self._context = (context or verifying_context()) if endpoint.secure else None
        self._closed = threading.Event()
        self._request: _Request | None = None

    def request(self, method: str, path: str, headers: Mapping[str, str], body: bytes = b"") -> Answer:
        """Send a request and return the answer, whatever its status.

        Raises
        ------
        HttpError
            If there is none in time; the message says why.
        """
        whole = {"Host": self._endpoint.authority, "User-Agent": "monitor", **headers}
        current = _Request(self._endpoint, self._context, self._timeout, (method, path, whole, body))
        self._request = current
        if self._closed.is_set():
            raise HttpError("the daemon stops")
        try:
            return current.run()
        finally:
            self._request = None

    def close(self) -> None:
        """Cut off the request that is under way; there is no further one."""
        self._closed.set()
        if (current := self._request) is not None:
            current.cut()


class _Request:
    """One request, in a thread of its own: neither a resolver nor a slow receiver can hold up who waits."""

    def __init__(
        self,
        endpoint: Endpoint,
        context: ssl.SSLContext | None,
        timeout: float,
        what: tuple[str, str, dict[str, str], bytes],
    ) -> None:
        self._endpoint = endpoint
        self._context = context
        self._timeout = timeout
        self._what = what
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._cut = False
        self._socket: socket.socket | None = None
        self._answer: Answer | None = None
        self._error = f"no whole answer within {timeout:g} s"

    def run(self) -> Answer:
        threading.Thread(target=self._exchange, name="action-request", daemon=True).start()
        self._ended.wait(self._timeout)
        with self._lock:
            answer, error = self._answer, self._error
        if answer is None:
            self.cut()
            raise HttpError(f"{self._endpoint}: {error}")
        return answer

    def cut(self) -> None:
        with self._lock:
            self._cut = True
            if self._socket is not None:
                with suppress(OSError):
                    # Not SSLSocket's own, which takes apart what the other thread is reading from.
                    socket.socket.shutdown(self._socket, socket.SHUT_RDWR)
        self._ended.set()

    def _exchange(self) -> None:
        connection = http.client.HTTPConnection(self._endpoint.host, self._endpoint.port)
        try:
            connection.sock = self._connect()
            method, path, headers, body = self._what
            connection.request(method, path, body, headers)
            with connection.getresponse() as response:
                answer = Answer(response.status, response.reason, response.read(MAX_ANSWER))
            with self._lock:
                self._answer = None if self._cut else answer
        except (
            OSError,
            http.client.HTTPException,
            ValueError,
        ) as error:  # ValueError: IDNA
            with self._lock:
                if not self._cut and not isinstance(error, TimeoutError):  # which is what it says already
                    self._error = _words(error)
        finally:
            with self._lock:
                self._socket = None
            connection.close()
            self._ended.set()

    def _connect(self) -> socket.socket:
        address = (self._endpoint.host, self._endpoint.port)
        found = socket.create_connection(address, self._timeout)
        self._keep(found)
        if self._context is None:
            return found
        try:
            secure = self._context.wrap_socket(
                found, server_hostname=self._endpoint.host, do_handshake_on_connect=False
            )
        except BaseException:
            found.close()
            raise
        try:
            self._keep(secure)
            secure.do_handshake()
        except BaseException:
            secure.close()
            raise
        return secure

    def _keep(self, found: socket.socket) -> None:
        """Let `cut` reach a socket; close it where that was called before."""
        with self._lock:
            if self._cut:
                found.close()
                raise TimeoutError
            self._socket = found


def _words(error: Exception) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted: {error.verify_message}"
    if isinstance(error, ssl.SSLError):
        return f"no TLS connection: {error.reason or 'it ended'}"
    if isinstance(error, socket.gaierror):
        return f"the name does not resolve: {error.strerror}"
    if isinstance(error, http.client.RemoteDisconnected):
        return "it closed the connection without an answer"
    if isinstance(error, OSError):
        return error.strerror or str(error) or type(error).__name__
    return f"what answers is no HTTP server ({type(error).__name__})"
