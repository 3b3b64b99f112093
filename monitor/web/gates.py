"""What rollout controllers ask: whether a version may go on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from monitor.alerts.gate import Verdict, verdict
from monitor.alerts.view import AlertsView
from monitor.report import Report
from monitor.status import DaemonStatus
from monitor.web.body import BodyError, json_object, text
from monitor.web.refusal import not_yet, refusal


def gate_routes(
    current: Callable[[], tuple[Report | None, DaemonStatus]], alerts: Callable[[], AlertsView]
) -> list[Route]:
    """Return the paths of Argo Rollouts and Flagger.

    Parameters
    ----------
    current
        Returns the newest report, None where this instance has none to speak of.
    alerts
        Returns the alerts.
    """

    async def argo(request: Request) -> Response:
        """Always answer 200 where there is an answer: Argo takes anything else for an error of the metric."""
        report, now = current()
        if report is None:
            return not_yet(now)
        model, version = request.query_params.get("model"), request.query_params.get("version", "")
        if not model:
            return refusal(400, "model is missing; ask with ?model=NAME&version=NAME")
        return JSONResponse(_object(model, version, verdict(alerts().alerts, report, model, version)))

    async def flagger(request: Request) -> Response:
        """Answer 200 only where the version fails: any success makes Flagger roll back."""
        try:
            model, version = _asked_by_flagger(await request.body())
        except ClientDisconnect:
            return Response(status_code=409)  # nobody reads it
        except BodyError as error:
            useless = Verdict("no_data", (f"the webhook's metadata cannot be used: {error}",))
            return JSONResponse(_object("", "", useless), 409)
        report, _ = current()
        judged = verdict(() if report is None else alerts().alerts, report, model, version)
        return JSONResponse(_object(model, version, judged), 200 if judged.outcome == "fail" else 409)

    return [Route("/gate/argo", argo), Route("/gate/flagger/rollback", flagger, methods=["POST"])]


def _asked_by_flagger(body: bytes) -> tuple[str, str]:
    """Return model and version, which the Canary's webhook has as its metadata."""
    metadata = json_object(body).get("metadata")
    if not isinstance(metadata, dict):
        raise BodyError("there is none")
    version = metadata.get("version", "")
    if not isinstance(version, str):
        raise BodyError("version is no text")
    return text(metadata, "model"), version


def _object(model: str, version: str, judged: Verdict) -> dict[str, Any]:
    return {"model": model, "version": version, "outcome": judged.outcome, "reasons": judged.reasons}
