"""The description of the API; a test holds it against the routes."""

from __future__ import annotations

from typing import Any

from monitor import __version__
from monitor.web.openapi_alerts import ALERT_PATHS
from monitor.web.openapi_pages import PATHS as PAGE_PATHS
from monitor.web.schemas import (
    BUSY,
    COUNT,
    ERROR,
    NO_REPORT,
    NUMBER,
    OPTIONAL_NUMBER,
    OPTIONAL_TEXT,
    TEXT,
    TIME,
    answer,
    list_of,
    object_of,
    operation,
    query,
)

CHOICES = {"format": ["json", "csv"], "curves": ["false", "true"]}
"""Query parameters of the report with the values they can have, the default first."""


def _columns(*names: str) -> dict[str, Any]:
    """Describe columns of numbers of the same length."""
    return object_of(**dict.fromkeys(names, list_of(OPTIONAL_NUMBER)))


def _get(summary: str, *names: str, **answers: dict[str, Any]) -> dict[str, Any]:
    """Describe GET with optional query parameters."""
    schemas = {name: {**TEXT, "enum": values, "default": values[0]} for name, values in CHOICES.items()}
    parameters = [query(name, schemas.get(name, TEXT)) for name in names]
    return {"get": operation(summary, *parameters, **answers)}


def _probe(summary: str, **answers: dict[str, Any]) -> dict[str, Any]:
    """Describe a path that needs no token."""
    described = _get(summary, **answers)
    del described["get"]["responses"]["401"]
    described["get"]["security"] = []
    return described


_METRIC = object_of(
    name=TEXT,
    labels={"type": "object", "additionalProperties": TEXT},
    value=OPTIONAL_NUMBER,
    undefined={"type": "string", "description": "Why there is no value; absent where there is one."},
    numerator={**OPTIONAL_NUMBER, "description": "Of a ratio of counts; expected ones where scores tie."},
    denominator=OPTIONAL_NUMBER,
    support={**COUNT, "description": "Events that the value rests on."},
    low_support={"type": "boolean", "description": "Whether they are too few to judge by."},
    intervals=list_of(object_of(method=TEXT, lower=NUMBER, upper=NUMBER, standard_error=OPTIONAL_NUMBER)),
    no_interval={"type": "string", "description": "Why a value has no interval; absent where it has one."},
    no_bootstrap={"type": "string", "description": "Why resampling gave no bounds, where it was asked for."},
    resolution_error={"type": "number", "description": "Absent where scores are exact."},
    threshold={**OPTIONAL_NUMBER, "description": "From which probability on the class is decided."},
    averaging={**OPTIONAL_TEXT, "description": "Over the classes; null where it is no average of them."},
    start=TIME,
    end=TIME,
)
_CONFUSION = object_of(
    true=list_of(TEXT),
    predicted=list_of(TEXT),
    counts={"type": "array", "description": "True classes in rows; multilabel: a 2 x 2 matrix a class."},
)
_CONFUSION["properties"]["class"] = {**list_of(TEXT), "description": "Of the matrices; multilabel only."}
_RELIABILITY = _columns("events", "mean_probability", "rate", "lower", "upper")
_DECAY = object_of(percent=list_of(COUNT), value=list_of(OPTIONAL_NUMBER), falls={"type": "boolean"})
_BEST = object_of(
    criterion=TEXT,
    threshold=NUMBER,
    value={**OPTIONAL_NUMBER, "description": "Of the criterion, on all events of the window."},
    cross_validated_value={
        **OPTIONAL_NUMBER,
        "description": "Of the threshold that is best on the older half, judged on the newer.",
    },
    own_threshold_value={**OPTIONAL_NUMBER, "description": "Of the model's own threshold there."},
    cross_validated_gain={**OPTIONAL_NUMBER, "description": "How much better the former is."},
)
_CLASS_CURVES = object_of(
    roc=_columns("fpr", "tpr", "threshold"),
    precision_recall=_columns("precision", "recall", "threshold"),
    thresholds=_columns("threshold", "precision", "recall", "f1", "fbeta", "expected_cost"),
    reliability=_RELIABILITY,
    confidence_decay=_DECAY,
    cost_sensitivity=_columns("cost_ratio", "threshold", "cost", "from", "to"),
    best_thresholds=list_of(_BEST),
)
_CLASS_CURVES["properties"]["class"] = TEXT
_TOP_LABEL = {**object_of(reliability=_RELIABILITY, confidence_decay=_DECAY), "type": ["object", "null"]}
_CURVES = {
    **object_of(classes=list_of(_CLASS_CURVES), top_label=_TOP_LABEL),
    "type": ["object", "null"],
    "description": "With curves=true, of windows over all events. Of each scored class.",
}
_RECALIBRATION = {
    "type": "object",
    "additionalProperties": {"type": "object"},
    "description": "With the curves: of scored classes a map that calibrates them, or why there is none.",
}
_WINDOW = object_of(
    model=TEXT,
    version=TEXT,
    window=TEXT,
    segment=TEXT,
    task={"type": "string", "enum": ["binary", "multiclass", "multilabel"]},
    classes=list_of(TEXT),
    positive_class=OPTIONAL_TEXT,
    threshold={**OPTIONAL_NUMBER, "description": "Of a binary model."},
    thresholds={"type": "object", "additionalProperties": NUMBER},
    complete={"type": "boolean"},
    start=TIME,
    end=TIME,
    events=COUNT,
    labeled=COUNT,
    confusion=_CONFUSION,
    metrics=list_of(_METRIC),
    classification_report=TEXT,
    curves=_CURVES,
    recalibration=_RECALIBRATION,
)
_REPORT = object_of(
    evaluated_at=TIME,
    frontier=TIME,
    confidence_level=NUMBER,
    reports=list_of(_WINDOW),
)
_VERSION = object_of(
    version=TEXT,
    since=TIME,
    last_event=TIME,
    labeled_events=COUNT,
    unlabeled_events=COUNT,
    windows=list_of(TEXT),
    segments=list_of(TEXT),
)
_MODELS = object_of(models=list_of(object_of(model=TEXT, versions=list_of(_VERSION))))
_STATE = object_of(status=TEXT, role=TEXT, reasons=list_of(object_of(name=TEXT, reason=TEXT)))


