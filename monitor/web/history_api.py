"""What is asked about the past: timelines, and the reports of versions that retired."""

from __future__ import annotations

from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from monitor.errors import MonitorError
from monitor.history import Track, Tracks
from monitor.history_json import history_object
from monitor.web.refusal import not_yet, refusal
from monitor.web.site import Look, Retired
from monitor.web.turns import Turns

TRACK = ("model", "version", "window")
"""Query parameters that choose a track."""


def history_routes(look: Look, in_turn: Turns) -> list[Route]:
    """Return the paths.

    Parameters
    ----------
    look
        Looks at everything; must not block.
    in_turn
        Runs what encodes or reads much.
    """

    def history(request: Request) -> Response:
        shown = look()
        if shown.report is None:
            return not_yet(shown.status)
        found = _chosen(shown.tracks, request.query_params)
        return found if isinstance(found, Response) else JSONResponse(history_object(found))

    def retired(request: Request) -> Response:
        try:
            return _retired(look().retired, request.query_params)
        except MonitorError as error:
            return refusal(503, str(error), headers={"Retry-After": "5"})

    return [
        Route("/api/v1/history", in_turn(history)),
        Route("/api/v1/retired", in_turn(retired)),
    ]


def _chosen(tracks: Tracks, query: QueryParams) -> Track | Response:
    """Return the one track that matches; parameters that leave no choice need not be given."""
    found = list(tracks.values())
    for name in TRACK:
        known = sorted({getattr(track, name) for track in found})
        wanted = query.get(name)
        if wanted is None and len(known) > 1:
            return refusal(400, f"{name} is missing; `known` lists what there is", known)
        if wanted is not None:
            found = [track for track in found if getattr(track, name) == wanted]
        if not found:
            return refusal(404, f"nothing is remembered of {name} {wanted or ''!r}", known)
    return found[0]


def _retired(retired: Retired, query: QueryParams) -> Response:
    """Return the report of one version, or what there is."""
    model, version = query.get("model"), query.get("version")
    if model is not None and version is not None:
        if text := retired.text(model, version):
            return Response(text, media_type="application/json")
        known = sorted({name for of, name in retired.names() if of == model})
        return refusal(404, f"no report of a retired version {version!r} of model {model!r}", known)
    entries = retired.entries()
    return JSONResponse(
        {
            "retired": [
                entry
                for entry in entries
                if model in (None, entry["model"]) and version in (None, entry["version"])
            ]
        }
    )
