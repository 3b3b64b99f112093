"""A server of the page's parts with data that a test changes: for tests of the script in a browser."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from monitor.alerts.view import AlertsView
from monitor.web.acts import act_routes
from monitor.web.alerts_page import render_alerts
from monitor.web.guard import Guard
from monitor.web.html import Html, h
from monitor.web.layout import document
from monitor.web.pages import FOLDER, SCRIPTS, STYLES
from monitor.web.server import Server
from tests.support.desks import Office
from tests.support.shown import shown
from tests.support.shown_alerts import VIEW, office

TOKEN = "a-token-to-act-with"


@dataclass
class Stage:
    """What is served at this moment.

    Attributes
    ----------
    url
        Where.
    main
        What is in the middle of /page.
    history
        What /api/v1/history answers.
    status
        Of /page.
    alerts
        Counted at the top of /page.
    office
        Its desk decides what /alerts shows and what acts do.
    """

    url: str = ""
    main: tuple[Html, ...] = ()
    history: dict[str, Any] = field(default_factory=dict)
    status: int = 200
    alerts: AlertsView = field(default_factory=AlertsView)
    office: Office = field(default_factory=office)

    def reset(self) -> None:
        self.main, self.history, self.status = (), {}, 200
        self.alerts, self.office = AlertsView(), office()


@contextmanager
def staged() -> Iterator[Stage]:
    """Serve a stage until the block is left."""
    stage = Stage()

    def page(request: Request) -> Response:
        html = document(shown(alerts=stage.alerts), "model", "Page", dict(request.query_params), *stage.main)
        return HTMLResponse(html, stage.status)

    def alerts(request: Request) -> Response:
        now = shown(alerts=VIEW, actions=stage.office.desk.view(), can_act=True)
        return HTMLResponse(render_alerts(now, dict(request.query_params)).html)

    class Acts:
        """Those of the stage's desk, which tests replace."""

        def __getattr__(self, name: str) -> Any:
            return getattr(stage.office.desk, name)

    app = Starlette(
        routes=[
            Route("/page", page),
            Route("/alerts", alerts),
            Route("/api/v1/history", lambda _: JSONResponse(stage.history)),
            Route("/style.css", lambda _: Response(_css(), media_type="text/css")),
            *(Route(f"/{name}", _script(name)) for name in SCRIPTS),
            *act_routes(Acts(), lambda: shown().status, stage.office.clock),
        ],
        middleware=[Middleware(Guard, act_token=TOKEN)],
    )
    server = Server(app, "127.0.0.1", 0)
    server.start()
    stage.url = f"http://127.0.0.1:{server.port}"
    try:
        yield stage
    finally:
        server.stop()


def figure(id: str = "timeline-0", **attributes: str) -> Html:
    """Return a timeline as the page of a model has it, of a picture of 640 by 200."""
    svg = h("svg", h("title", "Recall"), viewBox="0 0 640 200", class_="chart timeline", role="img")
    defaults = {
        "data_history": "api/v1/history?model=fraud",
        "data_family": "classifier_recall",
        "data_labels": "class=fraud",
    }
    return h("figure", h("figcaption", "Recall"), svg, class_="timeline", id=id, **{**defaults, **attributes})


def history(*values: float | None, **labels: str) -> dict[str, Any]:
    """Return a history of one metric, a value a minute, with intervals around."""
    return {
        "timestamps": [1_764_417_600 + 60 * place for place in range(len(values))],
        "labeled": [100 * (1 + place) for place in range(len(values))],
        "metrics": [
            {
                "name": "classifier_recall",
                "labels": labels or {"class": "fraud"},
                "value": list(values),
                "lower": [None if each is None else each - 0.05 for each in values],
                "upper": [None if each is None else each + 0.05 for each in values],
            }
        ],
    }


def _css() -> bytes:
    return b"\n".join(path.read_bytes() for path in STYLES)


def _script(name: str) -> Any:
    content = (FOLDER / SCRIPTS[name]).read_bytes()
    return lambda _: Response(content, media_type="text/javascript")
