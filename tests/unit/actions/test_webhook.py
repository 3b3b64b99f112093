"""The webhook against receivers that do what receivers do."""

import hmac
import json
import socket
import ssl
import threading
import time
from collections.abc import Callable

import pytest

from monitor.actions.decision import Decision
from monitor.actions.http import MAX_ANSWER, Client, Endpoint, HttpError, verifying_context
from monitor.actions.sender import FIRST_RETRY, LAST_RETRY, retry_after
from monitor.actions.webhook import Webhook
from tests.support.certificates import Certificates
from tests.support.desks import Office, alert
from tests.support.receivers import Received, Reply, answer, receiving, response

SECRET = "a-secret"
NOW = 1_764_400_000_999_999


@pytest.fixture
def decision() -> Decision:
    office = Office()
    office.act(alert())
    return office.sender.sent[0]


def test_what_arrives(decision: Decision) -> None:
    with receiving(answer(204)) as receiver:
        hook = Webhook(f"{receiver.url}/hooks/rollback?token=t", SECRET, 5)
        assert hook.send(decision, NOW).result == "done"
    [request] = receiver.requests
    assert (request.method, request.path) == ("POST", "/hooks/rollback?token=t")
    assert json.loads(request.body) == decision.payload()
    assert request.headers["host"] == f"127.0.0.1:{receiver.port}"
    assert request.headers["content-type"] == "application/json"
    assert request.headers["idempotency-key"] == decision.idempotency_key
    assert request.headers["x-monitor-timestamp"] == "1764400000"


def test_the_signature(decision: Decision) -> None:
    with receiving(answer(200)) as receiver:
        Webhook(receiver.url, SECRET, 5).send(decision, NOW)
    [request] = receiver.requests
    expected = hmac.digest(SECRET.encode(), b"1764400000." + request.body, "sha256").hex()
    assert request.headers["x-monitor-signature"] == f"v1={expected}"
    assert SECRET.encode() not in request.body


def test_attempts_differ_in_nothing_but_time(decision: Decision) -> None:
    with receiving(answer(500)) as receiver:
        hook = Webhook(receiver.url, SECRET, 5)
        hook.send(decision, NOW)
        hook.send(decision, NOW + 5_000_000)
    first, second = receiver.requests
    assert first.body == second.body
    assert first.headers["idempotency-key"] == second.headers["idempotency-key"]
    assert first.headers["x-monitor-signature"] != second.headers["x-monitor-signature"]


@pytest.mark.parametrize(
    ("status", "result"),
    [
        (200, "done"),
        (202, "done"),
        (301, "failed"),
        (302, "failed"),
        (307, "failed"),
        (400, "failed"),
        (401, "failed"),
        (404, "failed"),
        (408, "retry"),
        (425, "retry"),
        (429, "retry"),
        (500, "retry"),
        (503, "retry"),
    ],
)
def test_what_answers_mean(decision: Decision, status: int, result: str) -> None:
    with receiving(answer(status, b"out of order\x1b[2J", "Location: http://127.0.0.1:1/")) as receiver:
        outcome = Webhook(receiver.url, SECRET, 5).send(decision, NOW)
    assert outcome.result == result
    assert f"{receiver.url} answered {status}" in (outcome.message or "")
    assert "\x1b" not in (outcome.message or "")
    assert receiver.connections == 1  # no redirect is followed


def test_a_redirect_says_so(decision: Decision) -> None:
    with receiving(answer(302)) as receiver:
        outcome = Webhook(receiver.url, SECRET, 5).send(decision, NOW)
    assert "redirects are not followed" in (outcome.message or "")


def test_a_receiver_that_refuses(decision: Decision) -> None:
    with receiving() as receiver:
        pass
    outcome = Webhook(f"{receiver.url}/secret-path", SECRET, 5).send(decision, NOW)
    assert outcome == ("retry", f"{receiver.url}: Connection refused")


def test_a_name_that_does_not_resolve(decision: Decision) -> None:
    outcome = Webhook("http://no-such-host.invalid/", SECRET, 5).send(decision, NOW)
    assert outcome.result == "retry"
    assert outcome.message is not None and "http://no-such-host.invalid: the name does not" in outcome.message


@pytest.mark.parametrize("name", ["a" * 70, "ä..b"])
def test_a_name_that_is_none(decision: Decision, name: str) -> None:
    assert Webhook(f"http://{name}/", SECRET, 5).send(decision, NOW).result == "retry"


def slow(content: bytes) -> Reply:
    def reply(client: socket.socket, _: Received) -> None:
        for byte in content:
            client.sendall(bytes([byte]))
            time.sleep(0.05)

    return reply


@pytest.mark.parametrize(
    "reply",
    [
        None,
        slow(response(200, b"x" * 1000)),
        slow(b"HTTP/1.1 100 Continue\r\n\r\n" * 100),
        slow(b"HTTP/1.1 200 OK\r\nX: " + b"y" * 1000),
    ],
    ids=["silence", "bytes", "continue", "header"],
)
@pytest.mark.parametrize("secure", [False, True])
def test_nothing_outlasts_the_timeout(decision: Decision, reply, secure: bool, tls: Certificates) -> None:
    # In a thread: what hangs for ever should fail here, not end the run.
    with receiving(reply, server_context(tls) if secure else None) as receiver:
        hook = Webhook(receiver.url, SECRET, 0.3, verifying_context(str(tls.ca.certificate)))
        outcomes: list[object] = []
        thread = threading.Thread(target=lambda: outcomes.append(hook.send(decision, NOW)), daemon=True)
        thread.start()
        thread.join(10)
        assert outcomes == [("retry", f"{receiver.url}: no whole answer within 0.3 s")]


