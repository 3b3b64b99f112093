"""Alerts as Alertmanager's v2 API takes them, and which of them one target is to be told. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from monitor.alerts.alert import Alert
from monitor.alerts.runbook import runbook_url
from monitor.alerts.words import sentence
from monitor.wording import iso

ENDS_AFTER = 300_000_000
"""Microseconds after which an alert that is not repeated ends by itself."""

TOLD_RESOLVED = 900_000_000
"""Microseconds for which an alert is repeated after it has resolved."""

Labels = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Notice:
    """One alert as it is told; times in microseconds.

    Attributes
    ----------
    labels
        Sorted; Alertmanager knows the alert by them.
    annotations
        Texts.
    starts_at
        Kafka's time of the event that began the episode: the same after every restart.
    resolved_at
        None while it fires.
    """

    labels: Labels
    annotations: Labels
    starts_at: int
    resolved_at: int | None = None

    def tree(self, now: int, generator_url: str) -> dict[str, Any]:
        """Return the object that is posted."""
        until = now + ENDS_AFTER if self.resolved_at is None else self.resolved_at
        found = {
            "labels": dict(self.labels),
            "annotations": dict(self.annotations),
            "startsAt": iso(self.starts_at),
            "endsAt": iso(max(until, self.starts_at)),  # an end before the start would be refused
        }
        return {**found, "generatorURL": generator_url} if generator_url else found


def notice(alert: Alert) -> Notice:
    """Return what is told of an alert that fires."""
    rule, key = alert.rule, alert.key
    assert alert.started is not None
    own = {name: value for name, value in key.labels.items() if name != "alert"}
    labels = {**rule.extra_labels, **own, "alertname": key.alert, "severity": rule.severity}
    annotations = {
        "summary": " ".join(part for part in (key.alert, "of", key.model, key.version) if part),
        "description": sentence(alert),
        "runbook_url": runbook_url(rule, alert.is_companion),
    }
    return Notice(
        tuple(sorted((name, value) for name, value in labels.items() if value)),
        tuple(annotations.items()),
        alert.started.recorded,
    )


class Told:
    """What one target has been told, and what it is to be told now."""

    def __init__(self) -> None:
        self._notices: dict[Labels, Notice] = {}

    @property
    def which(self) -> frozenset[tuple[Labels, int, bool]]:
        """Which alerts and episodes these are, and whether they fire: other numbers are no news."""
        return frozenset((n.labels, n.starts_at, n.resolved_at is None) for n in self._notices.values())

    def update(self, alerts: Iterable[Alert] | None, now: int) -> list[Notice]:
        """Take in the alerts as they are; return everything that is to be told.

        What fired at the last update and does not now has resolved.

        Parameters
        ----------
        alerts
            Those that do not fire are passed over. None where this instance does not speak for them: whoever
            does goes on, and nothing is said to have resolved.
        now
            Microseconds since the epoch.
        """
        if alerts is None:
            self._notices = {}
            return []
        firing = {found.labels: found for found in map(notice, (a for a in alerts if a.firing))}
        resolved = {
            labels: replace(n, resolved_at=now) if n.resolved_at is None else n
            for labels, n in self._notices.items()
            if n.resolved_at is None or now - n.resolved_at < TOLD_RESOLVED
        }
        self._notices = {**resolved, **firing}
        return list(self._notices.values())
