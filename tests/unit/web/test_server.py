import asyncio
import resource
import socket
import threading

import httpx
import pytest

from monitor.errors import ConfigurationError, MonitorError
from monitor.tls import Tls
from monitor.web import server as serving
from monitor.web.server import Server
from tests.support.reports import example, report, window_report
from tests.support.web import app


@pytest.fixture
def server():
    running = Server(app(example()), "127.0.0.1", 0)
    running.start()
    yield running
    running.stop()


def url(server: Server, path: str) -> str:
    return f"http://127.0.0.1:{server.port}{path}"


def test_it_serves_once_started_and_not_when_stopped(server):
    assert server.port != 0
    assert httpx.get(url(server, "/livez")).status_code == 200
    assert "classifier_recall" in httpx.get(url(server, "/metrics")).text
    assert server.alive
    server.stop()
    assert not server.alive
    with pytest.raises(httpx.ConnectError):
        httpx.get(url(server, "/livez"))


def test_it_says_no_more_of_itself_than_needed(server):
    assert "server" not in httpx.get(url(server, "/livez")).headers


def test_a_taken_port_is_named_with_the_remedy(server):
    with pytest.raises(MonitorError, match=rf"server\.port {server.port} on 127\.0\.0\.1 is taken"):
        Server(app(None), "127.0.0.1", server.port).start()


@pytest.mark.parametrize("host", ["192.0.2.1", "no.such.host.invalid", "a..b"])
def test_a_foreign_address_is_named(host):
    with pytest.raises(MonitorError, match=r"server\.host"):
        Server(app(None), host, 0).start()


def test_files_of_tls_that_do_not_fit_are_named_before_anything_is_bound(tmp_path):
    (tmp_path / "text").write_text("no certificate\n")
    server = Server(app(None), "127.0.0.1", 0, Tls(str(tmp_path / "text"), "none"))
    with pytest.raises(ConfigurationError, match=r"server\.tls\.cert_file: .*text holds no certificate"):
        server.start()
    assert server.port == 0
    assert not server.alive


@pytest.mark.parametrize(
    ("descriptors", "connections"), [(1024, 256), (256, 128), (1_048_576, 256), (resource.RLIM_INFINITY, 256)]
)
def test_connections_leave_descriptors_for_the_rest(monkeypatch, descriptors, connections):
    monkeypatch.setattr(resource, "getrlimit", lambda _: (descriptors, descriptors))
    assert serving._most_connections() == connections


def test_clients_that_do_not_read_or_write_hold_up_nobody():
    windows = (window_report(version=str(n)) for n in range(400))
    server = Server(app(report(*windows)), "127.0.0.1", 0)
    server.start()
    slow = []
    try:
        for path in ("/metrics", "/api/v1/report", "/"):
            for sent in (f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n", f"GET {path} HTTP/1.1\r\nHo"):
                client = socket.create_connection(("127.0.0.1", server.port))
                client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
                client.sendall(sent.encode())
                slow.append(client)
        for path in ("/livez", "/readyz", "/healthz", "/metrics"):
            assert httpx.get(url(server, path), timeout=20).status_code == 200
        server.stop()
        assert not server.alive
    finally:
        for client in slow:
            client.close()
        server.stop()


def test_stop_is_bounded_while_a_request_hangs():
    hanging, release = threading.Event(), threading.Event()

    async def hang(scope, receive, send):
        hanging.set()
        while not release.is_set():
            await asyncio.sleep(0.01)

    server = Server(hang, "127.0.0.1", 0)
    server.start()
    with socket.create_connection(("127.0.0.1", server.port)) as client:
        client.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert hanging.wait(10)
        server.stop()
    release.set()
    assert not server.alive


def test_stop_before_start_does_nothing():
    Server(app(None), "127.0.0.1", 0).stop()
