"""The engine of alerts: events and windows in, transitions out; no I/O, no clock."""

from monitor.alerting.engine import Alerting
from monitor.alerting.present import Present, Settings

__all__ = ["Alerting", "Present", "Settings"]
