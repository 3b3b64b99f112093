"""The description of the API; a test holds it against the routes."""

from __future__ import annotations

from typing import Any

from monitor import __version__

_TIME = {"type": ["string", "null"], "format": "date-time"}
_TEXT = {"type": "string"}
_COUNT = {"type": "integer", "minimum": 0}
_NUMBER = {"type": "number"}
_OPTIONAL_TEXT = {"type": ["string", "null"]}
_OPTIONAL_NUMBER = {"type": ["number", "null"]}

CHOICES = {"format": ["json", "csv"], "curves": ["false", "true"]}
"""Query parameters of the report with the values they can have, the default first."""


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def _list(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


def _columns(*names: str) -> dict[str, Any]:
    """Describe columns of numbers of the same length."""
    return _object(**dict.fromkeys(names, _list(_OPTIONAL_NUMBER)))


def _answer(description: str, schema: dict[str, Any], media: str = "application/json") -> dict[str, Any]:
    return {"description": description, "content": {media: {"schema": schema}}}


def _header(answer: dict[str, Any], name: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {**answer, "headers": {name: {"schema": schema}}}


def _get(summary: str, *names: str, **answers: dict[str, Any]) -> dict[str, Any]:
    """Describe GET with optional query parameters; answers are named `_200` and so on."""
    schemas = {name: {**_TEXT, "enum": values, "default": values[0]} for name, values in CHOICES.items()}
    parameters = [{"name": name, "in": "query", "schema": schemas.get(name, _TEXT)} for name in names]
    responses = {status.lstrip("_"): answer for status, answer in (_ANYWHERE | answers).items()}
    return {"get": {"summary": summary, "parameters": parameters, "responses": responses}}


def _probe(summary: str, **answers: dict[str, Any]) -> dict[str, Any]:
    """Describe a path that needs no token."""
    described = _get(summary, **answers)
    del described["get"]["responses"]["401"]
    described["get"]["security"] = []
    return described


_METRIC = _object(
    name=_TEXT,
    labels={"type": "object", "additionalProperties": _TEXT},
    value=_OPTIONAL_NUMBER,
    undefined={"type": "string", "description": "Why there is no value; absent where there is one."},
    numerator={**_OPTIONAL_NUMBER, "description": "Of a ratio of counts; expected ones where scores tie."},
    denominator=_OPTIONAL_NUMBER,
    support={**_COUNT, "description": "Events that the value rests on."},
    low_support={"type": "boolean", "description": "Whether they are too few to judge by."},
    intervals=_list(_object(method=_TEXT, lower=_NUMBER, upper=_NUMBER, standard_error=_OPTIONAL_NUMBER)),
    no_interval={"type": "string", "description": "Why a value has no interval; absent where it has one."},
    no_bootstrap={"type": "string", "description": "Why resampling gave no bounds, where it was asked for."},
    resolution_error={"type": "number", "description": "Absent where scores are exact."},
    threshold={**_OPTIONAL_NUMBER, "description": "From which probability on the class is decided."},
    averaging={**_OPTIONAL_TEXT, "description": "Over the classes; null where it is no average of them."},
    start=_TIME,
    end=_TIME,
)
_CONFUSION = _object(
    true=_list(_TEXT),
    predicted=_list(_TEXT),
    counts={"type": "array", "description": "True classes in rows; multilabel: a 2 x 2 matrix a class."},
)
_CONFUSION["properties"]["class"] = {**_list(_TEXT), "description": "Of the matrices; multilabel only."}
_RELIABILITY = _columns("events", "mean_probability", "rate", "lower", "upper")
_DECAY = _object(percent=_list(_COUNT), value=_list(_OPTIONAL_NUMBER), falls={"type": "boolean"})
_BEST = _object(
    criterion=_TEXT,
    threshold=_NUMBER,
    value={**_OPTIONAL_NUMBER, "description": "Of the criterion, on all events of the window."},
    cross_validated_value={
        **_OPTIONAL_NUMBER,
        "description": "Of the threshold that is best on the older half, judged on the newer.",
    },
    own_threshold_value={**_OPTIONAL_NUMBER, "description": "Of the model's own threshold there."},
    cross_validated_gain={**_OPTIONAL_NUMBER, "description": "How much better the former is."},
)
_CLASS_CURVES = _object(
    roc=_columns("fpr", "tpr", "threshold"),
    precision_recall=_columns("precision", "recall", "threshold"),
    thresholds=_columns("threshold", "precision", "recall", "f1", "fbeta", "expected_cost"),
    reliability=_RELIABILITY,
    confidence_decay=_DECAY,
    cost_sensitivity=_columns("cost_ratio", "threshold", "cost", "from", "to"),
    best_thresholds=_list(_BEST),
)
_CLASS_CURVES["properties"]["class"] = _TEXT
_TOP_LABEL = {**_object(reliability=_RELIABILITY, confidence_decay=_DECAY), "type": ["object", "null"]}
_CURVES = {
    **_object(classes=_list(_CLASS_CURVES), top_label=_TOP_LABEL),
    "type": ["object", "null"],
    "description": "With curves=true, of windows over all events. Of each scored class.",
}
_WINDOW = _object(
    model=_TEXT,
    version=_TEXT,
    window=_TEXT,
    segment=_TEXT,
    task={"type": "string", "enum": ["binary", "multiclass", "multilabel"]},
    classes=_list(_TEXT),
    positive_class=_OPTIONAL_TEXT,
    threshold={**_OPTIONAL_NUMBER, "description": "Of a binary model."},
    thresholds={"type": "object", "additionalProperties": _NUMBER},
    complete={"type": "boolean"},
    start=_TIME,
    end=_TIME,
    events=_COUNT,
    labeled=_COUNT,
    confusion=_CONFUSION,
    metrics=_list(_METRIC),
    classification_report=_TEXT,
    curves=_CURVES,
)
_REPORT = _object(
    evaluated_at=_TIME,
    frontier=_TIME,
    confidence_level=_NUMBER,
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

_ANYWHERE = {
    "_400": _answer("The Host is not served here, or a choice does not exist; `known` lists those.", _ERROR),
    "_401": _header(_answer("The token is missing or wrong.", _ERROR), "WWW-Authenticate", _TEXT),
    "_413": _answer("The request has a body.", _ERROR),
    "_431": _answer("The request is too large.", _ERROR),
}
_BUSY = _header(_answer("Too many requests at once.", _ERROR), "Retry-After", _COUNT)


def _report_answer() -> dict[str, Any]:
    answer = _answer("The windows that match; as CSV one row a value.", _REPORT)
    answer["content"]["text/csv"] = {"schema": _TEXT}
    return answer


def _metrics_answer() -> dict[str, Any]:
    answer = _answer("Text or OpenMetrics.", _TEXT, "text/plain")
    answer["content"]["application/openmetrics-text"] = {"schema": _TEXT}
    return answer


_NO_REPORT = _header(
    _answer("There is no report: nothing evaluated yet, or not the owner; or too many requests.", _ERROR),
    "Retry-After",
    _COUNT,
)

_NEEDED = "The token in server.read_token_file; needed where that is set."

OPENAPI: dict[str, Any] = {
    "openapi": "3.1.0",
    "info": {
        "title": "monitor",
        "version": __version__,
        "description": "Reports of classifiers in production. Read-only; an undefined value has a reason.",
    },
    "security": [{}, {"bearer": []}, {"basic": []}],
    "components": {
        "securitySchemes": {
            "bearer": {"type": "http", "scheme": "bearer", "description": _NEEDED},
            "basic": {"type": "http", "scheme": "basic", "description": f"{_NEEDED} It is the password."},
        }
    },
    "paths": {
        "/": _get(
            "The page",
            *("model", "version", "window", "refresh"),
            _200=_answer("HTML.", _TEXT, "text/html"),
            _404=_answer("HTML that names what is known.", _TEXT, "text/html"),
            _503=_BUSY,
        ),
        "/metrics": _get("Prometheus metrics", _200=_metrics_answer(), _503=_BUSY),
        "/livez": _probe(
            "Liveness probe",
            _200=_answer("The process works.", _STATE),
            _503=_answer("A restart is needed.", _STATE),
        ),
        "/readyz": _probe(
            "Readiness probe",
            _200=_answer("A restored owner or a standby; `role` says which.", _STATE),
            _503=_answer("State is being restored.", _STATE),
        ),
        "/healthz": _probe(
            "Health, for people and alerts; not for probes",
            _200=_answer("All is well.", _STATE),
            _503=_answer("Something is wrong; `reasons` says what.", _STATE),
        ),
        "/api/v1/models": _get(
            "Models, versions, windows and segments", _200=_answer("What is known.", _MODELS), _503=_NO_REPORT
        ),
        "/api/v1/report": _get(
            "The newest report. Without a parameter: all models, versions, windows; over all events",
            *("model", "version", "window", "segment", *CHOICES),
            _200=_report_answer(),
            _404=_answer("Nothing matches; `known` lists the names there are.", _ERROR),
            _503=_NO_REPORT,
        ),
        "/openapi.json": _get("This description", _200=_answer("OpenAPI 3.1.", {"type": "object"})),
    },
}
