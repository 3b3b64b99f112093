"""Which path shows what to people: pages, charts, and the files that they are made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from monitor.report import NotInReportError
from monitor.web.alerts_page import render_alerts
from monitor.web.charts import CHARTS, draw, standalone
from monitor.web.layout import Page
from monitor.web.model_view import render_model
from monitor.web.overview import render_overview
from monitor.web.refusal import not_yet, refusal
from monitor.web.site import Look, Shown
from monitor.web.turns import Turns

FOLDER = Path(__file__).parent

STYLES = sorted((FOLDER / "css").glob("*.css"))
"""Joined to one stylesheet."""

SCRIPTS = {path.name: path for folder in ("js", "vendor") for path in (FOLDER / folder).glob("*.js")}
"""By the name under which they are served."""

SVG_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""A chart on its own carries its styles, and nothing else."""

ASSETS = frozenset({"/style.css", *(f"/{name}" for name in SCRIPTS)})
"""Paths that are not in the API's description."""

Render = Callable[[Shown, Mapping[str, str]], Page]


def page_routes(look: Look, in_turn: Turns) -> list[Route]:
    """Return the paths.

    Parameters
    ----------
    look
        Looks at everything; must not block.
    in_turn
        Runs what encodes much.
    """

    def page(render: Render) -> Callable[[Request], Response]:
        def endpoint(request: Request) -> Response:
            html, status = render(look(), dict(request.query_params))
            return HTMLResponse(html, status)

        return endpoint

    def chart(request: Request) -> Response:
        name, get = request.path_params["name"], request.query_params.get
        shown = look()
        if shown.report is None:
            return not_yet(shown.status)
        if name not in CHARTS:
            return refusal(404, f"no chart {name!r}; there are {', '.join(CHARTS)}", CHARTS)
        try:
            window = shown.report.select(get("model"), get("version"), get("window"))[0]
        except NotInReportError as error:
            return refusal(404, str(error), error.known)
        class_ = get("class", next(iter(window.scored), ""))
        if class_ not in ("", *window.scored):
            return refusal(404, f"no scores of class {class_!r}", window.scored)
        svg = draw(name, window, class_)
        if svg is None:
            return refusal(404, f"nothing to draw: {CHARTS[name].title} is undefined here")
        title = " · ".join(filter(None, (window.model, window.version, window.window, class_)))
        text = standalone(svg, f"{CHARTS[name].title}: {title}")
        return Response(text, media_type="image/svg+xml", headers={"Content-Security-Policy": SVG_POLICY})

    def file(content: bytes, media_type: str) -> Callable[[Request], object]:
        async def endpoint(_: Request) -> Response:
            return Response(content, media_type=media_type)

        return endpoint

    css = b"\n".join(path.read_bytes() for path in STYLES)
    return [
        Route("/", in_turn(page(render_overview))),
        Route("/model", in_turn(page(render_model))),
        Route("/alerts", in_turn(page(render_alerts))),
        Route("/charts/{name}.svg", in_turn(chart)),
        Route("/style.css", file(css, "text/css")),
        *(Route(f"/{name}", file(path.read_bytes(), "text/javascript")) for name, path in SCRIPTS.items()),
    ]
