"""Asks a running daemon for its newest report."""

from __future__ import annotations

import http.client
import json
import ssl
import urllib.parse
from collections.abc import Callable, Collection, Mapping
from enum import StrEnum
from functools import partial
from typing import Any

from monitor.config import WILDCARD, ServerConfig
from monitor.errors import MonitorError
from monitor.secret_file import read_secret_file
from monitor.tls import client_context, configured_tls

_TIMEOUT = 30.0
_EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - where to ask a server bound to all addresses


class NoDaemonError(MonitorError):
    """Nothing takes connections where the daemon should."""


class ReportFormat(StrEnum):
    """What a report is printed as."""

    TEXT = "text"
    JSON = "json"
    CSV = "csv"


def fetch_report(
    server: ServerConfig,
    model: str | None = None,
    version: str | None = None,
    window: str | None = None,
    format: ReportFormat = ReportFormat.TEXT,
    models: Collection[str] | None = None,
) -> str:
    """Return the reports that match: the classification reports, everything as JSON, or a table as CSV.

    Parameters
    ----------
    server
        Where the daemon serves, and what it asks for: with `tls` its certificate is trusted and no other,
        and the token in `read_token_file` is sent.
    model, version, window
        None: all.
    format
        What to return.
    models
        Those of the configuration: a daemon that watches others is another one. None: any may be there.

    Raises
    ------
    NoDaemonError
        If nothing takes connections there.
    MonitorError
        If what answers is another server or another daemon, refuses, has no report yet, or knows no such
        model, version or window; or a file of the configuration cannot be used.
    """
    host = _EVERYWHERE.get(server.host, server.host)
    scheme = "http" if server.tls is None else "https"
    address = f"{scheme}://{f'[{host}]' if ':' in host else host}:{server.port}"
    wanted = {"model": model, "version": version, "window": window}
    wanted["format"] = "csv" if format is ReportFormat.CSV else None
    query = urllib.parse.urlencode({k: v for k, v in wanted.items() if v is not None})
    headers = {"Host": "localhost"}  # always served, whatever name the server is bound to
    if server.read_token_file is not None:
        token = read_secret_file(server.read_token_file, "server.read_token_file")
        headers["Authorization"] = f"Bearer {token}"
    get = partial(_get, server, host, address, headers)
    try:
        if models is not None and WILDCARD not in models:
            _refuse_another(get, models, address)
        answer, body = get(f"/api/v1/report?{query}")
    except ssl.SSLError as error:
        raise MonitorError(_no_handshake(server, error, address)) from None
    except TimeoutError:
        raise MonitorError(f"the daemon at {address} did not answer within {_TIMEOUT:.0f} s") from None
    except ConnectionError:  # RemoteDisconnected is one, too
        raise MonitorError(_hung_up(server, address)) from None
    except http.client.HTTPException:
        raise MonitorError(_no_monitor(address)) from None
    if answer.status == 401:
        raise MonitorError(_no_token(server, address))
    try:
        if answer.status != 200:
            raise MonitorError(f"the daemon at {address} says: {_refusal(answer, body)}")
        if format is ReportFormat.CSV:
            return _table(answer, body)
        return rendered(json.loads(body), format)
    except (ValueError, KeyError, TypeError):
        raise MonitorError(_no_monitor(address)) from None


def rendered(found: dict[str, Any], format: ReportFormat) -> str:
    """Return what the API's object of a report is printed as, text or JSON.

    Raises
    ------
    KeyError, TypeError
        If it is no such object.
    """
    texts = [report["classification_report"] for report in found["reports"]]
    return json.dumps(found, indent=2) + "\n" if format is ReportFormat.JSON else "\n".join(texts)


def _connect(connection: http.client.HTTPConnection, server: ServerConfig, address: str) -> None:
    tls = configured_tls(server)
    context = None if tls is None else client_context(tls)
    try:
        connection.connect()
    except OSError as error:
        raise NoDaemonError(
            f"no daemon answers at {address} ({error}); start it with `monitor run`, or set server.host "
            "and server.port to where it runs"
        ) from None
    if context is not None:
        connection.sock = context.wrap_socket(connection.sock)


def _get(
    server: ServerConfig, host: str, address: str, headers: Mapping[str, str], path: str
) -> tuple[http.client.HTTPResponse, bytes]:
    """Ask over a connection of its own: one that http.client opened again by itself would lack TLS."""
    connection = http.client.HTTPConnection(host, server.port, timeout=_TIMEOUT)
    try:
        _connect(connection, server, address)
        connection.request("GET", path, headers=dict(headers))
        answer = connection.getresponse()
        return answer, answer.read()
    finally:
        connection.close()


def _refuse_another(
    get: Callable[[str], tuple[http.client.HTTPResponse, bytes]], models: Collection[str], address: str
) -> None:
    """Refuse a daemon with models that are not configured; one that does not say goes on to be asked."""
    answer, body = get("/api/v1/models")
    if answer.status != 200:
        return
    try:
        others = {str(entry["model"]) for entry in json.loads(body)["models"]}.difference(models)
    except (ValueError, KeyError, TypeError):
        raise MonitorError(_no_monitor(address)) from None
    if others:
        shown = ", ".join(map(repr, sorted(others)[:5])) + (", …" if len(others) > 5 else "")
        raise MonitorError(
            f"the daemon at {address} watches models that this configuration does not have ({shown}): set "
            "server.port to where yours runs; if this is yours and its configuration has changed, restart it"
        )


def _table(answer: http.client.HTTPResponse, body: bytes) -> str:
    if answer.headers.get_content_type() != "text/csv":
        raise ValueError("no table")
    return body.decode()


def _refusal(answer: http.client.HTTPResponse, body: bytes) -> str:
    try:
        return str(json.loads(body)["error"])
    except (ValueError, KeyError, TypeError):
        return f"{answer.status} {answer.reason}"


def _no_monitor(address: str) -> str:
    return f"what answers at {address} is no monitor; set server.host and server.port to where it runs"


def _no_token(server: ServerConfig, address: str) -> str:
    if server.read_token_file is None:
        return f"the daemon at {address} asks for a token; set server.read_token_file to the file that has it"
    return (
        f"the token in {server.read_token_file} (server.read_token_file) is not the one of the daemon at "
        f"{address}, which read its file when it started; restart it, or name its file"
    )


def _hung_up(server: ServerConfig, address: str) -> str:
    if server.tls is None:
        return (
            f"what takes connections at {address} closed this one without an answer; if it is a daemon that "
            "serves HTTPS, set server.tls as it has it"
        )
    return (
        f"the daemon at {address} refuses this command's certificate, which is server.tls.cert_file where "
        "server.tls.client_ca_file asks for one: let one of those authorities sign it, for clients as well "
        "as servers, or ask with another client"
    )


def _no_handshake(server: ServerConfig, error: ssl.SSLError, address: str) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return (
            f"what answers at {address} does not show the certificate in server.tls.cert_file, or that one "
            f"is not valid now ({error.verify_message}); restart the daemon if the file is new, renew it if "
            "it has expired"
        )
    if error.reason in ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "HTTP_REQUEST"):
        return f"what answers at {address} serves HTTP, not HTTPS; restart the daemon if server.tls is new"
    return _hung_up(server, address)
