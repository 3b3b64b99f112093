"""The HTTP application: one function a path.

Probes are coroutines, so that they answer from the event loop; whatever encodes much is a plain function
and runs in the thread pool.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from monitor.exporter import Exporter
from monitor.report import NotInReportError, Report, WindowReport
from monitor.report_csv import report_csv
from monitor.report_json import model_objects, report_object
from monitor.status import DaemonStatus
from monitor.web.guard import Guard
from monitor.web.health import Problem, problems, stuck
from monitor.web.openapi import CHOICES, OPENAPI
from monitor.web.page import render_page

STYLE = Path(__file__).with_name("style.css")
"""Path of the page's stylesheet, the one path that is not in the API's description."""


def create_app(
    exporter: Exporter,
    report: Callable[[], Report | None],
    status: Callable[[], DaemonStatus],
    allowed_hosts: Iterable[str] = (),
) -> Starlette:
    """Return the application.

    Parameters
    ----------
    exporter
        Answers scrapes.
    report
        Returns the newest report, None where there is none. Like `status` it must not block.
    status
        Returns how the daemon is.
    allowed_hosts
        Names under which it may be reached beside those of the loopback interface.
    """

    def current() -> tuple[Report | None, DaemonStatus]:
        """Return the report only where this instance speaks for the partitions."""
        now = status()
        return (report() if now.role == "owner" else None), now

    def metrics(request: Request) -> Response:
        headers = request.headers
        scrape = exporter.scrape(headers.get("accept", ""), headers.get("accept-encoding", ""))
        return Response(scrape.body, headers=scrape.headers)

    async def livez(_: Request) -> Response:
        now = status()
        return _state(now, list(stuck(now)))

    async def readyz(_: Request) -> Response:
        now = status()
        restoring = [] if now.ready else [Problem("state", "the state is being restored")]
        return _state(now, restoring)

    async def healthz(_: Request) -> Response:
        now = status()
        return _state(now, list(problems(now)))

    def models(_: Request) -> Response:
        newest, now = current()
        return _no_report(now) if newest is None else JSONResponse({"models": model_objects(newest)})

    def api_report(request: Request) -> Response:
        newest, now = current()
        if newest is None:
            return _no_report(now)
        get = request.query_params.get
        for name, allowed in CHOICES.items():
            if get(name, allowed[0]) not in allowed:
                return JSONResponse(
                    {"error": f"{name} is one of {', '.join(allowed)}", "known": allowed}, 400
                )
        try:
            windows = newest.select(get("model"), get("version"), get("window"), get("segment", ""))
        except NotInReportError as error:
            return JSONResponse({"error": str(error), "known": error.known}, 404)
        if get("format") == "csv":
            return Response(report_csv(windows), media_type="text/csv")
        return JSONResponse(report_object(newest, windows, curves=get("curves") == "true"))

    def page(request: Request) -> Response:
        newest, now = current()
        names = ("model", "version", "window", "refresh")
        query = {name: request.query_params[name] for name in names if name in request.query_params}
        windows: tuple[WindowReport, ...] = ()
        missing = None
        if newest is not None and newest.windows:
            query.setdefault("window", newest.windows[0].window)
            try:
                windows = newest.select(query.get("model"), query.get("version"), query["window"], None)
            except NotInReportError as error:
                missing = str(error)
        html = render_page(newest, windows, now, exporter.series_dropped, query, missing)
        return HTMLResponse(html, 404 if missing else 200)

    async def style(_: Request) -> Response:
        return Response(css, media_type="text/css")

    async def openapi(_: Request) -> Response:
        return JSONResponse(OPENAPI)

    css = STYLE.read_bytes()
    return Starlette(
        routes=[
            Route("/", page),
            Route("/style.css", style),
            Route("/metrics", metrics),
            Route("/livez", livez),
            Route("/readyz", readyz),
            Route("/healthz", healthz),
            Route("/api/v1/models", models),
            Route("/api/v1/report", api_report),
            Route("/openapi.json", openapi),
        ],
        middleware=[Middleware(Guard, allowed_hosts=tuple(allowed_hosts))],
    )


def _state(status: DaemonStatus, found: list[Problem]) -> Response:
    body = {
        "status": "failing" if found else "ok",
        "role": status.role,
        "reasons": [problem._asdict() for problem in found],
    }
    return JSONResponse(body, 503 if found else 200)


def _no_report(status: DaemonStatus) -> Response:
    why = {
        "restoring": "the state is being restored",
        "standby": "this instance is a standby: ask the owner",
        "owner": "nothing has been evaluated yet",
    }
    return JSONResponse({"error": why[status.role], "known": []}, 503)
