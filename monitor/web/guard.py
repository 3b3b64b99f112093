"""What every request and every answer goes through: Host, body and token, and headers for browsers."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from monitor.web.refusal import refusal
from monitor.web.token import carries

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; img-src data:; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
"""The page runs no script and loads nothing from elsewhere, whatever a model may be called."""

PROBES = frozenset({"/livez", "/readyz", "/healthz"})
"""Paths that need no token: whoever restarts the daemon has none, and they show no number of a model."""

CHALLENGE = {"WWW-Authenticate": 'Basic realm="monitor", Bearer'}
"""Makes a browser ask for user name and password."""


CLOSE = {"Connection": "close"}

MAX_BYTES = 2**14
"""Largest request: what uvicorn keeps of one that is not complete; a whole one it takes at any size."""


class Guard:
    """ASGI middleware.

    A page of another site can make its own name resolve to this machine and then read what we serve
    (DNS rebinding). Its requests carry that name in Host, so Host must be a name of the loopback
    interface, the address that the client did connect to, or one that the configuration allows.

    What it lets through has `trusted` in its state: whether the request carries the token, or none is
    needed.

    Parameters
    ----------
    app
        What to guard.
    allowed_hosts
        Further names, without ports (server.allowed_hosts).
    read_token
        What requests have to carry, other than probes; None: nothing.
    """

    def __init__(
        self, app: ASGIApp, allowed_hosts: Iterable[str] = (), read_token: str | None = None
    ) -> None:
        self._app = app
        self._allowed = {"localhost", *map(_canonical, allowed_hosts)}
        self._read_token = read_token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a foreign Host, a large request or one with a body, and a missing token."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await (self._refusal(scope) or self._app)(scope, receive, send_with_headers)

    def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if not self._accepts(_canonical(host), scope.get("server")):
            remedy = "add its name to server.allowed_hosts if it should be"
            return refusal(400, f"host {host[:100]!r} is not served here; {remedy}")
        if headers.get("content-length", "0") != "0" or "transfer-encoding" in headers:
            return refusal(413, "a request has no body here", headers=CLOSE)
        if _size(scope) > MAX_BYTES:
            return refusal(431, f"a request has up to {MAX_BYTES} bytes here", headers=CLOSE)
        authorization = headers.get("authorization")
        trusted = self._read_token is None or carries(authorization, self._read_token)
        scope.setdefault("state", {})["trusted"] = trusted
        if trusted or scope["path"] in PROBES:
            return None
        error = (
            "this needs the token in server.read_token_file; send it as 'Authorization: Bearer TOKEN', or "
            "as the password of any user"
            if authorization is None
            else "what Authorization carries is not the token in server.read_token_file"
        )
        return refusal(401, error, headers=CHALLENGE)

    def _accepts(self, host: str, server: tuple[str, int | None] | None) -> bool:
        if host in self._allowed:
            return True
        try:
            address = ipaddress.ip_address(host)
        except ValueError:
            return False
        return address.is_loopback or (server is not None and host == _canonical(server[0]))


def _size(scope: Scope) -> int:
    headers = sum(len(name) + len(value) for name, value in scope["headers"])
    return headers + len(scope["path"]) + len(scope["query_string"])


def _canonical(host: str) -> str:
    """Return a Host's name in lower case, without port, brackets and the root's dot."""
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    if host.count(":") > 1:
        return host.lower()  # an IPv6 address as configurations and sockets write it
    return host.partition(":")[0].lower().removesuffix(".")
