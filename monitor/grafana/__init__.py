"""Grafana dashboards for what the monitor exports, made for a configuration."""

from monitor.grafana.dashboards import dashboards
from monitor.grafana.output import write_dashboards
from monitor.grafana.settings import Settings, configured

__all__ = ["Settings", "configured", "dashboards", "write_dashboards"]
