"""The daemon's own series, from its status. Pure; the exporter turns them into text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from monitor.alerts.alert import STATE_CODES
from monitor.alerts.view import AlertsView
from monitor.series import Series
from monitor.status import DaemonStatus

HELPS: Mapping[str, str] = {
    "monitor_build_info": "Version of this monitor.",
    "monitor_ready": "Whether this instance is a restored owner or a standby (1), or still restoring (0).",
    "monitor_owner": "Whether this instance holds partitions (1) or not (0).",
    "monitor_kafka_up": "Whether Kafka answers and has the topics (1) or not (0); /healthz has the reason.",
    "monitor_events_consumed_total": "Records read from Kafka.",
    "monitor_events_rejected_total": "Records that could not be used, by reason.",
    "monitor_events_late_total": "Events that were read when alerts had already looked further.",
    "monitor_events_unlabeled_total": "Events without a label.",
    "monitor_offsets_lost_total": "Records that Kafka deleted before they were read.",
    "monitor_log_truncations_total": "Times that a partition's log ended before our position.",
    "monitor_dead_letters_total": "Rejected records sent to the dead-letter topic, by result.",
    "monitor_consumer_lag": "Records of the partition that are still to be read.",
    "monitor_frontier_timestamp_seconds": "Event time up to which every partition has been read.",
    "monitor_rebalances_total": "Times that partitions were assigned anew.",
    "monitor_last_poll_timestamp_seconds": "When Kafka was last polled.",
    "monitor_last_evaluation_timestamp_seconds": "When the metrics were last evaluated.",
    "monitor_evaluation_duration_seconds": "Duration of evaluations.",
    "monitor_evaluation_errors_total": "Evaluations, or metrics of one, that failed.",
    "monitor_jobs_missed_total": "Scheduled runs that did not happen.",
    "monitor_checkpoint_timestamp_seconds": "When a checkpoint was last written.",
    "monitor_checkpoint_size_bytes": "Size of the last checkpoint.",
    "monitor_checkpoint_errors_total": "Checkpoints that could not be written.",
    "monitor_state_bytes": "Memory of held events and counts.",
    "monitor_series_dropped": "Series left out of this export because of export.max_series.",
    "monitor_limit_reached_total": "Times that a configured limit cut something off.",
    "monitor_alert_state": (
        "Alerts: 0 inactive, 1 pending, 2 firing (also where no more data come since), 3 no data. One that "
        "began to fire before this instance had caught up, or too long ago, is 0: nobody is to be told."
    ),
    "monitor_outbox_pending": "Actions that are decided and not done: to be sent, or waiting for a person.",
    "monitor_action_attempts_total": "Attempts to carry out an action, by result.",
    "monitor_notifications_total": "Posts of alerts, by where they go and result.",
}
"""The daemon's own families, with their help."""


def daemon_series(status: DaemonStatus, series_dropped: int) -> Iterator[Series]:
    """Yield the daemon's gauges and counters; a family that has no label values yet yields nothing."""
    yield Series("monitor_build_info", {"version": status.version}, 1)
    for family, value in (
        ("monitor_ready", status.ready),
        ("monitor_owner", status.owner),
        ("monitor_offsets_lost_total", status.offsets_lost),
        ("monitor_log_truncations_total", status.log_truncations),
        ("monitor_rebalances_total", status.rebalances),
        ("monitor_evaluation_errors_total", status.evaluation_errors),
        ("monitor_checkpoint_size_bytes", status.checkpoint_bytes),
        ("monitor_checkpoint_errors_total", status.checkpoint_errors),
        ("monitor_state_bytes", status.state_bytes),
        ("monitor_series_dropped", series_dropped),
    ):
        yield Series(family, {}, int(value))
    if not status.files:
        yield Series("monitor_kafka_up", {}, int(status.kafka_up))
    for family, microseconds in (
        ("monitor_frontier_timestamp_seconds", status.frontier),
        ("monitor_last_poll_timestamp_seconds", status.last_poll),
        ("monitor_last_evaluation_timestamp_seconds", status.last_evaluation),
        ("monitor_checkpoint_timestamp_seconds", status.last_checkpoint),
    ):
        if microseconds is not None:
            yield Series(family, {}, microseconds / 1e6)
    for family, label, counts in (
        ("monitor_events_consumed_total", "topic", status.events_consumed),
        ("monitor_events_late_total", "model", status.events_late),
        ("monitor_events_unlabeled_total", "model", status.events_unlabeled),
        ("monitor_dead_letters_total", "result", status.dead_letters),
        ("monitor_jobs_missed_total", "job", status.jobs_missed),
        ("monitor_limit_reached_total", "limit", status.limit_reached),
        ("monitor_outbox_pending", "action", status.outbox_pending),
    ):
        for name, count in counts.items():
            yield Series(family, {label: name}, count)
    for (model, reason), count in status.events_rejected.items():
        yield Series("monitor_events_rejected_total", {"model": model, "reason": reason}, count)
    for (action, result), count in status.action_attempts.items():
        yield Series("monitor_action_attempts_total", {"action": action, "result": result}, count)
    for (target, result), count in status.notifications.items():
        yield Series("monitor_notifications_total", {"target": target, "result": result}, count)
    for (topic, partition), lag in status.consumer_lag.items():
        yield Series("monitor_consumer_lag", {"topic": topic, "partition": str(partition)}, lag)


def alert_series(view: AlertsView) -> Iterator[Series]:
    """Yield the state of every alert."""
    for alert in view.alerts:
        state = "firing" if alert.firing else "inactive" if alert.historic else alert.state
        yield Series("monitor_alert_state", alert.key.labels, STATE_CODES[state])
