"""Asking a daemon for its report, and what is said when the answer is none."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from monitor.client import ReportFormat, fetch_report
from monitor.config import ServerConfig
from monitor.errors import MonitorError

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
        with pytest.raises(MonitorError, match="no daemon answers at"):
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
    with pytest.raises(MonitorError, match=f"no daemon answers at {address} "):
        fetch_report(ServerConfig(host=host, port=1))
