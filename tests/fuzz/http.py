"""Requests: every path answers as it is described, whatever query and headers hold."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from functools import cache
from random import Random
from typing import Any
from urllib.parse import unquote

import h11
from starlette.applications import Starlette

from monitor.web.openapi import OPENAPI
from monitor.web.pages import ASSETS
from tests.fuzz.mutation import changed_bytes
from tests.support.reports import empty_window, example, multilabel_window, report, status, window_curves
from tests.support.shown_alerts import VIEW, office
from tests.support.web import HOSTILE, app

ANYWHERE = {200, 400, 401, 403, 404, 405, 409, 413, 415, 431}
"""What any path may answer: as it is, a foreign host, no token, no such path or method, no act, too much."""


TOKEN = "token-of-the-fuzzer"


@cache
def _apps() -> list[Starlette]:
    hostile = replace(multilabel_window(), model=HOSTILE, version=HOSTILE, curves=window_curves(2, 2, 2))
    shown = [example(), report(hostile), report(empty_window()), None]
    return [
        *(app(each) for each in shown),
        app(example(), status(owner=False)),
        app(example(), read_token=TOKEN),
        app(example(), alerts=lambda: VIEW, desk=office().desk, act_token=TOKEN),
    ]


@cache
def _loop() -> asyncio.Runner:
    return asyncio.Runner()


def fuzz_http(data: bytes) -> None:
    """Ask; the first byte chooses what there is to show, then come a line `GET path?query` and headers."""
    application = _apps()[data[0] % len(_apps()) if data else 0]
    request, *lines = data[1:].split(b"\n")
    if not any(line.lower().startswith(b"host:") for line in lines):
        lines.append(b"Host: localhost")
    connection = h11.Connection(h11.SERVER)
    try:
        connection.receive_data(b"\r\n".join([request + b" HTTP/1.1", *lines, b"", b""]))
        parsed = connection.next_event()
    except h11.RemoteProtocolError:
        return  # and so does the server, before the application
    if not isinstance(parsed, h11.Request):
        return
    raw_path, _, query = parsed.target.partition(b"?")
    path = unquote(raw_path.decode("ascii"))
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": parsed.method.decode("ascii"),
        "scheme": "http",
        "path": path,
        "raw_path": raw_path,
        "query_string": query,
        "root_path": "",
        "headers": list(parsed.headers),
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 9464),
    }
    start, body = _loop().run(_ask(application, scope))
    described = OPENAPI["paths"].get(path, {}).get("get", {}).get("responses", {})
    assert str(start["status"]) in described or start["status"] in ANYWHERE
    if dict(start["headers"]).get(b"content-type") == b"application/json":
        json.loads(body, parse_constant=_refuse)


async def _ask(application: Starlette, scope: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    await application(scope, receive, send)
    return sent[0], b"".join(message.get("body", b"") for message in sent)


def _refuse(constant: str) -> None:
    raise AssertionError(f"{constant} is no JSON")


def make_input(rng: Random) -> bytes:
    """Return a request that is described, or one near it."""
    request = _request(rng)
    if rng.random() < 0.5:
        request = changed_bytes(
            rng, request, _request(rng), [*VALUES, *HEADER_VALUES, *b"& = ? / # ; \n".split(b" ")]
        )
    return bytes([rng.randrange(len(_apps()))]) + request


def _request(rng: Random) -> bytes:
    method = rng.choice([b"GET", b"GET", b"GET", b"GET", b"HEAD", b"POST", b"OPTIONS", b""])
    query = b"&".join(rng.choice(PARAMETERS) + b"=" + rng.choice(VALUES) for _ in range(rng.randrange(5)))
    headers = [
        b"\n" + rng.choice(HEADERS) + b":" + rng.choice(HEADER_VALUES) for _ in range(rng.randrange(4))
    ]
    return method + b" " + rng.choice(PATHS) + b"?" + query + b"".join(headers)


PATHS = [path.encode() for path in (*OPENAPI["paths"], *sorted(ASSETS))]
PARAMETERS = sorted(
    {
        p["name"].encode()
        for path in OPENAPI["paths"].values()
        for of in path.values()
        for p in of["parameters"]
    }
)
VALUES = [
    *(b"", b"fraud", b"iris", b"2026-11-01", b"last_10k", b"all", b"region%3Deu", b"csv", b"json", b"true"),
    *(
        b"%",
        b"%zz",
        b"%00",
        b"%ff",
        b"%ed%a0%80",
        b"a" * 5000,
        b"+",
        b"\xff",
        b"[]",
        b"{}",
        b"'",
        b"%0d%0aX: y",
    ),
    *(b"0", b"-1", b"5", b"1e9", b"9" * 5000, b"nan", b"%3Cscript%3E", b"a%3Db%3Dc", b"%F0%9F%99%82"),
]
HEADERS = [
    *(b"host", b"accept", b"accept-encoding", b"authorization", b"content-length", b"transfer-encoding"),
    *(
        b"content-type",
        b"cookie",
        b"origin",
        b"referer",
        b"if-none-match",
        b"connection",
        b"x-forwarded-host",
        b"range",
    ),
]
HEADER_VALUES = [
    *(b"localhost", b"127.0.0.1:9464", b"[::1]:9464", b"[", b"[::1", b":", b"evil.example", b"localhost."),
    *(b"", b"*/*", b"text/html", b"application/openmetrics-text; version=1.0.0", b"application/json"),
    *(b"gzip", b"gzip;q=0", b"identity;q=0, *;q=0", b"br;q=nan, gzip;q=1e999", b";q=x,,;", b"=;,"),
    *(
        b"Bearer " + TOKEN.encode(),
        b"Bearer ",
        b"Basic eDp0b2tlbi1vZi10aGUtZnV6emVy",
        b"Basic =",
        b"Bearer \xff",
        b"Basic x",
        b"bearer  a b",
        b"-1",
        b"9" * 400,
        b"chunked",
        b"bytes=0-1",
    ),
    *(b"a" * 5000, b"\x00", b"\xff", b"text/plain;version="),
]
