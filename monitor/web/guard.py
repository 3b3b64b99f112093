"""What every request and every answer goes through: the Host check, and headers for browsers."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; img-src data:; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
"""The page runs no script and loads nothing from elsewhere, whatever a model may be called."""


class Guard:
    """ASGI middleware.

    A page of another site can make its own name resolve to this machine and then read what we serve
    (DNS rebinding). Its requests carry that name in Host, so Host must be a name of the loopback
    interface, the address that the client did connect to, or one that the configuration allows.

    Parameters
    ----------
    app
        What to guard.
    allowed_hosts
        Further names, without ports (server.allowed_hosts).
    """

    def __init__(self, app: ASGIApp, allowed_hosts: Iterable[str] = ()) -> None:
        self._app = app
        self._allowed = {"localhost", *map(_canonical, allowed_hosts)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 400 to a foreign Host; let anything else through."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        host = Headers(scope=scope).get("host", "")
        if self._accepts(_canonical(host), scope.get("server")):
            await self._app(scope, receive, send_with_headers)
            return
        error = f"host {host!r} is not served here; add its name to server.allowed_hosts if it should be"
        await JSONResponse({"error": error}, 400)(scope, receive, send_with_headers)

    def _accepts(self, host: str, server: tuple[str, int | None] | None) -> bool:
        if host in self._allowed:
            return True
        try:
            address = ipaddress.ip_address(host)
        except ValueError:
            return False
        return address.is_loopback or (server is not None and host == _canonical(server[0]))


def _canonical(host: str) -> str:
    """Return a Host's name in lower case, without port, brackets and the root's dot."""
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    if host.count(":") > 1:
        return host.lower()  # an IPv6 address as configurations and sockets write it
    return host.partition(":")[0].lower().removesuffix(".")
