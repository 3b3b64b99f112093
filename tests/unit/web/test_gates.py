"""What rollout controllers are told."""

from dataclasses import replace

import httpx
import pytest

from monitor.alerts.view import AlertsView
from monitor.web.openapi import OPENAPI
from tests.support.reports import report, status
from tests.support.shown_alerts import CALM, FIRING, PENDING, VIEW
from tests.support.web import client
from tests.unit.web.test_app import described, strict_json

GOOD, BAD = "2026-11-01", "2026-12-01"
WELL = AlertsView(tuple(replace(alert, key=alert.key._replace(version=GOOD)) for alert in CALM.alerts))


def argo(view: AlertsView, model: str, version: str, **options: object) -> httpx.Response:
    query = {"model": model, "version": version}
    return client(alerts=lambda: view, **options).get("/gate/argo", params=query)


def flagger(view: AlertsView, body: object, **options: object) -> httpx.Response:
    headers = options.pop("headers", {})
    sent = {"content": body} if isinstance(body, bytes) else {"json": body}
    asking = client(alerts=lambda: view, **options)
    return asking.request("POST", "/gate/flagger/rollback", headers=headers, **sent)


def webhook(**metadata: object) -> dict:
    return {"name": "fraud", "namespace": "prod", "phase": "Progressing", "metadata": metadata}


@pytest.mark.parametrize(
    "view, model, version, outcome",
    [
        (VIEW, "fraud", BAD, "fail"),
        (WELL, "fraud", GOOD, "pass"),
        (AlertsView((replace(PENDING, key=FIRING.key),)), "fraud", BAD, "inconclusive"),
        (VIEW, "fraud", "nope", "no_data"),
        (VIEW, "nope", "", "no_data"),
    ],
)
def test_argo_is_always_answered_where_there_is_a_report(view, model, version, outcome):
    answer = argo(view, model, version)
    found = strict_json(answer)
    assert (answer.status_code, found["outcome"]) == (200, outcome)
    assert (found["model"], found["version"]) == (model, version)
    assert found["reasons"]
    schema = OPENAPI["paths"]["/gate/argo"]["get"]["responses"]["200"]["content"]["application/json"][
        "schema"
    ]
    described(schema, found)


def test_flagger_rolls_back_only_what_fails():
    failed = flagger(VIEW, webhook(model="fraud", version=BAD))
    assert (failed.status_code, strict_json(failed)["outcome"]) == (200, "fail")
    for view, version in ((WELL, GOOD), (AlertsView((PENDING,)), BAD), (VIEW, "nope")):
        answer = flagger(view, webhook(model="fraud", version=version))
        assert answer.status_code == 409
        assert strict_json(answer)["outcome"] != "fail"


@pytest.mark.parametrize(
    "body",
    [
        *(
            b"",
            b"{",
            b"[]",
            b"\xff",
            {},
            {"metadata": None},
            {"metadata": "fraud"},
            webhook(),
            webhook(model=1),
        ),
        *(webhook(version=BAD), webhook(model="fraud", version=[1]), webhook(model="", version=BAD)),
    ],
)
def test_flagger_does_not_roll_back_by_mistake(body):
    answer = flagger(VIEW, body)
    assert answer.status_code == 409
    found = strict_json(answer)
    assert (found["model"], found["outcome"]) == ("", "no_data")
    assert found["reasons"][0].startswith("the webhook's metadata cannot be used")


@pytest.mark.parametrize("state", [status(owner=False), status(ready=False)])
def test_who_knows_nothing_does_not_judge(state):
    assert argo(VIEW, "fraud", BAD, state=state).status_code == 503
    assert flagger(VIEW, webhook(model="fraud", version=BAD), state=state).status_code == 409


def test_a_version_that_fires_fails_before_the_first_window_is_complete():
    assert argo(VIEW, "fraud", BAD, report=report()).json()["outcome"] == "fail"


def test_argo_has_to_name_the_model():
    assert argo(VIEW, "", BAD).status_code == 400


def test_gates_need_the_token_to_read():
    token = "a-token-to-read-with"
    body = webhook(model="fraud", version=BAD)
    assert flagger(VIEW, body, read_token=token).status_code == 401
    given = {"Authorization": f"Bearer {token}"}
    assert flagger(VIEW, body, read_token=token, headers=given).status_code == 200
    assert argo(VIEW, "fraud", BAD, read_token=token).status_code == 401
