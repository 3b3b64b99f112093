"""The description of the API; a test holds it against the routes."""

from __future__ import annotations

from typing import Any

from monitor import __version__

_TIME = {"type": ["string", "null"], "format": "date-time"}
_TEXT = {"type": "string"}
_COUNT = {"type": "integer", "minimum": 0}
_OPTIONAL_COUNT = {"type": ["integer", "null"], "minimum": 0}


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def _list(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


def _answer(description: str, schema: dict[str, Any], media: str = "application/json") -> dict[str, Any]:
    return {"description": description, "content": {media: {"schema": schema}}}


def _get(summary: str, *names: str, **answers: dict[str, Any]) -> dict[str, Any]:
    """Describe GET with optional query parameters; answers are named `_200` and so on."""
    parameters = [{"name": name, "in": "query", "schema": _TEXT} for name in names]
    responses = {status.lstrip("_"): answer for status, answer in answers.items()}
    return {"get": {"summary": summary, "parameters": parameters, "responses": responses}}


_METRIC = _object(
    name=_TEXT,
    labels={"type": "object", "additionalProperties": _TEXT},
    value={"type": ["number", "null"]},
    undefined={"type": "string", "description": "Why there is no value; absent where there is one."},
    numerator=_OPTIONAL_COUNT,
    denominator=_OPTIONAL_COUNT,
    support=_COUNT,
    intervals=_list(_object(method=_TEXT, lower={"type": "number"}, upper={"type": "number"})),
    resolution_error={"type": "number", "description": "Absent where scores are exact."},
)
_CONFUSION = _object(true=_list(_TEXT), predicted=_list(_TEXT), counts=_list(_list(_COUNT)))
_WINDOW = _object(
    model=_TEXT,
    version=_TEXT,
    window=_TEXT,
    segment=_TEXT,
    classes=_list(_TEXT),
    positive_class={"type": ["string", "null"]},
    threshold={"type": ["number", "null"]},
    complete={"type": "boolean"},
    start=_TIME,
    end=_TIME,
    events=_COUNT,
    labeled=_COUNT,
    confusion=_CONFUSION,
    metrics=_list(_METRIC),
    classification_report=_TEXT,
)
_REPORT = _object(
    evaluated_at=_TIME,
    frontier=_TIME,
    confidence_level={"type": "number"},
    reports=_list(_WINDOW),
)
_VERSION = _object(
    version=_TEXT,
    since=_TIME,
    last_event=_TIME,
    labeled_events=_COUNT,
    unlabeled_events=_COUNT,
    windows=_list(_TEXT),
    segments=_list(_TEXT),
)
_MODELS = _object(models=_list(_object(model=_TEXT, versions=_list(_VERSION))))
_STATE = _object(status=_TEXT, role=_TEXT, reasons=_list(_object(name=_TEXT, reason=_TEXT)))
_ERROR = _object(error=_TEXT, known=_list(_TEXT))

_NO_REPORT = _answer("There is no report: nothing evaluated yet, or not the owner.", _ERROR)

OPENAPI: dict[str, Any] = {
    "openapi": "3.1.0",
    "info": {
        "title": "monitor",
        "version": __version__,
        "description": "Reports of classifiers in production. Read-only; an undefined value has a reason.",
    },
    "paths": {
        "/": _get(
            "The page",
            *("model", "version", "window", "refresh"),
            _200=_answer("HTML.", _TEXT, "text/html"),
            _404=_answer("HTML that names what is known.", _TEXT, "text/html"),
        ),
        "/metrics": _get("Prometheus metrics", _200=_answer("Text or OpenMetrics.", _TEXT, "text/plain")),
        "/livez": _get(
            "Liveness probe",
            _200=_answer("The process works.", _STATE),
            _503=_answer("A restart is needed.", _STATE),
        ),
        "/readyz": _get(
            "Readiness probe",
            _200=_answer("A restored owner or a standby; `role` says which.", _STATE),
            _503=_answer("State is being restored.", _STATE),
        ),
        "/healthz": _get(
            "Health, for people and alerts; not for probes",
            _200=_answer("All is well.", _STATE),
            _503=_answer("Something is wrong; `reasons` says what.", _STATE),
        ),
        "/api/v1/models": _get(
            "Models, versions, windows and segments", _200=_answer("What is known.", _MODELS), _503=_NO_REPORT
        ),
        "/api/v1/report": _get(
            "The newest report. Without a parameter: all models, versions, windows; over all events",
            *("model", "version", "window", "segment"),
            _200=_answer("The windows that match.", _REPORT),
            _404=_answer("Nothing matches; `known` lists the names there are.", _ERROR),
            _503=_NO_REPORT,
        ),
        "/openapi.json": _get("This description", _200=_answer("OpenAPI 3.1.", {"type": "object"})),
    },
}
