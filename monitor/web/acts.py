"""What people may do over HTTP: approve and reject actions, pause them, silence alerts.

Who may is the guard's business; what is possible is the desk's.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from monitor.actions.acts import ActRefused
from monitor.actions.desk import DeskView
from monitor.actions.silence import Pause, Silence
from monitor.alerts_json import decision_object, pause_object, silence_object
from monitor.clock import Clock
from monitor.status import DaemonStatus
from monitor.web.body import BodyError, by, json_object, text, texts, until
from monitor.web.refusal import not_yet, refusal


class Acts(Protocol):
    """The desk, as far as the web is concerned. Methods raise ActRefused for what cannot be done."""

    def view(self) -> DeskView:
        """Return everything that is decided and held back."""

    def approve(self, id: str, by: str) -> None:
        """Let a decision through that waits for a person."""

    def reject(self, id: str, by: str) -> None:
        """End a decision that is open."""

    def pause(self, by: str, until: int | None = None) -> Pause:
        """Send nothing until a time, or until somebody resumes."""

    def resume_actions(self, by: str) -> None:
        """End the pause."""

    def silence(self, matchers: Mapping[str, str], until: int, by: str, comment: str) -> Silence:
        """Hold the actions of some alerts for a while."""

    def end_silence(self, id: str, by: str) -> None:
        """End a silence."""


Act = Callable[[Acts, Request, bytes], Response]


def act_routes(desk: Acts | None, status: Callable[[], DaemonStatus], clock: Clock) -> list[Route]:
    """Return the paths that change something.

    Parameters
    ----------
    desk
        Does what is asked; None where no action is configured.
    status
        Only the owner acts.
    clock
        From which durations count.
    """

    def approve(desk: Acts, request: Request, body: bytes) -> Response:
        desk.approve(request.path_params["id"], by(json_object(body, "by")))
        return _decision(desk, request)

    def reject(desk: Acts, request: Request, body: bytes) -> Response:
        desk.reject(request.path_params["id"], by(json_object(body, "by")))
        return _decision(desk, request)

    def pause(desk: Acts, _: Request, body: bytes) -> Response:
        found = json_object(body, "until", "comment", "by")
        who = by(found)
        if "comment" in found:
            who = f"{who}: {text(found, 'comment')}"  # the audit log has it so, too
        end = until(found, clock.now()) if "until" in found else None
        return _paused(desk.pause(who, end))

    def resume(desk: Acts, _: Request, body: bytes) -> Response:
        desk.resume_actions(by(json_object(body, "by")))
        return _paused(None)

    def silence(desk: Acts, _: Request, body: bytes) -> Response:
        found = json_object(body, "matchers", "until", "comment", "by")
        made = desk.silence(
            texts(found, "matchers"), until(found, clock.now()), by(found), text(found, "comment")
        )
        return JSONResponse(silence_object(made), 201)

    def end_silence(desk: Acts, request: Request, _: bytes) -> Response:
        desk.end_silence(request.path_params["id"], by(dict(request.query_params)))
        return Response(status_code=204)

    def post(path: str, act: Act) -> Route:
        return Route(path, _endpoint(act, desk, status), methods=["POST"])

    return [
        post("/api/v1/actions/pause", pause),
        post("/api/v1/actions/resume", resume),
        post("/api/v1/actions/{id}/approve", approve),
        post("/api/v1/actions/{id}/reject", reject),
        post("/api/v1/silences", silence),
        Route("/api/v1/silences/{id}", _endpoint(end_silence, desk, status), methods=["DELETE"]),
    ]


def _endpoint(
    act: Act, desk: Acts | None, status: Callable[[], DaemonStatus]
) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        try:
            body = await request.body()
        except ClientDisconnect:
            return Response(status_code=400)  # nobody reads it
        now = status()
        if now.role != "owner":
            return not_yet(now)
        if desk is None:
            return refusal(409, "no action is configured; the section actions of the configuration has them")
        try:
            return await run_in_threadpool(act, desk, request, body)
        except BodyError as error:
            return refusal(400, str(error))
        except ActRefused as error:
            return refusal(404 if error.unknown else 409, str(error))

    return endpoint


def _decision(desk: Acts, request: Request) -> Response:
    found = (each for each in desk.view().decisions if each.id == request.path_params["id"])
    return JSONResponse(decision_object(next(found)))


def _paused(pause: Pause | None) -> Response:
    answer: dict[str, Any] = {"paused": pause_object(pause)}
    return JSONResponse(answer)
