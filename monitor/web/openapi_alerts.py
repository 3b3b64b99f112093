"""The description of what is asked and done about alerts and actions, and of the gates."""

from __future__ import annotations

from typing import Any, get_args

from monitor.actions.decision import Status
from monitor.actions.spec import Kind
from monitor.alerts.alert import Change
from monitor.alerts.gate import Outcome
from monitor.web.alerts import STATES
from monitor.web.body import MAX_NAME, MAX_TEXT
from monitor.web.schemas import (
    COUNT,
    ERROR,
    FLAG,
    LABELS,
    NO_REPORT,
    NUMBER,
    OPTIONAL_FLAG,
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

_POSITION = {**COUNT, "description": "Of the deciding event in the log."}
_MOMENT = {**object_of(timestamp=TIME, recorded=TIME, position=_POSITION), "type": ["object", "null"]}
_STATE = {**TEXT, "enum": list(STATES)}
_EVIDENCE = object_of(
    value=OPTIONAL_NUMBER,
    lower=OPTIONAL_NUMBER,
    upper=OPTIONAL_NUMBER,
    method=OPTIONAL_TEXT,
    limit=OPTIONAL_NUMBER,
    support=COUNT,
    statistic={**OPTIONAL_NUMBER, "description": "Of a detector; it raises or clears at `threshold`."},
    threshold=OPTIONAL_NUMBER,
    component=OPTIONAL_TEXT,
    beyond={**OPTIONAL_NUMBER, "description": "Wrong decisions beyond those that the limit allows."},
    cost_beyond=OPTIONAL_NUMBER,
    prevalence=OPTIONAL_NUMBER,
    reference_prevalence=OPTIONAL_NUMBER,
    value_at_reference_prevalence=OPTIONAL_NUMBER,
    prevalence_moved=OPTIONAL_FLAG,
    breaches_at_reference=OPTIONAL_FLAG,
    undefined=OPTIONAL_TEXT,
    recalibration={"type": ["object", "null"], "description": "A suggested map, or why there is none."},
    note=OPTIONAL_TEXT,
)
_LIMIT = object_of(kind=TEXT, number=OPTIONAL_NUMBER, name=TEXT, margin=NUMBER)
_RULE = object_of(
    name=TEXT,
    metric=TEXT,
    labels=LABELS,
    condition=TEXT,
    side=TEXT,
    limit=_LIMIT,
    false_alarm_every={"type": ["integer", "null"]},
    min_support=COUNT,
    extra_labels=LABELS,
    runbook=OPTIONAL_TEXT,
    actions=list_of(TEXT),
)
_ALERT = object_of(
    alert=TEXT,
    labels=LABELS,
    state=_STATE,
    sentence={**TEXT, "description": "What it says of itself."},
    severity=TEXT,
    since={**_MOMENT, "description": "Since when it is in this state."},
    started={**_MOMENT, "description": "Where it began to fire."},
    firing={**FLAG, "description": "Whether people are told."},
    historic={**FLAG, "description": "Whether it began too long ago for that."},
    actionable=FLAG,
    reason=OPTIONAL_TEXT,
    episode=TEXT,
    evidence=_EVIDENCE,
    rule=_RULE,
)
_TRANSITION = object_of(
    alert=TEXT,
    labels=LABELS,
    change={**TEXT, "enum": list(get_args(Change))},
    at=_MOMENT,
    historic=FLAG,
    reason=OPTIONAL_TEXT,
    evidence=_EVIDENCE,
)
_ALERTS = object_of(
    alerts=list_of(_ALERT),
    transitions={**list_of(_TRANSITION), "description": "The newest first."},
    refused={**COUNT, "description": "Matches of wildcards beyond alerts.max_matches."},
)
_PAUSE = {**object_of(by=TEXT, since=TIME, until=TIME), "type": ["object", "null"]}
_SILENCE = object_of(id=TEXT, matchers=LABELS, since=TIME, until=TIME, by=TEXT, comment=TEXT)
_DECISION = object_of(
    action=TEXT,
    id=TEXT,
    idempotency_key=TEXT,
    alert=LABELS,
    severity=TEXT,
    labels=LABELS,
    model=TEXT,
    bad_version=TEXT,
    target_version=OPTIONAL_TEXT,
    decided_at=TIME,
    expires_at=TIME,
    evidence={"type": "object"},
    kind={**TEXT, "enum": list(get_args(Kind))},
    episode=TEXT,
    status={**TEXT, "enum": list(get_args(Status))},
    reason=OPTIONAL_TEXT,
    changed_at=TIME,
    attempts=COUNT,
    last_error=OPTIONAL_TEXT,
    by=OPTIONAL_TEXT,
)
_ACTIONS = object_of(
    enabled=FLAG,
    paused=_PAUSE,
    held_by_breaker=FLAG,
    problem=OPTIONAL_TEXT,
    silences=list_of(_SILENCE),
    decisions={**list_of(_DECISION), "description": "The newest first."},
)
_VERDICT = object_of(
    model=TEXT, version=TEXT, outcome={**TEXT, "enum": list(get_args(Outcome))}, reasons=list_of(TEXT)
)

_WORD = r"\S"
"""A text that is not blank."""

_BY = {**TEXT, "pattern": _WORD, "maxLength": MAX_NAME, "description": "Who asks, for the audit log."}
_COMMENT = {**TEXT, "pattern": _WORD, "maxLength": MAX_TEXT}
_UNTIL = {
    "description": "A duration from now, or a time.",
    "anyOf": [{**TEXT, "pattern": "^[0-9]{1,6}[smhd]$"}, {**TEXT, "format": "date-time"}],
}
_MATCHERS = {
    **LABELS,
    "minProperties": 1,
    "description": "Labels of the alerts: a text, or its beginning and *.",
}


def _body(*required: str, **properties: Any) -> dict[str, Any]:
    schema = object_of(**properties) | {"required": list(required), "additionalProperties": False}
    return {"required": True, "content": {"application/json": {"schema": schema}}}


def _act(
    summary: str, *parameters: dict[str, Any], body: dict[str, Any] | None, **answers: dict[str, Any]
) -> dict[str, Any]:
    """Describe what changes something."""
    described = operation(summary, *parameters, **answers)
    described["responses"] |= {
        "400": answer("The Host is not served here, or the body cannot be used.", ERROR),
        "403": answer("There is no token to act with, or a page of another site asks.", ERROR),
        "409": answer("That is not possible now.", ERROR),
        "503": NO_REPORT,
    }
    if body is not None:
        described |= {"requestBody": body}
        described["responses"]["415"] = answer("The body is not said to be JSON.", ERROR)
    return described | {"security": [{"act": []}]}


_ID = {"name": "id", "in": "path", "required": True, "schema": {**TEXT, "pattern": "^[0-9a-f]+$"}}
_NONE_SUCH = answer("There is none of this id.", ERROR)
_JUDGED = answer("The verdict.", _VERDICT)
_PAUSED = answer("What holds the actions back now.", object_of(paused=_PAUSE))

ALERT_PATHS: dict[str, Any] = {
    "/api/v1/alerts": {
        "get": operation(
            "Alerts as they are, and their newest changes. Without a parameter: all",
            query("model"),
            query("state", _STATE),
            _200=answer("Those that match; of changes, those of the model.", _ALERTS),
            _503=NO_REPORT,
        )
    },
    "/api/v1/actions": {
        "get": operation(
            "What is decided and done, and what holds it back",
            _200=answer("All decisions that are remembered.", _ACTIONS),
            _503=NO_REPORT,
        )
    },
    "/api/v1/actions/{id}/approve": {
        "post": _act(
            "Let an action go ahead that waits for a person",
            _ID,
            body=_body(by=_BY),
            _200=answer("The decision as it is now.", _DECISION),
            _404=_NONE_SUCH,
        )
    },
    "/api/v1/actions/{id}/reject": {
        "post": _act(
            "End an action that is not done yet",
            _ID,
            body=_body(by=_BY),
            _200=answer("The decision as it is now.", _DECISION),
            _404=_NONE_SUCH,
        )
    },
    "/api/v1/actions/pause": {
        "post": _act(
            "Do nothing until a time, or until somebody resumes",
            body=_body(until=_UNTIL, comment=_COMMENT, by=_BY),
            _200=_PAUSED,
        )
    },
    "/api/v1/actions/resume": {"post": _act("End the pause", body=_body(by=_BY), _200=_PAUSED)},
    "/api/v1/silences": {
        "post": _act(
            "Hold the actions of some alerts for a while",
            body=_body(
                *("matchers", "until", "comment"), matchers=_MATCHERS, until=_UNTIL, comment=_COMMENT, by=_BY
            ),
            _201=answer("The silence.", _SILENCE),
        )
    },
    "/api/v1/silences/{id}": {
        "delete": _act(
            "End a silence", _ID, query("by", _BY), body=None, _204={"description": "Done."}, _404=_NONE_SUCH
        )
    },
    "/gate/argo": {
        "get": operation(
            "May a version go on? For an AnalysisTemplate of Argo Rollouts",
            query("model", {**TEXT, "minLength": 1}, required=True),
            query("version", {**TEXT, "description": "Empty: the only one there is."}),
            _200=_JUDGED,
            _503=NO_REPORT,
        )
    },
    "/gate/flagger/rollback": {
        "post": operation(
            "Must a version go? For a rollback webhook of Flagger",
            _200=answer("It fails: roll back.", _VERDICT),
            _409=answer("Anything else: do not.", _VERDICT),
        )
        | {
            "requestBody": {
                "required": True,
                "content": {
                    "application/json": {
                        "schema": object_of(
                            name=TEXT,
                            namespace=TEXT,
                            phase=TEXT,
                            metadata=object_of(model=TEXT, version=TEXT) | {"required": ["model"]},
                        )
                        | {"required": ["metadata"]}
                    }
                },
            }
        }
    },
}
