"""What people do over HTTP, and who may."""

import base64

import pytest

from monitor.wording import iso
from tests.support.desks import Office
from tests.support.reports import status
from tests.support.shown_alerts import office, waiting
from tests.support.web import Client, app, client
from tests.unit.web.test_app import strict_json

TOKEN, READ_TOKEN = "a-token-to-act-with", "a-token-to-read-with"
BASIC = base64.b64encode(f"anyone:{TOKEN}".encode()).decode()
HEADERS = {"Authorization": f"Bearer {TOKEN}"}
ACTS = [
    ("POST", "/api/v1/actions/0123456789ab/approve"),
    ("POST", "/api/v1/actions/0123456789ab/reject"),
    ("POST", "/api/v1/actions/pause"),
    ("POST", "/api/v1/actions/resume"),
    ("POST", "/api/v1/silences"),
    ("DELETE", "/api/v1/silences/0123456789ab"),
]


def of(made: Office, **options: object) -> Client:
    return client(desk=made.desk, act_token=TOKEN, clock=made.clock, **options)


def act(made: Office, path: str, body: object = None, method: str = "POST", **options: object):
    sent = {"json": {} if body is None else body} if method == "POST" else {}
    return of(made, **options).request(method, f"/api/v1{path}", headers=HEADERS, **sent)


def test_who_has_the_token_approves():
    made = office()
    id = waiting(made)
    answer = act(made, f"/actions/{id}/approve", {"by": "alice"})
    assert answer.status_code == 200
    found = strict_json(answer)
    assert (found["id"], found["status"], found["by"]) == (id, "pending", "token (alice)")
    again = act(made, f"/actions/{id}/approve")
    assert (again.status_code, "waits for nobody" in strict_json(again)["error"]) == (409, True)


def test_who_has_the_token_rejects():
    made = office()
    id = waiting(made)
    assert strict_json(act(made, f"/actions/{id}/reject"))["status"] == "rejected"
    assert made.audit.changes(id)[-1] == "rejected"


def test_actions_are_paused_and_resumed():
    made = office()
    assert iso(made.clock.now()) == "2025-11-29T07:06:40.000000Z"
    found = strict_json(act(made, "/actions/pause", {"until": "1h", "comment": "bad labels", "by": "bob"}))
    assert found["paused"]["by"] == "token (bob): bad labels"
    assert found["paused"]["until"] == "2025-11-29T08:06:40.000000Z"
    assert made.deliver() == 0
    assert strict_json(act(made, "/actions/resume")) == {"paused": None}
    assert made.deliver() == 1
    assert act(made, "/actions/resume").status_code == 409
    assert strict_json(act(made, "/actions/pause"))["paused"]["until"] is None


def test_alerts_are_silenced_for_a_while():
    made = office()
    body = {"matchers": {"model": "fraud"}, "until": "1h", "comment": "known", "by": "bob"}
    answer = act(made, "/silences", body)
    assert answer.status_code == 201
    silence = strict_json(answer)
    assert silence["matchers"] == {"model": "fraud"}
    assert made.deliver() == 0
    ended = act(made, f"/silences/{silence['id']}?by=bob", method="DELETE")
    assert (ended.status_code, ended.content) == (204, b"")
    assert made.audit.entries[-1]["by"] == "token (bob)"
    assert act(made, f"/silences/{silence['id']}", method="DELETE").status_code == 404
    assert made.deliver() == 1


@pytest.mark.parametrize("path", ["/actions/0123456789ab/approve", "/actions/%F0%9F%99%82/reject"])
def test_what_does_not_exist_is_404(path):
    assert act(office(), path).status_code == 404


@pytest.mark.parametrize(
    "path, body, words",
    [
        ("/actions/pause", {"until": "soon"}, "until is 'soon'; write a duration"),
        ("/actions/pause", {"untill": "1h"}, "'untill' is not known here; known are until, comment, by"),
        ("/actions/pause", [], "no JSON object"),
        ("/actions/resume", {"by": 7}, "by is missing or no text"),
        ("/silences", {"until": "1h", "comment": "x"}, "matchers is missing"),
        ("/silences", {"matchers": {"model": "a"}, "comment": "x"}, "until is missing"),
        ("/silences", {"matchers": {"model": "a"}, "until": "1h"}, "comment is missing"),
    ],
)
def test_a_body_that_cannot_be_used_is_refused_with_the_remedy(path, body, words):
    made = office()
    refused = act(made, path, body)
    assert refused.status_code == 400
    assert words in strict_json(refused)["error"]
    assert made.desk.view().paused is None and not made.desk.view().silences


@pytest.mark.parametrize("until, code", [("2020-01-01T00:00:00Z", 409), ("31d", 409), ("30d", 201)])
def test_what_the_desk_refuses_is_a_conflict(until, code):
    body = {"matchers": {"model": "a"}, "until": until, "comment": "x"}
    assert act(office(), "/silences", body).status_code == code


@pytest.mark.parametrize("method, path", ACTS)
def test_only_the_owner_acts(method, path):
    made = office()
    refused = of(made, state=status(owner=False)).request(method, path, headers=HEADERS, **_json(method))
    assert refused.status_code == 503
    assert "standby" in strict_json(refused)["error"]
    assert made.desk.view().paused is None


