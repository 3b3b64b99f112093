"""Whether a request carries a token. Pure."""

from __future__ import annotations

import base64
import binascii
import hmac


def carries(authorization: str | None, token: str) -> bool:
    """Return whether a header Authorization carries a token: as Bearer, or as the password in Basic.

    How long the comparison takes does not depend on how much of the token is right.
    """
    scheme, _, credentials = (authorization or "").strip().partition(" ")
    given = credentials.strip().encode("latin-1", "replace")
    if scheme.lower() == "basic":
        try:
            given = base64.b64decode(given, validate=True).partition(b":")[2]
        except binascii.Error:
            return False
    elif scheme.lower() != "bearer":
        return False
    return hmac.compare_digest(given, token.encode())
