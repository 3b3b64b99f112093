"""What the pages show: where it comes from, and what has been asked for."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, Protocol

from monitor.actions.desk import DeskView
from monitor.alerts.view import AlertsView
from monitor.history import Tracks as Tracks
from monitor.presets import Presets
from monitor.report import Report
from monitor.status import DaemonStatus


class Retired(Protocol):
    """Kept reports of versions that retired. Methods raise MonitorError where the disk cannot be read."""

    def names(self) -> list[tuple[str, str]]:
        """Return model and version of every report, the most recently written first."""

    def entries(self) -> list[dict[str, Any]]:
        """Return the same with ``retired`` and so on, without the reports."""

    def text(self, model: str, version: str) -> bytes | None:
        """Return a report as JSON, with ``retired`` and so on beside; None where there is none."""

    def mark(self, model: str, version: str) -> Hashable | None:
        """Return what is another one when that report is; None where there is none. Quick."""


class NothingRetired:
    """Stands for no kept report."""

    def names(self) -> list[tuple[str, str]]:
        """Return none."""
        return []

    def entries(self) -> list[dict[str, Any]]:
        """Return none."""
        return []

    def text(self, model: str, version: str) -> bytes | None:
        """Return none."""
        return None

    def mark(self, model: str, version: str) -> Hashable | None:
        """Return none."""
        return None


NO_DESK = DeskView((), None, (), held_by_breaker=False, enabled=False, problem=None)
"""What there is to see of actions where none is configured."""


@dataclass(frozen=True, slots=True)
class Shown:
    """Everything at one moment, as pages get it.

    Attributes
    ----------
    report
        The newest; None before the first, and on an instance that is not the owner.
    status
        How the daemon is.
    alerts
        All alerts; none on an instance that is not the owner.
    actions
        Decisions about actions.
    tracks
        How the headline metrics went.
    retired
        Reports of versions that are gone.
    presets
        What comes first.
    series_dropped
        Series that the export leaves out.
    can_act
        Whether there is an act token, so that people may approve, pause and silence.
    """

    report: Report | None
    status: DaemonStatus
    alerts: AlertsView
    actions: DeskView
    tracks: Tracks
    retired: Retired
    presets: Presets
    series_dropped: int = 0
    can_act: bool = False


Look = Callable[[], Shown]
"""Looks at everything; must not block."""
