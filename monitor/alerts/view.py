"""All alerts at one moment, for everyone who shows them."""

from __future__ import annotations

from dataclasses import dataclass

from monitor.alerts.alert import Alert, Transition


@dataclass(frozen=True, slots=True)
class AlertsView:
    """What page, API, exporter and notifier are given.

    Attributes
    ----------
    alerts
        Every alert as it is now.
    transitions
        The newest changes, newest first; bounded.
    refused
        Matches of wildcards beyond `alerts.max_matches`.
    """

    alerts: tuple[Alert, ...] = ()
    transitions: tuple[Transition, ...] = ()
    refused: int = 0
