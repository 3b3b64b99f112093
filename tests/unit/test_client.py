"""Asking a daemon for its report, and what is said when the answer is none."""

from __future__ import annotations

import json
import shutil
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from monitor.client import NoDaemonError, ReportFormat, fetch_report
from monitor.config import ServerConfig
from monitor.errors import ConfigurationError, MonitorError
from monitor.tls import Tls
from monitor.web.server import Server
from tests.support.certificates import Certificates
from tests.support.reports import example
from tests.support.web import app

Serve = Callable[..., Any]


@contextmanager
def served(
    body: bytes, status: int = 200, raw: bool = False, media: str = "application/json"
) -> Iterator[tuple[ServerConfig, list[str]]]:
    """Answer every request with one body; give where, and the paths that were asked for."""
    paths: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            paths.append(self.path)
            if not raw:
                self.send_response(status)
                self.send_header("Content-Type", media)
                self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield ServerConfig(host="127.0.0.1", port=server.server_port), paths
        finally:
            server.shutdown()
            thread.join()


def test_reports_are_joined() -> None:
    body = {"reports": [{"classification_report": "one\n"}, {"classification_report": "two\n"}]}
    with served(json.dumps(body).encode()) as (server, paths):
        assert fetch_report(server, "a b", None, "1h") == "one\n\ntwo\n"
    assert paths == ["/api/v1/report?model=a+b&window=1h"]


def test_a_report_as_json_is_the_answer() -> None:
    body = {"reports": [{"classification_report": "one\n", "value": 0.1 + 0.2}]}
    with served(json.dumps(body).encode()) as (server, _):
        assert json.loads(fetch_report(server, format=ReportFormat.JSON)) == body


def test_a_report_as_csv_is_asked_for_and_passed_on() -> None:
    table = "name,value\r\nclassifier_recall,0.5\r\n"
    with served(table.encode(), media="text/csv; charset=utf-8") as (server, paths):
        assert fetch_report(server, "m", format=ReportFormat.CSV) == table
    assert paths == ["/api/v1/report?model=m&format=csv"]


@pytest.mark.parametrize("format", ["json", "csv"])
def test_another_server_has_no_such_format(format: str) -> None:
    with served(b"<html>") as (server, _), pytest.raises(MonitorError, match="is no monitor; set"):
        fetch_report(server, format=ReportFormat(format))


def test_a_refusal_is_passed_on() -> None:
    with served(b'{"error": "no model \'x\'; known: fraud", "known": ["fraud"]}', 404) as (server, _):
        with pytest.raises(MonitorError, match="says: no model 'x'; known: fraud"):
            fetch_report(server, "x")


def test_a_daemon_of_other_models_is_another_one() -> None:
    body = {"models": [{"model": "churn"}, {"model": "fraud"}], "reports": [{"classification_report": "x"}]}
    with served(json.dumps(body).encode()) as (server, paths):
        with pytest.raises(MonitorError, match=r"does not have \('churn'\): set server.port to where yours"):
            fetch_report(server, models={"fraud", "spam"})
        assert paths == ["/api/v1/models"]
        for models in ({"fraud", "churn", "spam"}, {"*"}, None):
            assert fetch_report(server, models=models) == "x"


@pytest.mark.parametrize("body", [b"<html>", b"[]", b'"text"', b"{}"])
def test_a_server_without_models_is_another_one(body: bytes) -> None:
    with served(body) as (server, _), pytest.raises(MonitorError, match="is no monitor; set"):
        fetch_report(server, models={"fraud"})


@pytest.mark.parametrize("body", [b"<html>", b"[]", b'"text"', b"{}"])
def test_a_refusal_in_another_form(body: bytes) -> None:
    with served(body, 503) as (server, _), pytest.raises(MonitorError, match="says: 503 Service Unavailable"):
        fetch_report(server)


@pytest.mark.parametrize("body", [b"<html>", b"[]", b"{}", b'{"reports": [{}]}', b"\xff"])
def test_another_server(body: bytes) -> None:
    with served(body) as (server, _), pytest.raises(MonitorError, match="is no monitor; set"):
        fetch_report(server)


def test_something_that_does_not_speak_http() -> None:
    with served(b"hello\r\n\r\n", raw=True) as (server, _):
        with pytest.raises(MonitorError, match="is no monitor; set"):
            fetch_report(server)


def test_a_proxy_is_not_asked_about_this_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    with served(b'{"reports": []}') as (server, _):
        assert fetch_report(server) == ""


@pytest.mark.parametrize(
    ("host", "address"),
    [("0.0.0.0", "http://127.0.0.1:1"), ("::", r"http://\[::1\]:1"), ("::1", r"http://\[::1\]:1")],
)
def test_a_server_on_all_addresses_is_asked_on_this_machine(host: str, address: str) -> None:
    with pytest.raises(NoDaemonError, match=f"no daemon answers at {address} "):
        fetch_report(ServerConfig(host=host, port=1))


