"""The HTTP application: one function a path.

Probes are coroutines, so that they answer from the event loop; whatever encodes much is a plain function
that takes its turn in the thread pool. Scrapes have turns of their own.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from monitor.actions.desk import DeskView
from monitor.alerts.view import AlertsView
from monitor.clock import Clock, SystemClock
from monitor.exporter import Exporter
from monitor.presets import Presets
from monitor.report import NotInReportError, Report, WindowReport
from monitor.report_csv import report_csv
from monitor.report_json import model_objects, report_object
from monitor.status import DaemonStatus
from monitor.web.acts import Acts, act_routes
from monitor.web.alerts import alert_routes
from monitor.web.gates import gate_routes
from monitor.web.guard import HEADERS, Guard
from monitor.web.health import Problem, problems, stuck
from monitor.web.history_api import history_routes
from monitor.web.missing import no_such
from monitor.web.openapi import CHOICES, OPENAPI
from monitor.web.pages import page_routes
from monitor.web.refusal import not_yet, refusal
from monitor.web.site import NO_DESK, NothingRetired, Retired, Shown, Tracks
from monitor.web.turns import Turns


def create_app(
    exporter: Exporter,
    report: Callable[[], Report | None],
    status: Callable[[], DaemonStatus],
    allowed_hosts: Iterable[str] = (),
    read_token: str | None = None,
    *,
    alerts: Callable[[], AlertsView] = AlertsView,
    desk: Acts | None = None,
    act_token: str | None = None,
    clock: Clock | None = None,
    tracks: Callable[[], Tracks] = dict,
    retired: Retired | None = None,
    presets: Presets | None = None,
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
    read_token
        What requests have to carry, other than probes; None: nothing.
    alerts
        Returns every alert; must not block.
    desk
        Has the actions, and does what people ask for; None where none is configured.
    act_token
        What requests have to carry that change something; None: none may.
    clock
        From which the durations count that people ask for.
    tracks
        Returns how the headline metrics went; must not block.
    retired
        Has the reports of versions that are gone.
    presets
        What comes first on the pages.
    """
    gone, first = retired or NothingRetired(), presets or Presets()

    def current() -> tuple[Report | None, DaemonStatus]:
        """Return the report only where this instance speaks for the partitions."""
        now = status()
        return (report() if now.role == "owner" else None), now

    def actions() -> DeskView:
        return NO_DESK if desk is None else desk.view()

    def metrics(request: Request) -> Response:
        headers = request.headers
        scrape = exporter.scrape(headers.get("accept", ""), headers.get("accept-encoding", ""))
        return Response(scrape.body, headers=scrape.headers)

    async def livez(request: Request) -> Response:
        now = status()
        return _state(request, now, list(stuck(now)))

    async def readyz(request: Request) -> Response:
        now = status()
        restoring = [] if now.ready else [Problem("state", _restoring(now))]
        return _state(request, now, restoring)

    async def healthz(request: Request) -> Response:
        now = status()
        return _state(request, now, list(problems(now)))

    def models(_: Request) -> Response:
        newest, now = current()
        return not_yet(now) if newest is None else JSONResponse({"models": model_objects(newest)})

    def api_report(request: Request) -> Response:
        newest, now = current()
        if newest is None:
            return not_yet(now)
        get = request.query_params.get
        for name, allowed in CHOICES.items():
            if get(name, allowed[0]) not in allowed:
                return refusal(400, f"{name} is one of {', '.join(allowed)}", allowed)
        try:
            windows = newest.select(get("model"), get("version"), get("window"), get("segment", ""))
        except NotInReportError as error:
            return refusal(404, str(error), error.known)
        if get("format") == "csv":
            return Response(report_csv(windows), media_type="text/csv")
        return Response(_report_json(newest, windows, get("curves") == "true"), media_type="application/json")

    def look() -> Shown:
        newest, now = current()
        owns = now.role == "owner"
        return Shown(
            report=newest,
            status=now,
            alerts=alerts() if owns else AlertsView(),
            actions=actions() if owns else NO_DESK,
            tracks=tracks() if owns else {},
            retired=gone,
            presets=first,
            series_dropped=exporter.series_dropped,
            can_act=act_token is not None and desk is not None,
        )

    async def openapi(_: Request) -> Response:
        return JSONResponse(OPENAPI)

    in_turn, scrapes_in_turn = Turns(), Turns()
    app = Starlette(
        routes=[
            *page_routes(look, in_turn),
            Route("/metrics", scrapes_in_turn(metrics)),
            Route("/livez", livez),
            Route("/readyz", readyz),
            Route("/healthz", healthz),
            Route("/api/v1/models", in_turn(models)),
            Route("/api/v1/report", in_turn(api_report)),
            *history_routes(look, in_turn),
            *alert_routes(alerts, actions, status, in_turn),
            *act_routes(desk, status, clock or SystemClock()),
            *gate_routes(current, alerts),
            Route("/openapi.json", openapi),
        ],
        middleware=[
            Middleware(Guard, allowed_hosts=tuple(allowed_hosts), read_token=read_token, act_token=act_token)
        ],
        exception_handlers={HTTPException: no_such(look), Exception: _failed},
    )
    app.router.redirect_slashes = False
    return app


def _failed(_request: Request, _error: Exception) -> Response:
    """Say no more than that; Starlette hands the error on to the log. The guard does not see this answer."""
    return refusal(500, "this failed; the daemon's log says why", headers=HEADERS)


def _restoring(status: DaemonStatus) -> str:
    why = "" if status.broker_error is None else f", which waits for Kafka: {status.broker_error}"
    return f"the state is being restored{why}"


def _state(request: Request, status: DaemonStatus, found: list[Problem]) -> Response:
    if not request.state.trusted:  # errors name brokers and topics
        found = [Problem(problem.name, "the reason is shown to who sends the token") for problem in found]
    body = {
        "status": "failing" if found else "ok",
        "role": status.role,
        "reasons": [problem._asdict() for problem in found],
    }
    return JSONResponse(body, 503 if found else 200)


def _report_json(report: Report, windows: Sequence[WindowReport], curves: bool) -> str:
    """Encode window by window: json holds the interpreter, hence probes, until a call is done."""
    encode = json.JSONEncoder(allow_nan=False, separators=(",", ":")).encode
    whole = encode(report_object(report, ()))
    each = (encode(report_object(report, [window], curves=curves)["reports"][0]) for window in windows)
    return f"{whole.removesuffix(']}')}{','.join(each)}]}}"
