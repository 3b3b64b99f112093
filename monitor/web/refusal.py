"""The one form of every answer that is an error."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from starlette.responses import JSONResponse


def refusal(
    status: int, error: str, known: Iterable[str] = (), headers: Mapping[str, str] | None = None
) -> JSONResponse:
    """Return an answer that says what is wrong, and which names there are instead."""
    return JSONResponse({"error": error, "known": list(known)}, status, headers)