def refused(server: ServerConfig, message: str) -> None:
    """Fail unless the daemon, or what else is there, gives no report, and something does answer."""
    with pytest.raises(MonitorError, match=message) as error:
        fetch_report(server)
    assert not isinstance(error.value, NoDaemonError)


def test_something_that_hangs_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=lambda: listener.accept()[0].close())
        thread.start()
        refused(
            ServerConfig(port=listener.getsockname()[1]),
            r"closed this one without an answer; if it is a daemon that\s+serves HTTPS",
        )
        thread.join()


def test_something_that_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("monitor.client._TIMEOUT", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        refused(ServerConfig(port=listener.getsockname()[1]), "did not answer within 0 s")


Serving = Callable[..., ServerConfig]


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serving]:
    """Serve the example with a token, TLS, or neither; give the configuration that fits."""
    servers = []

    def serve(token: str | None = None, tls: Tls | None = None) -> ServerConfig:
        servers.append(Server(app(example(), read_token=token), "127.0.0.1", 0, tls))
        servers[-1].start()
        named: dict[str, Any] = {"port": servers[-1].port}
        if token is not None:
            (tmp_path / "token").write_text(f"{token}\n")
            named["read_token_file"] = str(tmp_path / "token")
        if tls is not None:
            named["tls"] = {name: getattr(tls, name) for name in Tls.__slots__}
        return ServerConfig.model_validate(named)

    yield serve
    for server in servers:
        server.stop()


def test_the_token_is_sent(serve: Serving) -> None:
    server = serve("secret-token")
    assert "model fraud" in fetch_report(server)
    assert fetch_report(server, format=ReportFormat.CSV).startswith("name,model,")


def test_a_missing_or_another_token_is_said_with_the_remedy(serve: Serving, tmp_path: Path) -> None:
    server = serve("secret-token")
    refused(
        server.model_copy(update={"read_token_file": None}), "asks for a token; set server.read_token_file"
    )
    (tmp_path / "token").write_text("other-token")
    refused(server, rf"the token in {tmp_path}/token \(server\.read_token_file\) is not the one")
    (tmp_path / "token").unlink()
    with pytest.raises(ConfigurationError, match=r"server\.read_token_file: .* cannot be read"):
        fetch_report(server)


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl")
    return Certificates(tmp_path_factory.mktemp("client") / "certificates")


def files(certificates: Certificates, name: str, client_ca: str | None = None) -> Tls:
    mine = getattr(certificates, name)
    authorities = None if client_ca is None else str(getattr(certificates, client_ca).certificate)
    return Tls(str(mine.certificate), str(mine.key), None, authorities)


def with_files(server: ServerConfig, tls: Tls | None) -> ServerConfig:
    """Return how to reach the same server for one who has other files."""
    named = None if tls is None else {name: getattr(tls, name) for name in Tls.__slots__}
    return ServerConfig.model_validate({"port": server.port, "tls": named})


@pytest.mark.parametrize("name", ["broker", "ca"])  # one of an authority, and a self-signed one
def test_https_with_the_certificate_in_the_configuration(
    serve: Serving, certificates: Certificates, name: str
) -> None:
    assert "model fraud" in fetch_report(serve("secret-token", files(certificates, name)))


def test_another_certificate_is_refused_even_by_the_same_authority(
    serve: Serving, certificates: Certificates
) -> None:
    server = serve(tls=files(certificates, "broker"))
    for other in ("client", "stranger"):
        refused(
            with_files(server, files(certificates, other)),
            r"does not show the certificate in server\.tls\.cert_file.*restart the daemon",
        )


def test_http_to_https_and_https_to_http(serve: Serving, certificates: Certificates) -> None:
    https = serve(tls=files(certificates, "broker"))
    refused(with_files(https, None), "closed this one without an answer.*set server.tls as it has it")
    http = serve()
    refused(
        with_files(http, files(certificates, "broker")),
        r"serves HTTP, not HTTPS; restart the daemon if server\.tls is new",
    )


def test_our_own_certificate_is_shown_where_clients_need_one(
    serve: Serving, certificates: Certificates
) -> None:
    server = serve(tls=files(certificates, "broker", "ca"))
    assert "model fraud" in fetch_report(server)
    refused(with_files(server, files(certificates, "broker")), r"server\.tls\.client_ca_file")


def test_our_own_certificate_of_an_authority_that_clients_may_not_have(
    serve: Serving, certificates: Certificates
) -> None:
    refused(
        serve(tls=files(certificates, "broker", "stranger_ca")),
        r"server\.tls\.client_ca_file asks for one: let one of those authorities sign it",
    )
