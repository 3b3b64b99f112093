"""Addresses that the daemon sends something to."""

from __future__ import annotations

import ipaddress
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator

from monitor.config.values import Name, Words


def on_loopback(host: str) -> bool:
    """Return whether only this machine is reached under a host's name or address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def is_in_the_clear(url: str) -> bool:
    """Return whether what is sent to an address can be read on its way."""
    parts = urlsplit(url)
    return parts.scheme == "http" and not on_loopback(parts.hostname or "")


def origin(url: str) -> str:
    """Return an address without its path, which may hold a secret."""
    parts = urlsplit(url)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    return f"{parts.scheme}://{host}" + (f":{parts.port}" if parts.port else "")


def _web_address(url: str) -> str:
    # Addresses are not quoted: their paths may be secrets.
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018 - it is parsed when it is read
    except ValueError:
        parts = urlsplit("")
    if parts.username is not None or parts.password is not None:
        raise ValueError("holds a user or password; remove them: what is sent is signed, or has a token")
    written = url.isascii() and url.isprintable() and " " not in url
    if not written or parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(
            "is no web address; write it with its scheme, as in https://host.example.com:8443/path"
        )
    return url


def _base_address(url: str) -> str:
    if "?" in url or "#" in url:
        raise ValueError("has a '?' or '#', and paths are put behind it; write the address without them")
    return url


WebAddress = Annotated[Name, AfterValidator(_web_address), Words("address")]
BaseAddress = Annotated[WebAddress, AfterValidator(_base_address)]
"""Address under which an API has its paths."""
