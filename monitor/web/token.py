"""Whether a request carries a token. Pure."""

from __future__ import annotations

import base64
import binascii
import hmac


def carries(authorization: str | None, token: str) -> bool:
    """Return whether a header Authorization carries a token: as Bearer, or as the password in Basic."""
    scheme, given = _parts(authorization)
    if scheme == "basic":
        try:
            given = base64.b64decode(given, validate=True).partition(b":")[2]
        except binascii.Error:
            return False
    elif scheme != "bearer":
        return False
    return _same(given, token)


def bears(authorization: str | None, token: str) -> bool:
    """Return whether a header Authorization carries a token as Bearer, which no browser sends by itself."""
    scheme, given = _parts(authorization)
    return scheme == "bearer" and _same(given, token)


def _parts(authorization: str | None) -> tuple[str, bytes]:
    scheme, _, credentials = (authorization or "").strip().partition(" ")
    return scheme.lower(), credentials.strip().encode("latin-1", "replace")


def _same(given: bytes, token: str) -> bool:
    """Compare in a time that does not depend on how much of the token is right."""
    return hmac.compare_digest(given, token.encode())
