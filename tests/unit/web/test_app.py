import asyncio
import csv
import io
import json
from dataclasses import replace
from urllib.parse import urljoin

import httpx
import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics
from starlette.routing import Route

from monitor.web.openapi import OPENAPI
from monitor.web.pages import ASSETS
from tests.support.pages import Document
from tests.support.reports import (
    empty_window,
    example,
    multilabel_window,
    report,
    status,
    window_curves,
    window_report,
)
from tests.support.web import HOSTILE, READ, READABLE, app, client


def strict_json(response) -> dict:
    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is no JSON")

    assert response.headers["content-type"] == "application/json"
    return json.loads(response.text, parse_constant=refuse)


def test_metrics_are_served_in_the_format_asked_for():
    served = client().get("/metrics", headers={"Accept": "application/openmetrics-text; version=1.0.0"})
    assert served.headers["content-type"].startswith("application/openmetrics-text")
    assert served.headers["content-encoding"] == "gzip"
    assert "classifier_recall" in {family.name for family in parse_openmetrics(served.text)}
    plain = client().get("/metrics", headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in plain.headers
    assert int(plain.headers["content-length"]) == len(plain.content)


def test_a_hostile_name_is_one_label_value():
    served = client(report(window_report(model=HOSTILE)))
    text = served.get("/metrics", headers={"Accept": "application/openmetrics-text"}).text
    models = {
        s.labels["model"] for f in parse_openmetrics(text) for s in f.samples if f.name == "classifier_recall"
    }
    assert models == {HOSTILE}


def test_the_report_has_values_intervals_and_the_text():
    found = strict_json(client().get("/api/v1/report?model=fraud&version=2026-11-01&window=last_10k"))
    (window,) = found["reports"]
    recall = next(
        m for m in window["metrics"] if m["name"] == "classifier_recall" and m["labels"]["class"] == "fraud"
    )
    assert (recall["numerator"], recall["denominator"]) == (169, 202)
    assert recall["intervals"][0]["method"] == "wilson"
    assert window["classification_report"].startswith("model fraud, version 2026-11-01, window last_10k")


def test_the_report_is_of_all_events_unless_a_segment_is_named():
    def segments(path: str) -> set[str]:
        return {window["segment"] for window in strict_json(client().get(path))["reports"]}

    assert segments("/api/v1/report") == {""}
    assert segments("/api/v1/report?segment=region%3Deu") == {"region=eu"}


def test_an_undefined_value_has_its_reason():
    found = strict_json(client(report(empty_window())).get("/api/v1/report"))
    metrics = found["reports"][0]["metrics"]
    recall = next(m for m in metrics if m["name"] == "classifier_recall")
    assert recall["value"] is None
    assert recall["undefined"] == "no_positives"


@pytest.mark.parametrize(
    "query, known",
    [
        ("model=x", ["fraud", "iris"]),
        ("model=fraud&version=x", ["2026-11-01", "2026-12-01"]),
        ("model=iris&window=x", ["last_10k"]),
        ("segment=x", ["", "region=eu"]),
    ],
)
def test_an_unknown_name_is_404_with_the_known_ones(query, known):
    refused = client().get(f"/api/v1/report?{query}")
    assert refused.status_code == 404
    assert strict_json(refused)["known"] == known
    assert "'x'" in refused.json()["error"]


def test_models_are_listed():
    found = strict_json(client().get("/api/v1/models"))["models"]
    assert [model["model"] for model in found] == ["fraud", "iris"]


def test_hostile_names_are_json():
    served = client(report(window_report(model=HOSTILE, version=HOSTILE)))
    assert strict_json(served.get("/api/v1/models"))["models"][0]["model"] == HOSTILE
    found = strict_json(served.get("/api/v1/report", params={"model": HOSTILE}))
    assert found["reports"][0]["version"] == HOSTILE


@pytest.mark.parametrize("path", ["/api/v1/report", "/api/v1/models"])
@pytest.mark.parametrize("changes", [{"ready": False}, {"owner": False}])
def test_who_does_not_own_the_partitions_has_no_report(path, changes):
    refused = client(state=status(**changes)).get(path)
    assert refused.status_code == 503
    assert strict_json(refused)["error"]


def test_liveness_is_about_the_process_alone():
    ill = status(broker_error="gone", lagging=1e6, evaluation_age=1e6, ready=False)
    assert client(state=ill).get("/livez").status_code == 200
    assert client(state=status(poll_age=61.0)).get("/livez").status_code == 503
    dead = client(state=status(dead_threads=("poll",))).get("/livez")
    assert dead.status_code == 503
    assert "poll" in dead.json()["reasons"][0]["reason"]


@pytest.mark.parametrize(
    "changes, code, role",
    [({}, 200, "owner"), ({"owner": False}, 200, "standby"), ({"ready": False}, 503, "restoring")],
)
def test_readiness_says_which_role(changes, code, role):
    answer = client(state=status(**changes)).get("/readyz")
    assert (answer.status_code, answer.json()["role"]) == (code, role)


def test_health_names_what_is_wrong():
    assert client().get("/healthz").status_code == 200
    ill = client(state=status(broker_error="no broker answers", dead_letter_error="refused")).get("/healthz")
    assert ill.status_code == 503
    assert {r["name"]: r["reason"] for r in strict_json(ill)["reasons"]} == {
        "broker": "no broker answers", "dead_letters": "refused",
    }  # fmt: skip


def test_every_route_is_described_and_nothing_else():
    routes = {route.path for route in app(None).routes if isinstance(route, Route)}
    assert routes - ASSETS == set(OPENAPI["paths"])
    assert strict_json(client().get("/openapi.json")) == OPENAPI


@pytest.mark.parametrize("path", READ)
@pytest.mark.parametrize("state", [status(), status(ready=False), status(owner=False)])
def test_answers_are_as_described(path, state):
    answer = client(state=state).get(path)
    if path in OPENAPI["paths"]:
        described = OPENAPI["paths"][path]["get"]["responses"][str(answer.status_code)]
        media = answer.headers["content-type"].partition(";")[0]
        assert media in described["content"]
        schema = described["content"][media]["schema"]
        if media == "application/json" and path != "/openapi.json":
            known = {name for each in schema.get("anyOf", [schema]) for name in each["properties"]}
            assert set(answer.json()) <= known
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "default-src 'none'" in answer.headers["content-security-policy"]


def described(schema: dict, value: object, place: str = "") -> None:
    """Fail on a key that the schema does not have, at any depth."""
    if isinstance(value, list):
        for item in value:
            described(schema.get("items", {}), item, place)
    elif isinstance(value, dict) and "properties" in schema:
        for key, item in value.items():
            assert key in schema["properties"], f"{place}.{key}"
            described(schema["properties"][key], item, f"{place}.{key}")


def test_reports_are_as_described():
    content = OPENAPI["paths"]["/api/v1/report"]["get"]["responses"]["200"]["content"]
    schema = content["application/json"]["schema"]
    multilabel = replace(multilabel_window(), curves=window_curves(2, 2, 2))
    for shown in (client(), client(report(multilabel))):
        found = strict_json(shown.get("/api/v1/report?curves=true"))
        described(schema, found)
        assert all(window["curves"] is None or window["curves"]["classes"] for window in found["reports"])
        without = strict_json(shown.get("/api/v1/report"))["reports"]
        windows = schema["properties"]["reports"]["items"]["properties"]
        assert all(set(window) == set(windows) - {"curves", "recalibration"} for window in without)


def test_the_report_as_a_table():
    answer = client().get("/api/v1/report?format=csv&model=fraud")
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert {row["model"] for row in rows} == {"fraud"}
    assert {row["window"] for row in rows} == {"last_10k", "all"}


@pytest.mark.parametrize("query", ["format=xml", "curves=yes"])
def test_a_choice_that_does_not_exist_is_refused(query):
    refused = client().get(f"/api/v1/report?{query}")
    assert refused.status_code == 400
    assert strict_json(refused)["known"] in (["json", "csv"], ["false", "true"])


@pytest.mark.parametrize("path", ["/nothing", "/metrics/", "/api/v1", "/app.py"])
def test_another_path_is_refused_as_json(path):
    refused = client().get(path)
    assert refused.status_code == 404
    assert strict_json(refused)["error"].startswith("no such path; /openapi.json describes")


BROWSER = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}