@pytest.mark.parametrize("method, path", ACTS)
def test_without_actions_there_is_nothing_to_do(method, path):
    refused = client(act_token=TOKEN).request(method, path, headers=HEADERS, **_json(method))
    assert refused.status_code == 409


# Who may


def _json(method: str) -> dict:
    return {"json": {}} if method == "POST" else {}


@pytest.mark.parametrize("method, path", ACTS)
def test_without_a_token_nobody_may_act(method, path):
    made = office()
    for host in ("localhost", "127.0.0.1"):
        refused = client(desk=made.desk).request(
            method, path, headers={**HEADERS, "Host": host}, **_json(method)
        )
        assert refused.status_code == 403
        assert "server.act_token_file" in strict_json(refused)["error"]
    assert made.desk.view().paused is None


@pytest.mark.parametrize("method, path", ACTS)
@pytest.mark.parametrize(
    "given",
    [None, "Bearer", f"Bearer {TOKEN}x", f"Bearer {READ_TOKEN}", "Basic OmEtdG9rZW4tdG8tYWN0LXdpdGg="],
)
def test_another_token_may_not_act(method, path, given):
    made = office()
    headers = {} if given is None else {"Authorization": given}
    refused = of(made, read_token=READ_TOKEN).request(method, path, headers=headers, **_json(method))
    assert refused.status_code == 401
    assert refused.headers["www-authenticate"] == "Bearer"
    assert "server.act_token_file" in refused.json()["error"]
    assert TOKEN not in refused.text and READ_TOKEN not in refused.text
    assert made.desk.view().paused is None


def test_the_token_to_act_is_none_to_read():
    served = Client(app(None, read_token=READ_TOKEN, act_token=TOKEN))
    assert served.get("/metrics", headers=HEADERS).status_code == 401
    assert served.request("POST", "/gate/flagger/rollback", headers=HEADERS, json={}).status_code == 401


@pytest.mark.parametrize(
    "origin, code",
    [
        (None, 200), ("http://localhost", 200), ("https://LOCALHOST", 200), ("http://localhost:9464", 403),
        ("http://evil.example", 403), ("null", 403), ("", 403), ("localhost", 403), ("file://localhost", 403),
        ("http://localhost.evil.example", 403), ("http://user@localhost", 403), ("http://[", 403),
    ],
)  # fmt: skip
def test_a_page_of_another_site_may_not_act(origin, code):
    headers = HEADERS if origin is None else {**HEADERS, "Origin": origin}
    answer = of(office()).request("POST", "/api/v1/actions/pause", headers=headers, json={})
    assert answer.status_code == code


def test_a_token_does_not_make_up_for_a_foreign_host():
    headers = {**HEADERS, "Host": "evil.example", "Origin": "http://evil.example"}
    made = office()
    for method, path in ACTS:
        assert of(made).request(method, path, headers=headers, **_json(method)).status_code == 400
    assert made.desk.view().paused is None


@pytest.mark.parametrize(
    "kind", [None, "text/plain", "application/x-www-form-urlencoded", "application/jsonx"]
)
def test_a_form_may_not_act(kind):
    headers = HEADERS if kind is None else {**HEADERS, "Content-Type": kind}
    refused = of(office()).request("POST", "/api/v1/actions/pause", headers=headers, content=b"{}")
    assert refused.status_code == 415
    good = {**HEADERS, "Content-Type": "Application/JSON; charset=utf-8"}
    assert of(office()).request("POST", "/api/v1/actions/pause", headers=good, content=b"").status_code == 200


@pytest.mark.parametrize("path", ["/api/v1/actions/pause", "/gate/flagger/rollback"])
@pytest.mark.parametrize(
    "headers",
    [
        {"Content-Length": "16385"}, {"Content-Length": "9" * 5000}, {"Content-Length": "-1"},
        {"Content-Length": "1e3"}, {"Transfer-Encoding": "chunked"},
    ],
)  # fmt: skip
def test_a_body_is_small_and_says_its_length(path, headers):
    refused = of(office()).request("POST", path, headers={**HEADERS, **headers})
    assert refused.status_code == 413
    assert refused.headers["connection"] == "close"
    assert (
        refused.json()["error"] == "a request has a body of up to 16384 bytes, with its Content-Length, here"
    )


def test_a_body_of_the_greatest_size_is_read():
    padded = b"{}" + b" " * (16384 - 2)
    headers = {**HEADERS, "Content-Type": "application/json"}
    assert (
        of(office()).request("POST", "/api/v1/actions/pause", headers=headers, content=padded).status_code
        == 200
    )


@pytest.mark.parametrize(
    "method, path",
    [
        *(("DELETE", "/api/v1/silences/a"), ("PUT", "/api/v1/silences"), ("POST", "/api/v1/alerts")),
        *(("POST", "/api/v1/actions"), ("GET", "/api/v1/actions/pause"), ("POST", "/gate/argo")),
    ],
)
def test_elsewhere_a_body_is_refused(method, path):
    refused = of(office()).request(method, path, headers=HEADERS, content=b"{}")
    assert refused.status_code == 413
    assert refused.json()["error"] == "a request has no body here"


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_acts_have_one_method(method):
    for path in ("/api/v1/actions/pause", "/api/v1/silences"):
        answer = of(office()).request(method, path, headers=HEADERS)
        assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
        assert of(office()).request(method, path).status_code == 401
