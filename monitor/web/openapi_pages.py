"""The description of pages and charts, and of what is asked about the past."""

from __future__ import annotations

from typing import Any

from monitor.web.charts import CHARTS
from monitor.web.schemas import (
    BUSY,
    COUNT,
    ERROR,
    LABELS,
    NO_REPORT,
    NUMBER,
    OPTIONAL_NUMBER,
    TEXT,
    TIME,
    answer,
    header,
    list_of,
    object_of,
    operation,
    query,
)

_COLUMN = list_of(OPTIONAL_NUMBER)
_HISTORY = object_of(
    model=TEXT,
    version=TEXT,
    window=TEXT,
    timestamps={**list_of(NUMBER), "description": "Event times, in seconds since the epoch, increasing."},
    evaluated={**list_of(NUMBER), "description": "When that was evaluated, in seconds since the epoch."},
    labeled={**list_of(COUNT), "description": "Labeled events in the window."},
    metrics=list_of(object_of(name=TEXT, labels=LABELS, value=_COLUMN, lower=_COLUMN, upper=_COLUMN)),
)
_ENTRY = object_of(
    model=TEXT,
    version=TEXT,
    retired=TIME,
    since=TIME,
    last_event=TIME,
    labeled_events=COUNT,
    unlabeled_events=COUNT,
    configuration_fingerprint=TEXT,
)
_REPORT = object_of(
    **_ENTRY["properties"],
    evaluated_at=TIME,
    frontier=TIME,
    confidence_level=NUMBER,
    reports={**list_of({"type": "object"}), "description": "As of /api/v1/report, with segments and curves."},
)
_DISK = header(
    answer("The disk cannot be read; `error` says why. Or too many requests.", ERROR), "Retry-After", COUNT
)

_HTML = {
    "_200": answer("HTML.", TEXT, "text/html"),
    "_404": answer("HTML that names what is known.", TEXT, "text/html"),
    "_503": BUSY,
}


def _page(summary: str, *parameters: str) -> dict[str, Any]:
    return {"get": operation(summary, *map(query, parameters), **_HTML)}


PATHS: dict[str, Any] = {
    "/": _page("The page: all models", "q", "sort", "order", "page", "window", "refresh"),
    "/model": _page(
        "The page of a model", "model", "version", "window", "segment", "class", "matrix", "refresh"
    ),
    "/alerts": _page("The page of alerts and actions", "model", "state", "page", "refresh"),
    "/charts/{name}.svg": {
        "get": operation(
            "A chart; where a parameter is missing, of the first there is",
            {"name": "name", "in": "path", "required": True, "schema": {**TEXT, "enum": list(CHARTS)}},
            *map(query, ("model", "version", "window", "class")),
            _200=answer("SVG with its styles.", TEXT, "image/svg+xml"),
            _404=answer("Nothing to draw, or an unknown name; `known` lists what there is.", ERROR),
            _503=NO_REPORT,
        )
    },
    "/api/v1/history": {
        "get": operation(
            "How the headline metrics of a window went; the older, the fewer points. Null is undefined",
            *(query(name) for name in ("model", "version", "window")),
            _200=answer("Columns of one length, an entry a point.", _HISTORY),
            _400=answer("A parameter is missing that has several values; `known` lists those.", ERROR),
            _404=answer("Nothing matches; `known` lists the names there are.", ERROR),
            _503=NO_REPORT,
        )
    },
    "/api/v1/retired": {
        "get": operation(
            "Model versions that retired; with model and version the last report of that one",
            *(query(name) for name in ("model", "version")),
            _200=answer(
                "What there is, or the report.", {"anyOf": [object_of(retired=list_of(_ENTRY)), _REPORT]}
            ),
            _404=answer("There is no such report; `known` lists the model's versions.", ERROR),
            _503=_DISK,
        )
    },
}
