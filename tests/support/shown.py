"""What pages get, with example data."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from monitor.alerts.view import AlertsView
from monitor.presets import Presets
from monitor.web.site import NO_DESK, NothingRetired, Shown
from tests.support.reports import example, status


def shown(**changes: Any) -> Shown:
    """Return a healthy owner with the example report, without alerts and actions."""
    found = Shown(example(), status(), AlertsView(), NO_DESK, {}, NothingRetired(), Presets({}))
    return replace(found, **changes)
