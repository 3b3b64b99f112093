"""All dashboards, by the names of their files."""

from __future__ import annotations

from monitor.grafana.alerts import alerts
from monitor.grafana.daemon import daemon
from monitor.grafana.model import model
from monitor.grafana.overview import overview
from monitor.grafana.panel import Json
from monitor.grafana.settings import Settings


def dashboards(settings: Settings) -> dict[str, Json]:
    """Return each dashboard as plain data, ready for JSON."""
    made = (make(settings) for make in (overview, model, alerts, daemon))
    return {f"{dashboard['uid']}.json": dashboard for dashboard in made}
