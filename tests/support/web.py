"""A client of the application with example data, without a network."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

import httpx
import numpy as np
from starlette.applications import Starlette

from monitor.exporter import Exporter
from monitor.history import Metric, Track
from monitor.report import Report
from monitor.status import DaemonStatus
from monitor.web.app import create_app
from monitor.web.openapi import OPENAPI
from monitor.web.pages import ASSETS
from tests.support.reports import HEADLINE, HELPS, NOON, example, status

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


TRACK = Track(
    "fraud",
    "2026-11-01",
    "last_10k",
    (Metric("classifier_recall", (("class", "fraud"),)),),
    times=np.array([NOON - 60_000_000, NOON]),
    evaluated=np.array([NOON - 55_000_000, NOON + 5_000_000]),
    labeled=np.array([9_990, 10_000]),
    values=np.array([[[0.84, 0.78, 0.88]], [[0.83, 0.77, 0.88]]]),
)
"""The past of what the example shows first."""


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
    options.setdefault("tracks", lambda: {TRACK.key: TRACK})
    return create_app(exporter, lambda: report, lambda: current, **options)


def client(report: Report | None = None, state: DaemonStatus | None = None, **options: Any) -> Client:
    """Return a client; without a report one of the example."""
    return Client(app(example() if report is None else report, state, **options))
