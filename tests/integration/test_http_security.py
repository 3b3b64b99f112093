"""The HTTP server among clients that are slow, many, malformed or malicious; over real sockets."""

from __future__ import annotations

import collections
import logging
import re
import shutil
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from monitor.tls import Tls, client_context
from monitor.web import connections as limits
from monitor.web import server as serving
from monitor.web.openapi import OPENAPI
from monitor.web.pages import ASSETS
from monitor.web.server import Server
from tests.support.certificates import Certificates
from tests.support.desks import Office
from tests.support.reports import example, report, window_curves, window_report
from tests.support.shown_alerts import VIEW, office
from tests.support.sockets import SECONDS, Answer, ask, connected, ended, read_answer, request
from tests.support.web import HOSTILE, app

PROBES = ("/livez", "/readyz", "/healthz")
PARAMETERS = ("model", "version", "window", "segment", "format", "curves")
PATHS = (*OPENAPI["paths"], *sorted(ASSETS))
TOKEN = "a-token-to-act-with"


def only_own_scripts(html: bytes) -> bool:
    """Whether every script is one of ours, from its file."""
    return html.count(b"<script") == len(
        re.findall(rb'<script src="[A-Za-z.]+\.js" defer=""></script>', html)
    )


def wait_until(condition: Callable[[], bool], seconds: float = SECONDS) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not within {seconds} s"
        time.sleep(0.01)


@pytest.fixture(scope="module")
def tls(tmp_path_factory: pytest.TempPathFactory) -> Tls:
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl")
    made = Certificates(tmp_path_factory.mktemp("http") / "certificates")
    return Tls(str(made.broker.certificate), str(made.broker.key), None, None)


@pytest.fixture(params=["http", "https"])
def context(request: pytest.FixtureRequest) -> ssl.SSLContext | None:
    """How to connect, in the clear and with TLS."""
    return client_context(request.getfixturevalue("tls")) if request.param == "https" else None


