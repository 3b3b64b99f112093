"""What is answered where there is nothing: JSON, and a page to whom asks with a browser."""

from __future__ import annotations

from collections.abc import Callable

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from monitor.web.html import h
from monitor.web.layout import PATHS, document
from monitor.web.refusal import refusal
from monitor.web.site import Look, Shown

FOR_PROGRAMS = ("/api/", "/gate/", "/-/")
"""How the paths begin that have no page, whoever asks."""


def no_such(look: Look) -> Callable[[Request, Exception], Response]:
    """Return what refuses a path or a method that does not exist; `look` must not block."""

    def refuse(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        path = request.scope["path"]
        if error.status_code == 404 and _wants_page(request) and not path.startswith(FOR_PROGRAMS):
            return HTMLResponse(_page(look(), "../" * (path.count("/") - 1)), 404)
        allowed = (error.headers or {}).get("Allow")
        words = f"only {allowed} here" if allowed else "no such path"
        return refusal(
            error.status_code, f"{words}; /openapi.json describes all there are", headers=error.headers
        )

    return refuse


def _wants_page(request: Request) -> bool:
    return request.method in ("GET", "HEAD") and "text/html" in request.headers.get("accept", "")


def _page(shown: Shown, root: str) -> str:
    return document(
        shown,
        None,
        "Not found",
        {},
        h("h1", "Not found"),
        h(
            "p",
            "There is no page at this address. There are the ",
            h("a", "overview of all models", href=f"{root}{PATHS['overview']}"),
            " and the ",
            h("a", "alerts", href=f"{root}{PATHS['alerts']}"),
            ".",
        ),
        root=root,
    )
