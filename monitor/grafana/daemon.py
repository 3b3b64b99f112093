"""The daemon itself: who holds the partitions, what it reads, how long it takes, what it left out."""

from __future__ import annotations

from monitor.grafana.frame import annotation, dashboard
from monitor.grafana.panel import GREEN, RED, YELLOW, Json, Panel, Query, stat, states, timeseries, values
from monitor.grafana.queries import OF_JOB, age, each, increase, select
from monitor.grafana.settings import Settings

_NOT_SENT = 'result!="sent"'
_KAFKA = values({"0": ("down", RED), "1": ("up", GREEN)})
_OWNER = values({"0": ("standby", "blue"), "1": ("owner", GREEN)})


def daemon(settings: Settings) -> Json:
    """Return the dashboard of the daemon."""
    return dashboard(
        "monitor-daemon",
        "Monitor / daemon",
        "Whether the monitor does its work; without it no other dashboard means anything.",
        settings,
        [],
        [
            annotation(
                "Alerts about the monitor",
                'ALERTS{alertstate="firing",job=~"$job",alertname=~"Monitor.*"}',
                RED,
                "{{alertname}}",
            ),
            annotation(
                "Rebalances",
                f"changes({select('monitor_rebalances_total', OF_JOB)}[1m]) > 0",
                "blue",
                "{{instance}}: partitions assigned anew",
            ),
        ],
        {
            "Instances": _instances(),
            "Reading": _reading(),
            "Work": _work(),
            "Size and limits": _size(),
        },
    )


def _instances() -> list[Panel]:
    own = select("monitor_owner", OF_JOB)
    ages = [
        ("Last poll", "monitor_last_poll_timestamp_seconds", 30, 60),
        ("Last evaluation", "monitor_last_evaluation_timestamp_seconds", 60, 120),
        ("Last checkpoint", "monitor_checkpoint_timestamp_seconds", 120, 600),
        ("Behind in event time", "monitor_frontier_timestamp_seconds", 60, 300),
    ]
    return [
        stat("Owners", Query(f"sum({own})"), steps=[(None, RED), (1, GREEN), (2, RED)]),
        stat(
            "Instances ready",
            Query(f"sum({select('monitor_ready', OF_JOB)})"),
            steps=[(None, RED), (1, GREEN)],
        ),
        *(
            stat(
                name,
                Query(f"min({age('job', family, OF_JOB)})"),
                unit="s",
                steps=[(None, GREEN), (warn, YELLOW), (bad, RED)],
            )
            for name, family, warn, bad in ages
        ),
        states(
            "Owner and standbys",
            [Query(each("instance", "monitor_owner", OF_JOB), "{{instance}}")],
            _OWNER,
            height=5,
        ),
        states(
            "Kafka",
            [Query(each("instance", "monitor_kafka_up", OF_JOB), "{{instance}}")],
            _KAFKA,
            height=5,
            description="Whether brokers answer and have the topics, by instance; /healthz has the reason.",
        ),
    ]


def _reading() -> list[Panel]:
    return [
        timeseries(
            "Records a second",
            [Query(increase("topic", "monitor_events_consumed_total", OF_JOB), "{{topic}}")],
            unit="cps",
            width=8,
        ),
        timeseries(
            "Rejected a second by reason",
            [
                Query(
                    increase("model, reason", "monitor_events_rejected_total", OF_JOB), "{{reason}} {{model}}"
                )
            ],
            unit="cps",
            width=8,
            description="The dead-letter topic has the records; `monitor doctor` shows what is wrong.",
        ),
        timeseries(
            "Records still to be read",
            [Query(each("topic, partition", "monitor_consumer_lag", OF_JOB), "{{topic}} {{partition}}")],
            width=8,
        ),
        timeseries(
            "Late a second",
            [Query(increase("model", "monitor_events_late_total", OF_JOB), "{{model}}")],
            unit="cps",
            width=8,
            description="Too old for alerts when read: raise events.allowed_lateness, or label_maturity.",
        ),
        timeseries(
            "Without label a second",
            [Query(increase("model", "monitor_events_unlabeled_total", OF_JOB), "{{model}}")],
            unit="cps",
            width=8,
        ),
        timeseries(
            "Lost",
            [
                Query(f"sum({select('monitor_offsets_lost_total', OF_JOB)})", "records deleted before read"),
                Query(f"sum({select('monitor_log_truncations_total', OF_JOB)})", "logs that were cut off"),
                Query(
                    f"sum by (result) ({select('monitor_dead_letters_total', OF_JOB, _NOT_SENT)})",
                    "dead letters {{result}}",
                ),
            ],
            width=8,
            custom={"lineInterpolation": "stepAfter"},
            description="Since the daemon started.",
        ),
    ]


def _work() -> list[Panel]:
    buckets = increase("le", "monitor_evaluation_duration_seconds_bucket", OF_JOB)
    errors = [
        ("evaluations", "monitor_evaluation_errors_total"),
        ("checkpoints", "monitor_checkpoint_errors_total"),
    ]
    return [
        timeseries(
            "Duration of evaluations",
            [Query(f"histogram_quantile({q}, {buckets})", f"{float(q):.0%}") for q in ("0.5", "0.95")],
            unit="s",
            width=8,
        ),
        timeseries(
            "Age of evaluation, poll and checkpoint",
            [
                Query(
                    age("instance", f"monitor_{name}_timestamp_seconds", OF_JOB), f"{title} {{{{instance}}}}"
                )
                for name, title in (
                    ("last_evaluation", "evaluation"),
                    ("last_poll", "poll"),
                    ("checkpoint", "checkpoint"),
                )
            ],
            unit="s",
            width=8,
        ),
        timeseries(
            "Failures",
            [
                *(Query(f"sum({select(family, OF_JOB)})", name) for name, family in errors),
                # Its own label `job` makes way for that of the scrape.
                Query(
                    f"sum by (exported_job) ({select('monitor_jobs_missed_total', OF_JOB)})",
                    "missed runs of {{exported_job}}",
                ),
            ],
            width=8,
            custom={"lineInterpolation": "stepAfter"},
            description="Since the daemon started; the log has the reasons.",
        ),
    ]


def _size() -> list[Panel]:
    sizes = (
        ("state in memory", "monitor_state_bytes"),
        ("checkpoint", "monitor_checkpoint_size_bytes"),
    )
    return [
        timeseries(
            "State",
            [Query(each("instance", family, OF_JOB), f"{name} {{{{instance}}}}") for name, family in sizes],
            unit="bytes",
            width=8,
        ),
        timeseries(
            "Series",
            [
                Query(each("instance", "scrape_samples_scraped", OF_JOB), "exported by {{instance}}"),
                Query(each("instance", "monitor_series_dropped", OF_JOB), "left out by {{instance}}"),
            ],
            width=8,
            description="Left out: beyond export.max_series; the page and the API have them.",
        ),
        timeseries(
            "Limits reached",
            [Query(f"sum by (limit) ({select('monitor_limit_reached_total', OF_JOB)})", "{{limit}}")],
            width=8,
            custom={"lineInterpolation": "stepAfter"},
            description="How often a limit of the configuration cut something off; empty where none did.",
        ),
    ]