def test_what_is_no_http(decision: Decision) -> None:
    with receiving(lambda client, _: client.sendall(b"SSH-2.0-OpenSSH\r\n")) as receiver:
        outcome = Webhook(receiver.url, SECRET, 5).send(decision, NOW)
    assert outcome == ("retry", f"{receiver.url}: what answers is no HTTP server (BadStatusLine)")


def test_a_connection_that_is_closed(decision: Decision) -> None:
    with receiving(lambda client, _: None) as receiver:
        outcome = Webhook(receiver.url, SECRET, 5).send(decision, NOW)
    assert outcome == ("retry", f"{receiver.url}: it closed the connection without an answer")


def test_an_answer_is_read_to_a_limit() -> None:
    with receiving(answer(200, b"x" * (MAX_ANSWER * 20))) as receiver:
        found = Client(Endpoint.of(receiver.url), 5).request("GET", "/", {})
    assert found.status == 200
    assert len(found.body) == MAX_ANSWER


def test_proxies_of_the_environment_are_not_used(decision: Decision, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    with receiving(answer(200)) as receiver:
        assert Webhook(receiver.url, SECRET, 5).send(decision, NOW).result == "done"


def test_closing_cuts_off_what_is_under_way(decision: Decision) -> None:
    with receiving() as receiver:
        hook = Webhook(receiver.url, SECRET, 30)
        outcomes: list[object] = []
        thread = threading.Thread(target=lambda: outcomes.append(hook.send(decision, NOW)))
        thread.start()
        while not receiver.connections:
            time.sleep(0.01)
        hook.close()
        thread.join(10)
        assert len(outcomes) == 1
    with receiving(answer(200)) as receiver:
        hook = Webhook(receiver.url, SECRET, 30)
        hook.close()
        assert hook.send(decision, NOW).result == "retry"
        assert receiver.connections == 0


# --- TLS.


@pytest.fixture(scope="module")
def tls(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return Certificates(tmp_path_factory.mktemp("hooks") / "tls")


def server_context(tls: Certificates, name: str = "broker") -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*getattr(tls, name))
    return context


def sent_to(
    tls: Certificates, decision: Decision, name: str, context: Callable[[], ssl.SSLContext | None]
) -> tuple[object, list[Received]]:
    with receiving(answer(200), server_context(tls, name)) as receiver:
        return Webhook(receiver.url, SECRET, 5, context()).send(decision, NOW), receiver.requests


def test_a_certificate_of_the_named_authority(tls: Certificates, decision: Decision) -> None:
    outcome, requests = sent_to(tls, decision, "broker", lambda: verifying_context(str(tls.ca.certificate)))
    assert outcome.result == "done"
    assert len(requests) == 1


@pytest.mark.parametrize(
    ("name", "known", "said"),
    [("stranger", True, "not trusted"), ("misnamed", True, "not trusted"), ("broker", False, "not trusted")],
)
def test_other_certificates_get_nothing(
    tls: Certificates, decision: Decision, name: str, known: bool, said: str
) -> None:
    outcome, requests = sent_to(
        tls, decision, name, lambda: verifying_context(str(tls.ca.certificate)) if known else None
    )
    assert outcome.result == "retry"
    assert said in outcome.message
    assert requests == []


def test_a_server_without_tls(tls: Certificates, decision: Decision) -> None:
    with receiving(answer(400)) as receiver:
        url = receiver.url.replace("http:", "https:")
        outcome = Webhook(url, SECRET, 1, verifying_context(str(tls.ca.certificate))).send(decision, NOW)
    assert outcome.result == "retry"


def test_authorities_that_cannot_be_used(tls: Certificates, tmp_path) -> None:
    with pytest.raises(ValueError, match="cannot be read: No such file"):
        verifying_context(str(tmp_path / "missing"))
    with pytest.raises(ValueError, match="holds no certificate"):
        verifying_context(str(tls.ca.key))


# --- Small things.


def test_retries_wait_longer_and_longer() -> None:
    assert retry_after(1, 0) == FIRST_RETRY / 2
    assert retry_after(1, 1) == FIRST_RETRY
    waits = [retry_after(n, 1) for n in range(1, 5000)]
    assert waits == sorted(waits)
    assert waits[-1] == LAST_RETRY


@pytest.mark.parametrize(
    ("url", "shown", "path"),
    [
        ("https://hooks.example.com/a/b?c=d", "https://hooks.example.com", "/a/b?c=d"),
        ("http://[::1]:8080", "http://[::1]:8080", "/"),
        ("https://hooks.example.com:8443/", "https://hooks.example.com:8443", "/"),
    ],
)
def test_endpoints(url: str, shown: str, path: str) -> None:
    endpoint = Endpoint.of(url)
    assert (str(endpoint), endpoint.path) == (shown, path)


def test_an_error_is_no_answer() -> None:
    with pytest.raises(HttpError, match="Connection refused"):
        Client(Endpoint.of("http://127.0.0.1:1"), 5).request("GET", "/", {})
