"""Asks a running daemon for its newest report."""

from __future__ import annotations

import json
import urllib.error
import urllib.parse
import urllib.request

from monitor.config import ServerConfig
from monitor.errors import MonitorError

_TIMEOUT = 10.0
_EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - where to ask a server bound to all addresses


def fetch_report(
    server: ServerConfig, model: str | None = None, version: str | None = None, window: str | None = None
) -> str:
    """Return the classification reports that match, as text.

    Parameters
    ----------
    server
        Where the daemon serves.
    model, version, window
        None: all.

    Raises
    ------
    MonitorError
        If no daemon answers, has no report yet, or knows no such model, version or window.
    """
    host = _EVERYWHERE.get(server.host, server.host)
    address = f"http://{f'[{host}]' if ':' in host else host}:{server.port}"
    wanted = {"model": model, "version": version, "window": window}
    query = urllib.parse.urlencode({k: v for k, v in wanted.items() if v is not None})
    try:
        with urllib.request.urlopen(f"{address}/api/v1/report?{query}", timeout=_TIMEOUT) as answer:  # noqa: S310
            found = json.load(answer)
    except urllib.error.HTTPError as error:
        raise MonitorError(_refusal(error)) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", error)
        raise MonitorError(
            f"no daemon answers at {address} ({reason}); start it with `monitor run`, or set server.host "
            "and server.port to where it runs"
        ) from None
    return "\n".join(window["classification_report"] for window in found["reports"])


def _refusal(error: urllib.error.HTTPError) -> str:
    try:
        return str(json.load(error)["error"])
    except (ValueError, KeyError, TypeError):
        return f"the daemon answered {error.code} {error.reason}"