@pytest.fixture
def server(context: ssl.SSLContext | None, request: pytest.FixtureRequest) -> Iterator[Server]:
    running = Server(
        app(example()), "127.0.0.1", 0, None if context is None else request.getfixturevalue("tls")
    )
    running.start()
    yield running
    running.stop()


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """A server in the clear, whose report has a hostile name, for all tests that do not wear it out."""
    running = Server(app(report(window_report(model=HOSTILE, version=HOSTILE))), "127.0.0.1", 0)
    running.start()
    yield running.port
    running.stop()


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits that a test can wait for."""
    monkeypatch.setattr(limits, "REQUEST_SECONDS", 0.5)
    monkeypatch.setattr(limits, "ANSWER_SECONDS", 1.0)
    monkeypatch.setattr(serving, "REAP_SECONDS", 0.05)


# Slow clients


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(
    "sent",
    [b"", b"GET / HTTP/1.1\r\nHost: localhost\r\nX-A: ", request("/livez"), request("/livez") + b"GET /l"],
    ids=["nothing", "a part of a request", "a request", "a request and a part"],
)
def test_who_sends_no_complete_request_is_dropped(server, context, sent):
    with connected(server.port, context) as client:
        client.sendall(sent)
        assert ended(client)
    wait_until(lambda: not list(server._connections))


@pytest.mark.usefixtures("quick")
def test_a_request_that_comes_byte_by_byte_is_dropped(server, context):
    with connected(server.port, context) as client:
        with pytest.raises(OSError):
            for _ in range(1000):
                client.sendall(b"GET / HTTP/1.1\r\n" if _ == 0 else b"X-A: b\r\n")
                time.sleep(0.02)
    wait_until(lambda: not list(server._connections))


@pytest.mark.usefixtures("quick")
def test_a_tls_handshake_that_never_comes_is_dropped(tls):
    server = Server(app(None), "127.0.0.1", 0, tls)
    server.start()
    try:
        for sent in (b"", b"\x16\x03\x01\x02\x00\x01"):
            with connected(server.port) as client:
                client.sendall(sent)
                assert ended(client)
        wait_until(lambda: not list(server._connections))
    finally:
        server.stop()


@pytest.mark.usefixtures("quick")
def test_who_does_not_take_the_answer_is_dropped(context, tls):
    """The answer is larger than what the buffers of the system hold."""

    async def large(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": bytes(64 * 2**20)})

    server = Server(large, "127.0.0.1", 0, None if context is None else tls)
    server.start()
    try:
        with connected(server.port, context, receive_buffer=4096) as client:
            client.sendall(request("/"))
            wait_until(lambda: any(c.unsent for c in server._connections))
            wait_until(lambda: not list(server._connections))
            assert ended(client)
    finally:
        server.stop()


# Many clients


def test_idle_connections_make_room_for_others(monkeypatch, context, tls):
    monkeypatch.setattr(serving, "MOST", 20)
    server = Server(app(example()), "127.0.0.1", 0, None if context is None else tls)
    server.start()
    try:
        with ExitStack() as stack:
            for n in range(100):
                # Every other one stops before or in a TLS handshake, or amid a request.
                client = stack.enter_context(connected(server.port, context if n % 2 else None))
                client.sendall(b"GET / HTTP/1.1\r\nHo" if n % 3 else b"")
                if n % 25 == 0:
                    for path in (*PROBES, "/metrics"):
                        assert ask(server.port, path, context=context).status == 200
            assert len(list(server._connections)) <= 20
            assert ask(server.port, "/livez", context=context).status == 200
    finally:
        server.stop()


def test_probes_and_scrapes_are_answered_while_many_ask_for_much():
    windows = (replace(window_report(version=str(n)), curves=window_curves(2, 2, 2)) for n in range(20))
    server = Server(app(report(*windows)), "127.0.0.1", 0)
    server.start()
    answers: list[Answer | None] = []
    clients = [
        threading.Thread(target=lambda: answers.append(ask(server.port, "/api/v1/report?curves=true")))
        for _ in range(200)
    ]
    try:
        for client in clients:
            client.start()
        rounds = 0
        while rounds < 3 or (rounds < 20 and any(client.is_alive() for client in clients)):
            for path in (*PROBES, "/metrics"):
                assert ask(server.port, path).status == 200
            rounds += 1
        for client in clients:
            client.join()
    finally:
        server.stop()
    counts = collections.Counter(None if answer is None else answer.status for answer in answers)
    assert set(counts) <= {200, 503}, counts
    assert counts[200] > 0
    for answer in answers:
        assert answer.status == 200 or int(answer.headers["retry-after"]) > 0


def test_pipelined_requests_are_answered_in_order(server, context):
    with connected(server.port, context) as client:
        client.sendall(b"".join(request(path) for path in PROBES * 20) + request("/x", "Connection: close"))
        received = b""
        while piece := client.recv(65536):
            received += piece
    codes = [line.split()[0] for line in received.split(b"HTTP/1.1 ")[1:]]
    assert codes == [b"200"] * 60 + [b"404"]


def test_half_closed_sockets_end(server):
    for sent in (b"", b"GET / HT", request("/livez"), request("/metrics")):
        with socket.create_connection(("127.0.0.1", server.port), timeout=SECONDS) as client:
            client.sendall(sent)
            client.shutdown(socket.SHUT_WR)
            assert ended(client)
    wait_until(lambda: not list(server._connections))


# Malformed requests


@pytest.mark.parametrize(
    "sent",
    [
        request("/" + "a" * 100_000),
        request("/?model=" + "a" * 100_000),
        request("/", "X-A: " + "a" * 100_000),
        request("/", *(f"X-{n}: a" for n in range(20_000))),
        request("/", "Host: localhost"),
        request("/", "Content-Length: -1"),
        request("/", "Content-Length: 1", "Content-Length: 2"),
        request("/", "Content-Length: 1", "Transfer-Encoding: chunked"),
        request("/", "X-A: \x00"),
        b"GET / HTTP/1.1\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\x00" * 100_000,
    ],
)
def test_what_is_no_good_request_is_refused_without_html(port, sent, caplog):
    with connected(port) as client, caplog.at_level(logging.WARNING):
        try:
            client.sendall(sent)
            answer = read_answer(client)
        except OSError:  # it was closed while more was sent
            answer = None
    if answer is not None:
        assert answer.status in (400, 413, 431)
        assert answer.headers["content-type"].partition(";")[0] in ("text/plain", "application/json")
    assert not caplog.records
    assert ask(port, "/livez").status == 200


@pytest.mark.parametrize("headers", [["Content-Length: 1000000000000"], ["Transfer-Encoding: chunked"]])
def test_a_body_is_not_waited_for(port, headers):
    with connected(port) as client:
        client.sendall(request("/api/v1/report", *headers, method="POST"))
        assert read_answer(client).status == 413
        assert ended(client)


def test_an_upgrade_is_not_done(port):
    answer = ask(port, "/livez", "Connection: Upgrade", "Upgrade: websocket")
    assert answer.status == 200


BYTES = st.binary(max_size=60)
PRINTABLE = st.binary(max_size=60).map(lambda b: bytes(33 + x % 94 for x in b))


@settings(max_examples=100, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    path=st.one_of(BYTES, PRINTABLE, st.sampled_from([p.encode() for p in PATHS])),
    query=st.one_of(
        BYTES,
        PRINTABLE,
        st.tuples(
            st.sampled_from([name.encode() for name in (*PARAMETERS, "refresh")]),
            BYTES.map(lambda b: b"".join(b"%%%02x" % x for x in b)),
        ).map(b"=".join),
    ),
    name=st.one_of(BYTES, st.sampled_from([b"Accept", b"Accept-Encoding", b"Authorization", b"Cookie"])),
    value=st.one_of(BYTES, PRINTABLE),
)
def test_any_bytes_are_answered(port, caplog, path, query, name, value):
    with connected(port) as client, caplog.at_level(logging.WARNING):
        client.sendall(
            b"GET /" + path.lstrip(b"/") + b"?" + query + b" HTTP/1.1\r\nHost: localhost\r\n"
            b"Connection: close\r\n" + name + b": " + value + b"\r\n\r\n"
        )
        answer = read_answer(client)
    assert answer is not None
    assert answer.status in (200, 400, 403, 404, 405, 413)  # 403, 405: of paths that act, which GET does not
    assert not answer.headers["content-type"].startswith("text/html") or only_own_scripts(answer.body)
    assert not caplog.records


# Files and scripts


@pytest.mark.parametrize(
    "path",
    [
        *("/../../../../etc/passwd", "/..%2f..%2f..%2fetc%2fpasswd", "/%2e%2e/%2e%2e/etc/passwd"),
        *("/style.css/../app.py", "/style.css%00.py", "/app.py", "//etc/passwd", "/style.css/%2e%2e/app.py"),
        *("/..\\..\\etc\\passwd", "/%5c..%5cetc%5cpasswd", "/%252e%252e%252fetc%252fpasswd", "/.git/config"),
        *("file:///etc/passwd", "http://localhost/etc/passwd", "/proc/self/environ", "/monitor.yaml"),
        *("/api/v1/report/../../../etc/passwd", "/%c0%ae%c0%ae/etc/passwd", "*", "/;/etc/passwd"),
    ],
)
def test_no_path_reads_a_file(port, path):
    answer = ask(port, path)
    assert answer.status == 404
    assert answer.headers["content-type"] == "application/json"
    assert b"root:" not in answer.body


@pytest.mark.parametrize("value", ["/etc/passwd", "../../../../etc/passwd", "file:///etc/passwd", "%00", "*"])
@pytest.mark.parametrize("name", PARAMETERS)
def test_no_parameter_reads_a_file(port, name, value):
    answer = ask(port, f"/api/v1/report?{name}={value}")
    assert answer.status in (400, 404)
    assert b"root:" not in answer.body


SCRIPT = "%22%3E%3Cscript%3Ealert(1)%3C/script%3E%3Cimg%20src=x%20onerror=alert(1)%3E"


@pytest.mark.parametrize(
    "name", ["model", "version", "window", "segment", "refresh", "format", "curves", "x"]
)
@pytest.mark.parametrize("path", ["/", "/api/v1/report", "/api/v1/models", "/livez", "/nothing"])
def test_no_parameter_becomes_a_script(port, path, name):
    answer = ask(port, f"{path}?{name}={SCRIPT}")
    kind = answer.headers["content-type"].partition(";")[0]
    assert kind == ("text/html" if path == "/" else "application/json")
    assert answer.headers["x-content-type-options"] == "nosniff"
    if kind == "text/html":
        for opening in (b"<script>", b"<img", b"onerror=alert(1)>"):
            assert opening not in answer.body
        assert only_own_scripts(answer.body)
        assert "default-src 'none'" in answer.headers["content-security-policy"]


@pytest.mark.parametrize("host", ["<script>alert(1)</script>", "evil.example", "localhost.evil.example:9464"])
@pytest.mark.parametrize("path", ["/", "/metrics", "/livez", "/openapi.json", "/nothing"])
def test_a_foreign_host_reads_nothing(port, path, host):
    """What a page of another site sends whose name resolves to this machine (DNS rebinding)."""
    answer = ask(port, path, f"Origin: http://{host}", host=host)
    assert answer.status == 400
    assert answer.headers["content-type"] == "application/json"
    assert not any(name.startswith("access-control") for name in answer.headers)


def test_forwarding_headers_change_nothing(port):
    headers = ("X-Forwarded-Host: localhost", "X-Forwarded-For: 127.0.0.1", "Forwarded: host=localhost")
    assert ask(port, "/metrics", *headers, host="evil.example").status == 400


def test_a_path_in_the_absolute_form_cannot_replace_host(port):
    assert ask(port, "http://localhost/metrics", host="evil.example").status == 400


# Acts


@pytest.fixture
def acting() -> Iterator[tuple[Server, Office]]:
    """A server where somebody may act, and the desk that is asked."""
    made = office()
    running = Server(app(example(), alerts=lambda: VIEW, desk=made.desk, act_token=TOKEN), "127.0.0.1", 0)
    running.start()
    yield running, made
    running.stop()


def post(path: str, *headers: str, body: bytes = b"{}", host: str = "localhost") -> bytes:
    length = () if any(h.startswith("Content-Length") for h in headers) else (f"Content-Length: {len(body)}",)
    return request(path, *headers, *length, "Content-Type: application/json", method="POST", host=host) + body


RIGHT = f"Authorization: Bearer {TOKEN}"
PAUSE = "/api/v1/actions/pause"


def test_an_act_over_a_connection_that_goes_on(acting):
    server, made = acting
    with connected(server.port) as client:
        asked = (post(PAUSE, RIGHT), post(PAUSE), post(PAUSE, RIGHT, body=b"{"), post("/", RIGHT, body=b""))
        client.sendall(b"".join(asked) + request("/livez", "Connection: close"))
        received = b""
        while piece := client.recv(65536):
            received += piece
    codes = [line.split()[0] for line in received.split(b"HTTP/1.1 ")[1:]]
    assert codes == [b"200", b"401", b"400", b"405", b"200"]
    assert made.desk.view().paused is not None


@pytest.mark.parametrize(
    "headers, host, status",
    [
        ([], "localhost", 401),
        (["Authorization: Bearer x"], "localhost", 401),
        ([RIGHT, "Origin: http://evil.example"], "localhost", 403),
        ([RIGHT, "Origin: null"], "localhost", 403),
        ([RIGHT, "Origin: http://evil.example"], "evil.example", 400),  # DNS rebinding
        ([RIGHT, "Content-Length: 16385"], "localhost", 413),
        ([RIGHT, "Content-Length: 100000000000"], "localhost", 413),
    ],
)
def test_who_may_not_act_does_not(acting, headers, host, status):
    server, made = acting
    with connected(server.port) as client:
        client.sendall(post(PAUSE, *headers, host=host))
        answer = read_answer(client)
    assert answer.status == status
    assert not any(name.startswith("access-control") for name in answer.headers)
    assert made.desk.view().paused is None


def test_a_browser_that_asks_first_is_not_allowed(acting):
    server, _ = acting
    asked = ("Origin: http://evil.example", "Access-Control-Request-Method: POST")
    answer = ask(server.port, PAUSE, *asked, method="OPTIONS")
    assert answer.status == 403
    assert not any(name.startswith("access-control") for name in answer.headers)


@pytest.mark.usefixtures("quick")
def test_a_body_that_does_not_come_is_dropped_and_nothing_done(acting, caplog):
    server, made = acting
    with connected(server.port) as client, caplog.at_level(logging.WARNING):
        client.sendall(post(PAUSE, RIGHT, "Content-Length: 100"))
        assert ended(client)
    with connected(server.port) as client:  # and one who leaves amid the body
        client.sendall(post(PAUSE, RIGHT, "Content-Length: 100"))
    wait_until(lambda: not list(server._connections))
    assert made.desk.view().paused is None
    assert not caplog.records


@pytest.mark.parametrize("path", [PAUSE, "/api/v1/silences", "/gate/flagger/rollback"])
@settings(max_examples=20, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(body=st.one_of(st.binary(max_size=60), st.just(b"[" * 16_000)))
def test_any_body_is_answered(acting, caplog, path, body):
    server, _ = acting
    with connected(server.port) as client, caplog.at_level(logging.WARNING):
        client.sendall(post(path, RIGHT, "Connection: close", body=body))
        assert read_answer(client).status in ({409} if path.startswith("/gate") else {200, 400})
    assert not caplog.records


# TLS


def test_http_on_the_port_of_https_ends_without_a_word_in_the_log(tls, caplog):
    server = Server(app(None), "127.0.0.1", 0, tls)
    server.start()
    try:
        with caplog.at_level(logging.WARNING), connected(server.port) as client:
            client.sendall(request("/livez"))
            assert ended(client)
        assert not caplog.records
    finally:
        server.stop()


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_tls_from_1_2_on(tls, version):
    server = Server(app(None), "127.0.0.1", 0, tls)
    server.start()
    try:
        context = client_context(tls)
        context.minimum_version = context.maximum_version = version
        assert ask(server.port, "/livez", context=context).status == 200
    finally:
        server.stop()


def test_clients_need_a_certificate_of_the_right_authority(tmp_path: Path):
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl")
    made = Certificates(tmp_path / "certificates")
    files = Tls(str(made.broker.certificate), str(made.broker.key), None, str(made.ca.certificate))
    server = Server(app(None), "127.0.0.1", 0, files)
    server.start()

    def answer(shown: object) -> Answer | None:
        context = ssl.create_default_context(cafile=made.ca.certificate)
        if shown is not None:
            context.load_cert_chain(shown.certificate, shown.key)
        try:
            return ask(server.port, "/livez", context=context)
        except (ssl.SSLError, ConnectionError):
            return None

    try:
        assert answer(made.client).status == 200
        assert answer(None) is None
        assert answer(made.stranger) is None
    finally:
        server.stop()
