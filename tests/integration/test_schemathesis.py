"""Whatever the API's description allows, and what it does not, is answered as the description says."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, seed
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import ignored_auth
from starlette.applications import Starlette

from monitor.web.openapi import OPENAPI
from tests.support.properties import examples
from tests.support.reports import example, status
from tests.support.shown_alerts import VIEW, office, waiting
from tests.support.web import app

TOKEN, ACT_TOKEN = "a-secret-token", "another-secret-token"
OFFICE = office()
KNOWN = {
    "model": ["fraud", "iris"],
    "version": ["2026-11-01", "2026-12-01"],
    "window": ["last_10k", "all"],
    "segment": ["", "region=eu"],
    "id": [waiting(OFFICE)],
}
"""Names that the example has; nobody finds them by chance."""

QUICK = examples(8, database=None, suppress_health_check=list(HealthCheck))
OPERATIONS = [(path, method) for path, of in OPENAPI["paths"].items() for method in of]
ACTS = [
    asked for asked in OPERATIONS if {"act": []} in OPENAPI["paths"][asked[0]][asked[1]].get("security", ())
]
READS = [asked for asked in OPERATIONS if asked not in ACTS]


def operation(path: str, method: str) -> dict[str, Any]:
    return OPENAPI["paths"][path][method]


def described(*, token_needed: bool) -> dict[str, Any]:
    """Return the description with known names as likely values, and the token as needed as it is."""
    found = deepcopy(OPENAPI)
    for path in found["paths"].values():
        for of in path.values():
            for parameter in of["parameters"]:
                if names := KNOWN.get(parameter["name"]):
                    parameter["schema"] = {"anyOf": [{"type": "string", "enum": names}, parameter["schema"]]}
    if token_needed:
        found["security"] = [{"bearer": []}]
    return found


def served(report: Any, state: Any = None, **options: Any) -> Starlette:
    """Return an application with all that can be shown."""
    return app(report, state, alerts=lambda: VIEW, desk=OFFICE.desk, act_token=ACT_TOKEN, **options)


def check(
    asked: Starlette,
    path: str,
    method: str,
    mode: GenerationMode,
    *,
    token: str | None = None,
    **options: Any,
) -> None:
    """Ask for a path in many ways, and hold each answer against the description."""
    schema = schemathesis.openapi.from_dict(described(token_needed=token is not None))
    schema.app = asked
    headers = {"Host": "localhost"} | ({} if token is None else {"Authorization": f"Bearer {token}"})

    @seed(0)
    @QUICK
    @given(case=schema[path][method.upper()].as_strategy(generation_mode=mode))
    def answers_conform(case: schemathesis.Case) -> None:
        case.call_and_validate(headers=headers, **options)

    answers_conform()


def token_of(path: str, method: str, read_token: str | None) -> str | None:
    """Return the token that is needed."""
    return ACT_TOKEN if (path, method) in ACTS else read_token


@pytest.mark.parametrize(
    "path, method, token", [*((*asked, None) for asked in OPERATIONS), *((*asked, TOKEN) for asked in READS)]
)
def test_what_is_allowed(path: str, method: str, token: str | None) -> None:
    needed = token_of(path, method, token)
    check(served(example(), read_token=token), path, method, GenerationMode.POSITIVE, token=needed)


@pytest.mark.parametrize(
    "path, method",
    [
        (path, method)
        for path, method in OPERATIONS
        if operation(path, method)["parameters"] or "requestBody" in operation(path, method)
    ],
)
def test_what_is_not_allowed(path: str, method: str) -> None:
    token = token_of(path, method, None)
    check(served(example()), path, method, GenerationMode.NEGATIVE, token=token)


STANDBY = status(owner=False)
RESTORING = status(ready=False, broker_error="gone", dead_threads=("poll",))


@pytest.mark.parametrize(
    "path, method, state",
    [
        *((*asked, state) for asked in READS for state in (status(), STANDBY, RESTORING)),
        *((*asked, STANDBY) for asked in ACTS),
    ],
)
def test_where_there_is_no_report(path: str, method: str, state: Any) -> None:
    check(
        served(None, state),
        path,
        method,
        GenerationMode.POSITIVE,
        token=token_of(path, method, None),
        excluded_checks=[not_a_server_error],  # 503 is one
    )


@pytest.mark.parametrize("path, method", OPERATIONS)
def test_without_the_token(path: str, method: str) -> None:
    asked = served(example(), read_token=TOKEN)
    check(asked, path, method, GenerationMode.POSITIVE, excluded_checks=[ignored_auth])
