"""A deployment system's side of a rollback: checks who asks, and does it once.

Written from docs/actions.md alone: it shares no code with what signs and sends.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import threading
import time
from collections.abc import Callable, Container, Mapping
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any, NamedTuple

from monitor.demo.configuration import HOST

PATH = "/rollback"
MAX_SKEW_SECONDS = 300
MAX_BODY_BYTES = 65_536
READ_SECONDS = 5.0


class Rollback(NamedTuple):
    """A rollback that was carried out. `at`: in seconds since the epoch."""

    at: float
    alert: str
    bad_version: str
    target_version: str


def accept(
    headers: Mapping[str, str], body: bytes, secret: str, known_keys: Container[str], now: datetime
) -> dict[str, Any] | None:
    """Return what is to be done, None where it was done already.

    Raises
    ------
    ValueError
        If it must not be done.
    """
    timestamp = headers["X-Monitor-Timestamp"]
    signed = timestamp.encode() + b"." + body
    expected = "v1=" + hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()
    if not hmac.compare_digest(expected, headers["X-Monitor-Signature"]):
        raise ValueError("not signed with our secret")
    if abs(now.timestamp() - int(timestamp)) > MAX_SKEW_SECONDS:
        raise ValueError("an old request, sent again by somebody else")
    order: dict[str, Any] = json.loads(body)
    if datetime.fromisoformat(order["expires_at"].replace("Z", "+00:00")) < now:
        raise ValueError("too late")
    return None if order["idempotency_key"] in known_keys else order


class Hook:
    """Receives rollbacks on a free port of the loopback address while a block runs.

    Parameters
    ----------
    secret
        What requests are signed with.
    switch
        Moves traffic, given model, bad version and version to go back to; raises a ValueError where it
        cannot.

    Attributes
    ----------
    done
        The newest rollback that was carried out; None before.
    refusal
        Why the newest request that was refused was; None before.
    """

    def __init__(self, secret: str, switch: Callable[[str, str, str | None], None]) -> None:
        self.done: Rollback | None = None
        self.refusal: str | None = None
        self._secret = secret
        self._switch = switch
        self._keys: set[str] = set()
        self._server = HTTPServer((HOST, 0), _handler(self._receive))
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.1,), name="hook", daemon=True
        )

    @property
    def url(self) -> str:
        """Where rollbacks are sent to."""
        return f"http://{HOST}:{self._server.server_port}{PATH}"

    def __enter__(self) -> Hook:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def _receive(self, headers: Mapping[str, str], body: bytes) -> int:
        """Do what is asked for, if it has to be; return the status of the answer."""
        try:
            order = accept(headers, body, self._secret, self._keys, datetime.now(UTC))
            if order is not None:
                self._carry_out(order)
        except (ValueError, LookupError, TypeError, AttributeError) as error:  # nothing is taken on trust
            self.refusal = f"{type(error).__name__}: {error}"
            return 400
        return 200

    def _carry_out(self, order: Mapping[str, Any]) -> None:
        bad, target = order["bad_version"], order["target_version"]
        self._switch(order["model"], bad, target)
        self._keys.add(order["idempotency_key"])
        self.done = Rollback(time.time(), order["alert"]["alert"], bad, target)


def _handler(receive: Callable[[Mapping[str, str], bytes], int]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        timeout = READ_SECONDS

        def do_POST(self) -> None:
            length = int(self.headers.get("Content-Length", 0))
            known = self.path == PATH and length <= MAX_BODY_BYTES
            status = receive(dict(self.headers), self.rfile.read(length)) if known else 404
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    return Handler