def _report_answer() -> dict[str, Any]:
    found = answer("The windows that match; as CSV one row a value.", _REPORT)
    found["content"]["text/csv"] = {"schema": TEXT}
    return found


def _metrics_answer() -> dict[str, Any]:
    found = answer("Text or OpenMetrics.", TEXT, "text/plain")
    found["content"]["application/openmetrics-text"] = {"schema": TEXT}
    return found


_NEEDED = "The token in server.read_token_file; needed where that is set."
_NEEDED_TO_ACT = "The token in server.act_token_file; without one nobody may act."

OPENAPI: dict[str, Any] = {
    "openapi": "3.1.0",
    "info": {
        "title": "monitor",
        "version": __version__,
        "description": "Classifiers in production: reports, alerts, actions. The undefined has a reason.",
    },
    "security": [{}, {"bearer": []}, {"basic": []}],
    "components": {
        "securitySchemes": {
            "bearer": {"type": "http", "scheme": "bearer", "description": _NEEDED},
            "basic": {"type": "http", "scheme": "basic", "description": f"{_NEEDED} It is the password."},
            "act": {"type": "http", "scheme": "bearer", "description": _NEEDED_TO_ACT},
        }
    },
    "paths": {
        **PAGE_PATHS,
        "/metrics": _get("Prometheus metrics", _200=_metrics_answer(), _503=BUSY),
        "/livez": _probe(
            "Liveness probe",
            _200=answer("The process works.", _STATE),
            _503=answer("A restart is needed.", _STATE),
        ),
        "/readyz": _probe(
            "Readiness probe",
            _200=answer("A restored owner or a standby; `role` says which.", _STATE),
            _503=answer("State is being restored.", _STATE),
        ),
        "/healthz": _probe(
            "Health, for people and alerts; not for probes",
            _200=answer("All is well.", _STATE),
            _503=answer("Something is wrong; `reasons` says what.", _STATE),
        ),
        "/api/v1/models": _get(
            "Models, versions, windows and segments", _200=answer("What is known.", _MODELS), _503=NO_REPORT
        ),
        "/api/v1/report": _get(
            "The newest report. Without a parameter: all models, versions, windows; over all events",
            *("model", "version", "window", "segment", *CHOICES),
            _200=_report_answer(),
            _404=answer("Nothing matches; `known` lists the names there are.", ERROR),
            _503=NO_REPORT,
        ),
        **ALERT_PATHS,
        "/openapi.json": _get("This description", _200=answer("OpenAPI 3.1.", {"type": "object"})),
    },
}
