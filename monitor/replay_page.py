"""Serves the result of a replay as the daemon serves its own, until told to stop."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from monitor import __version__, parts
from monitor.alerts.view import AlertsView
from monitor.config import Config
from monitor.evaluation import Evaluation
from monitor.replay import Replay
from monitor.status import DaemonStatus
from monitor.web.server import Server

EVERY = 3600.0
"""Seconds between two looks of a browser at what does not change."""


def replay_server(config: Config, replay: Replay, evaluation: Evaluation) -> Server:
    """Return a server of the page, the API and the metrics of a finished replay; nobody can act there.

    Raises
    ------
    ConfigurationError
        If a token cannot be read.
    """
    pipeline, report = replay.pipeline, evaluation.report
    status = DaemonStatus(
        version=__version__,
        ready=True,
        owner=True,
        files=True,
        evaluation_every=EVERY,
        events_consumed=dict(pipeline.consumed),
        events_rejected=dict(pipeline.rejected),
        events_late=dict(pipeline.state.late),
        events_unlabeled=dict(pipeline.state.unlabeled),
        rejection_error=replay.problem(),
        remarks=tuple(replay.remarks()),
        frontier=report.frontier,
        last_evaluation=report.evaluated_at,
        state_bytes=pipeline.state.nbytes(),
        limit_reached=dict(pipeline.limits_reached()),
    )
    alerting = pipeline.alerting
    view = AlertsView() if alerting is None else alerting.view(report)
    exporter = parts.exporter(config, lambda: status, lambda: view)
    exporter.publish(report)
    return parts.server(
        config,
        exporter,
        report=lambda: report,
        status=lambda: status,
        alerts=lambda: view,
        desk=replay.desk,
        clock=pipeline.clock,
        tracks=lambda: pipeline.history.tracks,
        acts=False,
    )


@contextmanager
def serving(server: Server) -> Iterator[threading.Event]:
    """Serve; what it gives is set when the user ends it, with SIGINT or SIGTERM.

    Raises
    ------
    MonitorError
        If the port cannot be bound.
    """
    stop = threading.Event()
    kept = {n: signal.signal(n, lambda *_: stop.set()) for n in (signal.SIGINT, signal.SIGTERM)}
    try:
        server.start()
        yield stop
    finally:
        server.stop()
        for number, handler in kept.items():
            signal.signal(number, handler)
