"""Asks a running daemon for its newest report."""

from __future__ import annotations

import http.client
import json
import urllib.error
import urllib.parse
import urllib.request
from enum import StrEnum

from monitor.config import ServerConfig
from monitor.errors import MonitorError

_TIMEOUT = 10.0
_DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # HTTP_PROXY is for other hosts
_EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - where to ask a server bound to all addresses


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
) -> str:
    """Return the reports that match: the classification reports, everything as JSON, or a table as CSV.

    Parameters
    ----------
    server
        Where the daemon serves.
    model, version, window
        None: all.
    format
        What to return.

    Raises
    ------
    MonitorError
        If no daemon answers, has no report yet, or knows no such model, version or window.
    """
    host = _EVERYWHERE.get(server.host, server.host)
    address = f"http://{f'[{host}]' if ':' in host else host}:{server.port}"
    wanted = {"model": model, "version": version, "window": window}
    wanted["format"] = "csv" if format is ReportFormat.CSV else None
    query = urllib.parse.urlencode({k: v for k, v in wanted.items() if v is not None})
    try:
        with _DIRECT.open(f"{address}/api/v1/report?{query}", timeout=_TIMEOUT) as answer:
            return _rendered(answer, format)
    except urllib.error.HTTPError as error:
        with error:
            raise MonitorError(f"the daemon at {address} says: {_refusal(error)}") from None
    except (OSError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", error)
        raise MonitorError(
            f"no daemon answers at {address} ({reason}); start it with `monitor run`, or set server.host "
            "and server.port to where it runs"
        ) from None
    except (ValueError, KeyError, TypeError):
        raise MonitorError(
            f"what answers at {address} is no monitor; set server.host and server.port to where it runs"
        ) from None


def _rendered(answer: http.client.HTTPResponse, format: ReportFormat) -> str:
    if format is ReportFormat.CSV:
        if answer.headers.get_content_type() != "text/csv":
            raise ValueError("no table")
        return answer.read().decode()
    found = json.load(answer)
    texts = [report["classification_report"] for report in found["reports"]]
    return json.dumps(found, indent=2) + "\n" if format is ReportFormat.JSON else "\n".join(texts)


def _refusal(error: urllib.error.HTTPError) -> str:
    try:
        return str(json.load(error)["error"])
    except (ValueError, KeyError, TypeError):
        return f"{error.code} {error.reason}"
