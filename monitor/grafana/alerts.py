"""Alerts about models, and what follows them."""

from __future__ import annotations

from monitor.grafana.frame import dashboard, variable
from monitor.grafana.overview import alert_marks
from monitor.grafana.panel import (
    BLUE,
    GREEN,
    GREY,
    RED,
    YELLOW,
    Json,
    Panel,
    Query,
    link,
    override,
    stat,
    states,
    table,
    timeseries,
    values,
)
from monitor.grafana.queries import ANY, OF_JOB, each, increase, select
from monitor.grafana.settings import Settings

_SCOPE = OF_JOB + ',model=~"$model",version=~"$version",alert=~"$alert"'
_WHO = "alert, model, version, window, segment, class"
_NAME = "{{alert}}: {{model}} {{version}} {{class}} {{segment}} {{window}}"
_STATES = values(
    {"0": ("inactive", GREEN), "1": ("pending", YELLOW), "2": ("firing", RED), "3": ("no data", GREY)}
)


def alerts(settings: Settings) -> Json:
    """Return the dashboard of alerts and actions."""
    all_states = each(_WHO, "monitor_alert_state", _SCOPE)
    return dashboard(
        "monitor-alerts",
        "Monitor / alerts and actions",
        "States as the daemon decides them; evidence, approval and pausing are on its page.",
        settings,
        [
            variable("model", select("monitor_alert_state", OF_JOB), **_several()),
            variable("version", select("monitor_alert_state", OF_JOB + ',model=~"$model"'), **_several()),
            variable("alert", select("monitor_alert_state", OF_JOB + ',model=~"$model"'), **_several()),
        ],
        [alert_marks(_SCOPE)],
        {
            "Alerts": [
                *_counts(all_states),
                states("States", [Query(all_states, _NAME)], _STATES, height=10),
                _now(all_states),
            ],
            "Actions": _actions(),
            "Notifications": _notifications(),
        },
        page="/alerts",
    )


def _several() -> Json:
    return {"multi": True, "all_value": ANY, "current": {"text": ["All"], "value": ["$__all"]}}


def _counts(all_states: str) -> list[Panel]:
    steps = {2: ("Firing", RED), 1: ("Pending", YELLOW), 3: ("Without data", BLUE), 0: ("Inactive", GREEN)}
    return [
        stat(name, Query(f"sum({all_states} == bool {code})"), steps=[(None, GREEN), (1, color)], width=6)
        for code, (name, color) in steps.items()
    ]


def _now(all_states: str) -> Panel:
    page = "&".join(f"{name}=${{__data.fields.{name}:percentencode}}" for name in ("model", "version"))
    return table(
        "Firing and pending",
        [("State", f"{all_states} == 1 or {all_states} == 2")],
        overrides=[
            override("State", mappings=_STATES, custom__cellOptions={"type": "color-background"}),
            override("model", links=[link("Page of the monitor", "${page:raw}/model?" + page)]),
            override(
                "alert",
                links=[
                    link(
                        "Alerts of the model", "${page:raw}/alerts?model=${__data.fields.model:percentencode}"
                    ),
                    link("Runbooks", "${runbooks:raw}"),
                ],
            ),
        ],
        description="Empty where no alert is pending or firing.",
    )


def _actions() -> list[Panel]:
    return [
        timeseries(
            "Decided and not done",
            [Query(each("action", "monitor_outbox_pending", OF_JOB), "{{action}}")],
            custom={"lineInterpolation": "stepAfter"},
            description="Actions to be sent, or waiting for a person's approval. Decisions expire.",
        ),
        timeseries(
            "Attempts by result",
            [
                Query(
                    f"sum by (action, result) ({select('monitor_action_attempts_total', OF_JOB)})",
                    "{{action}} {{result}}",
                )
            ],
            custom={"lineInterpolation": "stepAfter"},
            description="Since the daemon started. Nothing where no action was tried.",
        ),
    ]


def _notifications() -> list[Panel]:
    return [
        timeseries(
            "Posts to Alertmanager a second",
            [
                Query(
                    increase("target, result", "monitor_notifications_total", OF_JOB), "{{target}} {{result}}"
                )
            ],
            unit="cps",
            description="Only where the daemon posts alerts itself: alerts.deliver is alertmanager.",
        ),
        timeseries(
            "Alerts that Prometheus fires, by severity",
            [Query('count by (severity) (ALERTS{alertstate="firing",alertname=~"$alert"})', "{{severity}}")],
            custom={"lineInterpolation": "stepAfter"},
            description="With the chosen names, of other jobs too where all are chosen.",
        ),
    ]
