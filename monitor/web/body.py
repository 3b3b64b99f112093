"""The small JSON objects that requests carry. Pure."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any

MAX_BYTES = 2**14
"""Longest body."""

MAX_NAME, MAX_TEXT = 100, 500
"""Most characters of `by`, and of any other text."""

_SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}
_DURATION = re.compile("([0-9]{1,6})([smhd])", re.ASCII)
_EPOCH = datetime.fromtimestamp(0, UTC)


class BodyError(Exception):
    """A body that cannot be used; the message says why and what to write."""


def json_object(body: bytes, *known: str) -> dict[str, Any]:
    """Return the object in a body; an empty body is an empty one.

    Parameters
    ----------
    known
        Keys that it may have; any where none is named.

    Raises
    ------
    BodyError
        If it is no JSON object, holds what cannot be written as UTF-8, or has another key.
    """
    try:
        found = json.loads(body or b"{}")
        json.dumps(found, ensure_ascii=False).encode()  # half a surrogate pair is JSON, but no text
    except (ValueError, RecursionError):
        raise BodyError("the body is no JSON") from None
    if not isinstance(found, dict):
        raise BodyError("the body is no JSON object")
    if known and (unknown := [key for key in found if key not in known]):
        raise BodyError(f"{unknown[0]!r:.100} is not known here; known are {', '.join(known)}")
    return found


def text(found: dict[str, Any], key: str, most: int = MAX_TEXT) -> str:
    """Return the text under a key; BodyError where there is none, or one of more than `most` characters."""
    value = found.get(key)
    if not isinstance(value, str) or not value.strip():
        raise BodyError(f"{key} is missing or no text; write one")
    if len(value) > most:
        raise BodyError(f"{key} has more than {most} characters")
    return value


def texts(found: dict[str, Any], key: str) -> dict[str, str]:
    """Return the texts by name under a key; BodyError where there are none."""
    value = found.get(key)
    if not isinstance(value, dict) or not value or not all(isinstance(each, str) for each in value.values()):
        raise BodyError(f"{key} is missing or no object of texts; write some")
    return value


def by(found: dict[str, Any]) -> str:
    """Return who asks: whoever has the token, and what they call themselves in `by`; or BodyError."""
    return f"token ({text(found, 'by', MAX_NAME)})" if "by" in found else "token"


def until(found: dict[str, Any], now: int) -> int:
    """Return the time under `until`, in microseconds since the epoch.

    Parameters
    ----------
    now
        From which on a duration counts.

    Raises
    ------
    BodyError
        If it is neither a duration nor a time with a zone.
    """
    written = text(found, "until")
    if duration := _DURATION.fullmatch(written):
        return now + int(duration[1]) * _SECONDS[duration[2]] * 1_000_000
    try:
        time = datetime.fromisoformat(written.upper())
        microseconds = (time - _EPOCH) // timedelta(microseconds=1)
        _EPOCH + timedelta(microseconds=microseconds)  # one that can be written in UTC, too
    except (ValueError, TypeError, OverflowError):  # TypeError: without a zone
        wanted = "a duration (30m, 2h, 1d) or a time with its zone (2026-11-01T12:00:00Z)"
        raise BodyError(f"until is {written!r:.100}; write {wanted}") from None
    return microseconds
