"""How the daemon's parts are made of its configuration."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence

from monitor import action_parts
from monitor.actions.desk import Desk
from monitor.alerts.alert import Alert
from monitor.alerts.view import AlertsView
from monitor.archive import Archive
from monitor.assembly import presets
from monitor.checkpoint.folder import Folder
from monitor.clock import Clock
from monitor.config import Config, ExportConfig
from monitor.exporter import Exporter
from monitor.metrics.catalog import CATALOG
from monitor.notify.alertmanager import Notifier
from monitor.pipeline import Pipeline, start_of_reading
from monitor.report import Report
from monitor.secret_file import read_secret_file
from monitor.series import ExportOptions
from monitor.sources.base import TakeOver
from monitor.sources.dead_letters import DeadLetters
from monitor.sources.kafka import KafkaSource
from monitor.status import DaemonStatus
from monitor.tls import configured_tls
from monitor.web.app import create_app
from monitor.web.server import Server
from monitor.web.site import Retired, Tracks


def empty_pipeline(config: Config, clock: Clock) -> Pipeline:
    """Return the state before the first event."""
    return Pipeline(config, config.kafka.topics, clock)


def desk(config: Config, clock: Clock) -> Desk | None:
    """Return what decides about actions, None where none is configured, or no rule that could ask for one.

    Raises
    ------
    ConfigurationError
        If a file or an address of an action cannot be used.
    """
    return action_parts.desk(config, clock) if config.actions.named and config.alerts.rules else None


def notifier(config: Config, clock: Clock, alerts: Callable[[], Sequence[Alert] | None]) -> Notifier | None:
    """Return what tells Alertmanagers, None where Prometheus does."""
    section = config.alerts
    return None if section.deliver == "prometheus" else Notifier(section.alertmanager_urls, alerts, clock)


def exporter(
    config: Config, status: Callable[[], DaemonStatus], alerts: Callable[[], AlertsView]
) -> Exporter:
    """Return what answers scrapes."""
    return Exporter(
        status,
        {metric.name: metric.help for metric in CATALOG},
        ExportOptions(**{name: getattr(config.export, name) for name in ExportConfig.model_fields}),
        headline={metric.name for metric in CATALOG if metric.headline},
        alerts=alerts,
    )


def server(
    config: Config,
    exporter: Exporter,
    report: Callable[[], Report | None],
    status: Callable[[], DaemonStatus],
    alerts: Callable[[], AlertsView],
    desk: Desk | None,
    clock: Clock,
    tracks: Callable[[], Tracks],
    retired: Retired | None = None,
    acts: bool = True,
) -> Server:
    """Return what serves them; without `acts` nobody can do anything there, whatever is configured.

    Raises
    ------
    ConfigurationError
        If the token cannot be read.
    """
    section = config.server
    app = create_app(
        exporter,
        report,
        status,
        section.allowed_hosts,
        _token(section.read_token_file, "server.read_token_file"),
        alerts=alerts,
        desk=desk,
        act_token=_token(section.act_token_file, "server.act_token_file") if acts else None,
        clock=clock,
        tracks=tracks,
        retired=retired,
        presets=presets(config),
    )
    return Server(app, section.host, section.port, configured_tls(section))


def retired(config: Config) -> Archive:
    """Return the kept reports of versions that retired."""
    section = config.checkpoint
    return Archive(Folder(section.directory, config.kafka.group_id, section.keep).path)


def _token(path: str | None, key: str) -> str | None:
    return None if path is None else read_secret_file(path, key)


def kafka_source(config: Config, clock: Clock, stop: threading.Event, take_over: TakeOver) -> KafkaSource:
    """Return the configured topics as a source."""
    kafka = config.kafka
    return KafkaSource(
        kafka.consumer_settings(),
        kafka.topics,
        kafka.group_id,
        start=kafka.start,
        start_timestamp=lambda: start_of_reading(config, clock.now()),
        give_up_after=kafka.give_up_after.total_seconds(),
        take_over=take_over,
        on_topic_recreated=kafka.on_topic_recreated,
        clock=clock,
        stop=stop,
    )


def dead_letters(config: Config, topic_ids: Callable[[], Mapping[str, str | None]]) -> DeadLetters | None:
    """Return where rejected records go, None where no topic is configured for them."""
    kafka = config.kafka
    if kafka.dead_letter_topic is None:
        return None
    return DeadLetters(
        kafka.consumer_settings(),
        kafka.dead_letter_topic,
        topic_ids=topic_ids,
        on_error=kafka.dead_letter.on_error,
        max_per_second=kafka.dead_letter.max_per_second,
    )