@pytest.mark.parametrize("path", ["/nothing", "/model/fraud/2"])
def test_a_browser_gets_a_page_with_links_that_lead_somewhere(path):
    served = client()
    answer = served.get(path, headers=BROWSER)
    assert answer.status_code == 404
    page = Document(answer.text)
    assert "There is no page at this address." in page.text
    assert "refresh" not in answer.text
    assert not any("aria-current" in link for link in page.all("a"))
    addresses = [
        *page.links(),
        *(each["href"] for each in page.all("link")),
        *(each["src"] for each in page.all("script")),
    ]
    local = {urljoin(path, each) for each in addresses if not each.startswith(("#", "data:"))}
    assert {"/", "/alerts", "/style.css", "/page.js", "/healthz"} <= local
    assert all(served.get(each).status_code == 200 for each in local)


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/api/v1/nothing", 404),
        ("GET", "/-/healthy", 404),
        ("POST", "/nothing", 404),
        ("POST", "/", 405),
    ],
)
def test_what_is_for_programs_is_refused_as_json_whoever_asks(method, path, status):
    refused = client().request(method, path, headers=BROWSER)
    assert refused.status_code == status
    strict_json(refused)


@pytest.mark.parametrize("path", READ)
def test_another_method_is_refused_as_json(path):
    for method in ("POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND"):
        refused = client().request(method, path)
        assert refused.status_code == 405
        assert set(refused.headers["allow"].split(", ")) == {"GET", "HEAD"}
        assert strict_json(refused)["error"].startswith("only ")


@pytest.mark.parametrize("path", READABLE)
def test_head_is_get_without_the_body(path):
    head, get = client().request("HEAD", path), client().get(path)
    for answer in (head, get):
        del answer.headers["content-length"]  # of what is compressed, which has times in it
    assert (head.status_code, dict(head.headers)) == (get.status_code, dict(get.headers))


def test_what_fails_is_not_shown(monkeypatch):
    def fail(*_: object) -> None:
        raise ValueError("hunter2")

    monkeypatch.setattr("monitor.web.app.model_objects", fail)
    transport = httpx.ASGITransport(app(example()), raise_app_exceptions=False)

    async def ask() -> httpx.Response:
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as asking:
            return await asking.get("/api/v1/models")

    answer = asyncio.run(ask())
    assert answer.status_code == 500
    assert strict_json(answer) == {"error": "this failed; the daemon's log says why", "known": []}
    assert "default-src 'none'" in answer.headers["content-security-policy"]
