"""All models: who alarms, how each does, whether what is shown is fresh."""

from __future__ import annotations

from monitor.grafana.frame import NUMBERS_DESCENDING, annotation, chosen, dashboard, variable
from monitor.grafana.headline import describe, unit
from monitor.grafana.panel import (
    GREEN,
    RED,
    YELLOW,
    Json,
    Panel,
    Query,
    link,
    override,
    stat,
    table,
    timeseries,
)
from monitor.grafana.queries import ANY, OF_JOB, age, each, increase, select
from monitor.grafana.settings import Settings

_WHO = "model, version, window"
_MODELS = OF_JOB + ',model=~"$model",version=~"$version"'
_WINDOWS = _MODELS + ',window=~"$window",segment=""'
_FPR = 'max_fpr="$max_fpr"'

_METRICS = (
    ("Recall", "classifier_recall", "min", ""),
    ("Precision", "classifier_precision", "min", ""),
    ("Partial ROC AUC", "classifier_partial_roc_auc", "min", _FPR),
    ("Brier score", "classifier_brier_score", "max", 'subset="all"'),
)


def overview(settings: Settings) -> Json:
    """Return the dashboard of all models."""
    return dashboard(
        "monitor-overview",
        "Monitor / overview",
        "All models. Of several classes the worst one counts: the lowest recall, the highest Brier score.",
        settings,
        [
            variable("model", select("classifier_labeled_events_total", OF_JOB), **_several()),
            variable(
                "version",
                select("classifier_labeled_events_total", OF_JOB + ',model=~"$model"'),
                **_several(),
            ),
            variable(
                "window",
                select("classifier_window_complete", _MODELS),
                multi=True,
                all_value=ANY,
                current=chosen(*settings.windows),
            ),
            variable(
                "max_fpr",
                select("classifier_partial_roc_auc", _MODELS),
                title="greatest false-positive rate",
                sort=NUMBERS_DESCENDING,
            ),
        ],
        [alert_marks(_MODELS)],
        {
            "Now": [*_now(), _models()],
            "Over time": [
                timeseries(
                    f"{title} by model",
                    [Query(_worst(_WHO, *of), "{{model}} {{version}} ({{window}})")],
                    unit=unit(of[0]),
                    description=describe(of[0]) + " Of the worst class.",
                )
                for title, *of in _METRICS
            ],
            "Data": _data(),
        },
    )


def alert_marks(scope: str) -> Json:
    """Return marks over the time that alerts fire."""
    return annotation(
        "Alerts",
        f"{each('alert, model, version, window, segment, class', 'monitor_alert_state', scope)} == 2",
        RED,
        "{{alert}}",
        "{{model}} {{version}} {{class}} {{segment}} {{window}}",
    )


def _several() -> Json:
    return {"multi": True, "all_value": ANY, "current": {"text": ["All"], "value": ["$__all"]}}


def _worst(by: str, family: str, least_or_most: str, matcher: str) -> str:
    return f"{least_or_most} by ({by}) ({select(family, _WINDOWS, matcher)})"


def _firing(scope: str) -> str:
    """Return how many alerts fire, 0 where a version is watched and none does."""
    alerts = each("alert, model, version, window, segment, class", "monitor_alert_state", scope)
    versions = each("model, version", "classifier_labeled_events_total", scope)
    return f"count by (model, version) ({alerts} == 2) or 0 * {versions}"


def _now() -> list[Panel]:
    limits = [(None, GREEN), (1, RED)]
    return [
        stat("Alerts firing", Query(f"sum({_firing(_MODELS)})"), steps=limits),
        stat(
            "Models", Query(f"count(count by (model) ({select('classifier_labeled_events_total', _MODELS)}))")
        ),
        stat(
            "Incomplete windows",
            Query(f"sum({each(_WHO, 'classifier_window_complete', _WINDOWS)} == bool 0)"),
            steps=[(None, GREEN), (1, YELLOW)],
            description="Windows that do not hold yet what they should: after a start, or with lost events.",
        ),
        stat(
            "Newest event of the most silent model",
            Query(f"max({age('model', 'classifier_last_event_timestamp_seconds', _MODELS)})"),
            unit="s",
            steps=[(None, GREEN), (600, YELLOW), (1800, RED)],
        ),
        stat(
            "Behind",
            Query(f"sum({each('topic, partition', 'monitor_consumer_lag', OF_JOB)})"),
            description="Records that are still to be read.",
        ),
        stat(
            "Last evaluation",
            Query(f"min({age('job', 'monitor_last_evaluation_timestamp_seconds', OF_JOB)})"),
            unit="s",
            steps=[(None, GREEN), (60, YELLOW), (120, RED)],
            description="What all panels show is as old as that.",
        ),
    ]


def _models() -> Panel:
    windows = each(_WHO, "classifier_window_complete", _WINDOWS)

    def in_windows(of_version: str) -> str:
        return f"0 * {windows} + on (model, version) group_left () ({of_version})"

    last = age("model, version", "classifier_last_event_timestamp_seconds", _MODELS)
    columns = [
        ("Alerts firing", in_windows(_firing(_MODELS))),
        *((title, _worst(_WHO, *of)) for title, *of in _METRICS),
        ("Labeled events", f"sum by ({_WHO}) ({select('classifier_class_support', _WINDOWS)})"),
        ("Complete", windows),
        ("Newest event", in_windows(last)),
    ]
    of_model = "/model?" + "&".join(
        f"{name}=${{__data.fields.{name}:percentencode}}" for name in ("model", "version", "window")
    )
    to_dashboard = "/d/monitor-model?" + "&".join(
        f"var-{name}=${{__data.fields.{name}:percentencode}}" for name in ("model", "version", "window")
    )
    to_dashboard += "&${__url_time_range}&${job:queryparam}"
    shares = [override(title, unit=unit(family)) for title, family, *_ in _METRICS]
    red = {"mode": "absolute", "steps": [{"value": None, "color": "transparent"}, {"value": 1, "color": RED}]}
    return table(
        "Models",
        columns,
        overrides=[
            *shares,
            override("Newest event", unit="s"),
            override("Alerts firing", thresholds=red, custom__cellOptions={"type": "color-background"}),
            override(
                "model",
                links=[
                    link("Page of the monitor", "${page:raw}" + of_model),
                    link("Dashboard of the model", to_dashboard),
                ],
            ),
        ],
        height=10,
        description="Of several classes the worst one. No number: undefined, and the page says why.",
    )


def _data() -> list[Panel]:
    return [
        timeseries(
            "Labeled events a second",
            [
                Query(
                    increase("model, version", "classifier_labeled_events_total", _MODELS),
                    "{{model}} {{version}}",
                )
            ],
            unit="cps",
        ),
        timeseries(
            "Time since the newest event",
            [
                Query(
                    age("model, version", "classifier_last_event_timestamp_seconds", _MODELS),
                    "{{model}} {{version}}",
                )
            ],
            unit="s",
            description="A version that was replaced falls silent; of a model that is live one must not.",
        ),
    ]
