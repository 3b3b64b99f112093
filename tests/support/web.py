"""A client of the application with example data, without a network."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

import httpx
from starlette.applications import Starlette

from monitor.exporter import Exporter
from monitor.report import Report
from monitor.status import DaemonStatus
from monitor.web.app import create_app
from monitor.web.openapi import OPENAPI
from monitor.web.pages import ASSETS
from tests.support.reports import HEADLINE, HELPS, example, status

HOSTILE = '<script>alert("1")</script>&\n\x1b[2J\u202e\'"żółć🙂'
"""A name that a message may carry."""

GATE = "/gate/argo?model=fraud"
CHART = "/charts/roc.svg?model=fraud"
NEEDED = {"/gate/argo": GATE, "/charts/{name}.svg": CHART}
"""Paths that do not go without a parameter."""

READ = [*(path for path, of in OPENAPI["paths"].items() if "get" in of), *sorted(ASSETS)]
"""Paths that are asked with GET."""

READABLE = [NEEDED.get(path, path) for path in READ]
"""The same with what they need to answer."""


@dataclass(frozen=True)
class Client:
    """Sends requests to an application in this process.

    (Starlette's TestClient wants a package that no other part of the project needs.)
    """

    app: Starlette
    base_url: str = "http://localhost"

    def request(self, method: str, path: str, **options: Any) -> httpx.Response:
        async def answer() -> httpx.Response:
            transport = httpx.ASGITransport(self.app)
            async with httpx.AsyncClient(transport=transport, base_url=self.base_url) as client:
                return await client.request(method, path, **options)

        return asyncio.run(answer())

    def get(self, path: str, **options: Any) -> httpx.Response:
        return self.request("GET", path, **options)


def app(report: Report | None, state: DaemonStatus | None = None, **options: Any) -> Starlette:
    """Return the application; options are those of `create_app`."""
    current = state or status()
    exporter = Exporter(lambda: current, HELPS, headline=HEADLINE)
    exporter.publish(report)
    return create_app(exporter, lambda: report, lambda: current, **options)


def client(report: Report | None = None, state: DaemonStatus | None = None, **options: Any) -> Client:
    """Return a client; without a report one of the example."""
    return Client(app(example() if report is None else report, state, **options))
