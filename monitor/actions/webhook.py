"""A signed POST to an address of the user's."""

from __future__ import annotations

import hashlib
import hmac
import json
import ssl

from monitor.actions.decision import Decision
from monitor.actions.http import Answer, Client, Endpoint, HttpError
from monitor.actions.sender import Outcome

_WORTH_A_RETRY = (408, 425, 429)


def body_of(decision: Decision) -> bytes:
    """Return what is sent, the same bytes at every attempt."""
    return json.dumps(decision.payload(), sort_keys=True, separators=(",", ":"), allow_nan=False).encode()


def signature(secret: str, timestamp: int, body: bytes) -> str:
    """Return the header that proves who sent a body at a time in seconds since the epoch."""
    signed = f"{timestamp}.".encode() + body
    return "v1=" + hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()


class Webhook:
    """Sends decisions to one address.

    Parameters
    ----------
    url
        Where to.
    secret
        What both ends know.
    timeout
        Seconds for a whole attempt.
    context
        For TLS; None: the system's authorities are trusted.
    """

    def __init__(self, url: str, secret: str, timeout: float, context: ssl.SSLContext | None = None) -> None:
        self._endpoint = Endpoint.of(url)
        self._secret = secret
        self._client = Client(self._endpoint, timeout, context)

    def send(self, decision: Decision, now: int) -> Outcome:
        """Make one attempt."""
        body, timestamp = body_of(decision), now // 1_000_000
        headers = {
            "Content-Type": "application/json",
            "Idempotency-Key": decision.idempotency_key,
            "X-Monitor-Timestamp": str(timestamp),
            "X-Monitor-Signature": signature(self._secret, timestamp, body),
        }
        try:
            answer = self._client.request("POST", self._endpoint.path, headers, body)
        except HttpError as error:
            return Outcome("retry", str(error))
        return outcome_of(answer, str(self._endpoint))

    def close(self) -> None:
        """Cut off an attempt that is under way, and make no further one."""
        self._client.close()


def outcome_of(answer: Answer, where: str) -> Outcome:
    """Return what an answer means: 2xx is success, a redirect or a 4xx will not change, the rest may."""
    said = f"{where} answered {answer.status}"
    if 200 <= answer.status < 300:
        return Outcome("done", said)
    if 300 <= answer.status < 400:
        return Outcome("failed", f"{said}: redirects are not followed; name the final address as url")
    final = 400 <= answer.status < 500 and answer.status not in _WORTH_A_RETRY
    return Outcome("failed" if final else "retry", _with_text(said, answer.body))


def _with_text(said: str, body: bytes) -> str:
    text = "".join(char for char in body[:200].decode("utf-8", "replace") if char.isprintable()).strip()
    return f"{said}: {text}" if text else said
