"""What is refused before any path is looked at."""

import base64

import pytest

from tests.support.reports import example, status
from tests.support.web import READABLE, Client, app, client

TOKEN = "a-token-that-is-long-enough"
PROBES = {"/livez", "/readyz", "/healthz"}


def basic(user: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


RIGHT = [f"Bearer {TOKEN}", f"bearer  {TOKEN} ", basic("", TOKEN), basic("anyone", TOKEN)]
WRONG = [
    *("", "Bearer", "Bearer ", f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}", f"Bearer {TOKEN} {TOKEN}"),
    *(TOKEN, f"Token {TOKEN}", f"Bearer {TOKEN.upper()}", "Bearer \xfc", "Basic", "Basic ====", "Basic \xfc"),
    *(basic(TOKEN, ""), basic("a", f"b:{TOKEN}"), basic("a", TOKEN + "\0"), f"Basic {TOKEN}"),
    "Basic " + base64.b64encode(TOKEN.encode()).decode(),
]


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:9464", "127.0.0.1:9464", "127.0.0.2", "[::1]:9464", "Monitor.example:80"]
)
def test_hosts_that_are_served(host):
    made = client(allowed_hosts=("monitor.EXAMPLE", "fd00::1"))
    assert made.get("/livez", headers={"Host": host}).status_code == 200
    assert made.get("/livez", headers={"Host": "[fd00::1]:9464"}).status_code == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "localhost.evil.example", "192.0.2.7", "", "127.0.0.1.nip.io", "["]
)
@pytest.mark.parametrize("path", ["/", "/metrics", "/livez"])
def test_hosts_that_are_refused(host, path):
    refused = client().get(path, headers={"Host": host})
    assert refused.status_code == 400
    assert "server.allowed_hosts" in refused.json()["error"]


def test_the_address_that_was_connected_to_is_served():
    made = Client(app(None), "http://192.0.2.7:9464")  # the client puts this into scope["server"]
    assert made.get("/livez").status_code == 200
    assert made.get("/livez", headers={"Host": "192.0.2.8"}).status_code == 400


@pytest.mark.parametrize("path", [*READABLE, "/nothing"])
def test_all_but_probes_need_the_token(path):
    guarded = client(read_token=TOKEN)
    refused = guarded.get(path)
    if path in PROBES:
        assert refused.status_code == 200
        return
    assert refused.status_code == 401
    assert refused.headers["www-authenticate"] == 'Basic realm="monitor", Bearer'
    assert refused.headers["content-type"] == "application/json"
    assert "server.read_token_file" in refused.json()["error"]
    assert TOKEN not in refused.text
    for right in RIGHT:
        given = guarded.get(path, headers={"Authorization": right})
        assert given.status_code == (404 if path == "/nothing" else 200)
        assert given.headers["content-type"] == client().get(path).headers["content-type"]


@pytest.mark.parametrize("wrong", WRONG)
def test_another_token_is_refused(wrong):
    guarded = client(read_token=TOKEN)
    refused = guarded.get("/metrics", headers={"Authorization": wrong.encode("latin-1")})
    assert refused.status_code == 401
    assert refused.json()["error"].startswith("what Authorization carries is not the token")
    assert guarded.get("/livez", headers={"Authorization": wrong.encode("latin-1")}).status_code == 200


@pytest.mark.parametrize("path", ["/LIVEZ", "/livez/", "/livez/metrics", "/livez;/metrics", "/x"])
def test_only_probes_themselves_are_free(path):
    assert client(read_token=TOKEN).get(path).status_code == 401


def test_a_token_does_not_make_up_for_a_foreign_host():
    headers = {"Host": "evil.example", "Authorization": f"Bearer {TOKEN}"}
    assert client(read_token=TOKEN).get("/metrics", headers=headers).status_code == 400


def test_why_something_is_wrong_is_told_to_who_has_the_token():
    ill = Client(app(None, status(broker_error="SASL of broker-7.internal failed"), read_token=TOKEN))
    told = ill.get("/healthz", headers={"Authorization": f"Bearer {TOKEN}"})
    hidden = ill.get("/healthz")
    assert told.status_code == hidden.status_code == 503
    assert "broker-7" in told.text
    assert "broker-7" not in hidden.text
    assert [reason["name"] for reason in hidden.json()["reasons"]] == ["broker"]


def test_without_a_token_none_is_needed():
    assert client().get("/metrics", headers={"Authorization": "Bearer x"}).status_code == 200


@pytest.mark.parametrize("path", ["/livez", "/api/v1/report", "/nothing"])
@pytest.mark.parametrize("headers", [{"Content-Length": "1"}, {"Transfer-Encoding": "chunked"}])
def test_a_body_is_refused(path, headers):
    refused = client().request("GET", path, headers=headers)
    assert refused.status_code == 413
    assert refused.headers["connection"] == "close"
    assert refused.json()["error"] == "a request has no body here"


@pytest.mark.parametrize("path", ["/livez", "/api/v1/report"])
def test_a_large_request_is_refused(path):
    for asked, headers in ((f"{path}?x={'a' * 16_000}", {}), (path, {"Cookie": "a" * 16_000})):
        assert client().get(asked, headers=headers).status_code == 200
        refused = client().get(asked.replace("?", "?y=" + "a" * 400), headers={**headers, "X-A": "b" * 400})
        assert refused.status_code == 431
        assert refused.json()["error"] == "a request has up to 16384 bytes here"


def test_an_empty_body_is_none():
    assert client().get("/livez", headers={"Content-Length": "0"}).status_code == 200


@pytest.mark.parametrize("headers", [{}, {"Host": "evil.example"}, {"Content-Length": "9"}])
def test_every_answer_has_the_headers_for_browsers(headers):
    guarded = Client(app(example(), read_token=TOKEN))
    for path in (*READABLE, "/nothing"):
        answer = guarded.get(path, headers=headers)
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'; script-src 'self'; style-src 'self'; " in policy
        assert "unsafe" not in policy
        assert "http" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"
