"""What is asked about alerts and actions."""

from __future__ import annotations

from collections.abc import Callable
from typing import get_args

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from monitor.actions.desk import DeskView
from monitor.alerts.alert import Alert, State, Transition
from monitor.alerts.view import AlertsView
from monitor.alerts_json import actions_object, alerts_object
from monitor.status import DaemonStatus
from monitor.web.refusal import not_yet, refusal
from monitor.web.turns import Turns

STATES: tuple[str, ...] = get_args(State)


def alert_routes(
    alerts: Callable[[], AlertsView],
    actions: Callable[[], DeskView],
    status: Callable[[], DaemonStatus],
    in_turn: Turns,
) -> list[Route]:
    """Return the paths that show alerts and actions.

    Parameters
    ----------
    alerts, actions, status
        Return what is shown; must not block.
    in_turn
        Runs what encodes much.
    """

    def api_alerts(request: Request) -> Response:
        now = status()
        if now.role != "owner":
            return not_yet(now)
        model, state = request.query_params.get("model"), request.query_params.get("state")
        if state is not None and state not in STATES:
            return refusal(400, f"state is one of {', '.join(STATES)}", STATES)

        def chosen(of: Alert | Transition) -> bool:
            in_state = state is None or not isinstance(of, Alert) or of.state == state
            return model in (None, of.key.model) and in_state

        return JSONResponse(alerts_object(alerts(), chosen))

    def api_actions(_: Request) -> Response:
        now = status()
        return JSONResponse(actions_object(actions())) if now.role == "owner" else not_yet(now)

    return [
        Route("/api/v1/alerts", in_turn(api_alerts)),
        Route("/api/v1/actions", in_turn(api_actions)),
    ]
