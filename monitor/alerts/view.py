"""All alerts at one moment, for everyone who shows them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

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
    live
        Version that a model's traffic comes from, by model.
    """

    alerts: tuple[Alert, ...] = ()
    transitions: tuple[Transition, ...] = ()
    refused: int = 0
    live: Mapping[str, str] = field(default_factory=dict)
