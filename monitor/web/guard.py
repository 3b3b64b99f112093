"""What every request and every answer goes through: Host, body and token, and headers for browsers."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from monitor.web import body
from monitor.web.refusal import refusal
from monitor.web.token import bears, carries

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
"""Pages run, load and ask nothing from elsewhere and nothing inline, whatever a model may be called."""

PROBES = frozenset({"/livez", "/readyz", "/healthz"})
"""Paths that need no token: whoever restarts the daemon has none, and they show no number of a model."""

CHALLENGE = {"WWW-Authenticate": 'Basic realm="monitor", Bearer'}
"""Makes a browser ask for user name and password."""

ACTS = ("/api/v1/actions/", "/api/v1/silences")
"""How the paths begin that change something, whatever the method."""

FLAGGER = "/gate/flagger/rollback"
"""The path that is asked with a body and changes nothing."""

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

    Whoever acts needs a token of its own, always, and no page of another site can act with it: it is not
    one that browsers send by themselves, and the Content-Type makes them ask us first, in vain.

    Parameters
    ----------
    app
        What to guard.
    allowed_hosts
        Further names, without ports (server.allowed_hosts).
    read_token
        What requests have to carry, other than probes; None: nothing.
    act_token
        What requests have to carry that change something; None: none of them is let through.
    """

    def __init__(
        self,
        app: ASGIApp,
        allowed_hosts: Iterable[str] = (),
        read_token: str | None = None,
        act_token: str | None = None,
    ) -> None:
        self._app = app
        self._allowed = {"localhost", *map(_canonical, allowed_hosts)}
        self._read_token = read_token
        self._act_token = act_token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a foreign Host, a large request, a body where none belongs, and a missing token."""
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
        path = scope["path"]
        acts = path.startswith(ACTS)
        most = body.MAX_BYTES if scope["method"] == "POST" and (acts or path == FLAGGER) else 0
        if not _has_body_up_to(most, headers):
            allowed = f"a body of up to {most} bytes, with its Content-Length," if most else "no body"
            return refusal(413, f"a request has {allowed} here", headers=CLOSE)
        if _size(scope) > MAX_BYTES:
            return refusal(431, f"a request has up to {MAX_BYTES} bytes here", headers=CLOSE)
        return self._act_refusal(scope, headers) if acts else self._read_refusal(scope, headers)

    def _read_refusal(self, scope: Scope, headers: Headers) -> Response | None:
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

    def _act_refusal(self, scope: Scope, headers: Headers) -> Response | None:
        if self._act_token is None:
            return refusal(403, "nobody may act here; server.act_token_file has the token of those who may")
        origin = headers.get("origin")
        if origin is not None and not _is_own(origin, headers.get("host", "")):
            return refusal(403, "pages of other sites may not act here")
        if not bears(headers.get("authorization"), self._act_token):
            error = (
                "this needs the token in server.act_token_file; send it as 'Authorization: Bearer TOKEN'"
                if headers.get("authorization") is None
                else "this is not the act token (it is in the file that server.act_token_file names)"
            )
            return refusal(401, error, headers={"WWW-Authenticate": "Bearer"})
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if scope["method"] == "POST" and kind != "application/json":
            return refusal(415, "what acts has 'Content-Type: application/json'")
        return None

    def _accepts(self, host: str, server: tuple[str, int | None] | None) -> bool:
        if host in self._allowed:
            return True
        try:
            address = ipaddress.ip_address(host)
        except ValueError:
            return False
        return address.is_loopback or (server is not None and host == _canonical(server[0]))


def _has_body_up_to(most: int, headers: Headers) -> bool:
    """Whether a request says that its body has at most so many bytes; without a length it may have any."""
    length = headers.get("content-length", "0")
    plain = length.isdecimal() and len(length) < 10 and "transfer-encoding" not in headers
    return plain and int(length) <= most


def _is_own(origin: str, host: str) -> bool:
    """Whether a page comes from where the request goes; the scheme is that of a proxy, perhaps."""
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and parts.netloc.lower() == host.lower()


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
