"""Whatever the API's description allows, and what it does not, is answered as the description says."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, seed, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import ignored_auth
from starlette.applications import Starlette

from monitor.web.openapi import OPENAPI
from tests.support.reports import example, status
from tests.support.web import app

TOKEN = "a-secret-token"
KNOWN = {
    "model": ["fraud", "iris"],
    "version": ["2026-11-01", "2026-12-01"],
    "window": ["last_10k", "all"],
    "segment": ["", "region=eu"],
}
"""Names that the example has; nobody finds them by chance."""

QUICK = settings(max_examples=15, database=None, suppress_health_check=list(HealthCheck))


def described(*, token_needed: bool) -> dict[str, Any]:
    """Return the description with known names as likely values, and the token as needed as it is."""
    found = deepcopy(OPENAPI)
    for path in found["paths"].values():
        for parameter in path["get"]["parameters"]:
            if names := KNOWN.get(parameter["name"]):
                parameter["schema"] = {"anyOf": [{"type": "string", "enum": names}, parameter["schema"]]}
    if token_needed:
        found["security"] = [{"bearer": []}]
    return found


def check(
    served: Starlette, path: str, mode: GenerationMode, *, token: str | None = None, **options: Any
) -> None:
    """Ask for a path in many ways, and hold each answer against the description."""
    schema = schemathesis.openapi.from_dict(described(token_needed=token is not None))
    schema.app = served
    headers = {"Host": "localhost"} | ({} if token is None else {"Authorization": f"Bearer {token}"})

    @seed(0)
    @QUICK
    @given(case=schema[path]["GET"].as_strategy(generation_mode=mode))
    def answers_conform(case: schemathesis.Case) -> None:
        case.call_and_validate(headers=headers, **options)

    answers_conform()


@pytest.mark.parametrize("path", OPENAPI["paths"])
@pytest.mark.parametrize("token", [None, TOKEN])
def test_what_is_allowed(path: str, token: str | None) -> None:
    check(app(example(), read_token=token), path, GenerationMode.POSITIVE, token=token)


@pytest.mark.parametrize("path", [path for path, of in OPENAPI["paths"].items() if of["get"]["parameters"]])
def test_what_is_not_allowed(path: str) -> None:
    check(app(example()), path, GenerationMode.NEGATIVE)


@pytest.mark.parametrize("path", OPENAPI["paths"])
@pytest.mark.parametrize(
    "state", [status(), status(owner=False), status(ready=False, broker_error="gone", dead_threads=("poll",))]
)
def test_where_there_is_no_report(path: str, state: Any) -> None:
    served = app(None, state)
    check(served, path, GenerationMode.POSITIVE, excluded_checks=[not_a_server_error])  # 503 is one


@pytest.mark.parametrize("path", OPENAPI["paths"])
def test_without_the_token(path: str) -> None:
    served = app(example(), read_token=TOKEN)
    check(served, path, GenerationMode.POSITIVE, excluded_checks=[ignored_auth])
