"""The one form of every answer that is an error."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from starlette.responses import JSONResponse

from monitor.status import DaemonStatus


def refusal(
    status: int, error: str, known: Iterable[str] = (), headers: Mapping[str, str] | None = None
) -> JSONResponse:
    """Return an answer that says what is wrong, and which names there are instead."""
    return JSONResponse({"error": error, "known": list(known)}, status, headers)


def not_yet(status: DaemonStatus) -> JSONResponse:
    """Refuse what only an owner has, and only after its first evaluation."""
    why = {
        "restoring": "the state is being restored",
        "standby": "this instance is a standby: ask the owner",
        "owner": "nothing has been evaluated yet",
    }
    return refusal(503, why[status.role], headers={"Retry-After": "5"})
