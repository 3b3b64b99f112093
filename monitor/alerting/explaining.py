"""What the newest report adds to an alert that fires: prevalence, and a map that would make scores right."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from monitor.alerts.alert import Alert
from monitor.alerts.conditions import Context
from monitor.alerts.explain import with_prevalence
from monitor.alerts.rule import CALIBRATION
from monitor.recalibration import window_suggestion
from monitor.report import CUMULATIVE, Report, WindowReport

Windows = Mapping[tuple[str, str, str], WindowReport]
"""By model, version and segment one that shows the present."""


def windows_of(report: Report) -> Windows:
    """Return a sliding window of each version and segment where there is one, else the cumulative one."""
    found: dict[tuple[str, str, str], WindowReport] = {}
    for window in report.windows:
        of = window.model, window.version, window.segment
        if window.labeled and (of not in found or found[of].window == CUMULATIVE):
            found[of] = window
    return found


def explained(alert: Alert, windows: Windows, context: Context) -> Alert:
    """Return an alert with what is known of it beside its detector.

    Parameters
    ----------
    alert
        One of a detector: the conditions of a window know all that. What does not fire stays as it is.
    windows
        Of the newest report.
    context
        Knows reference prevalences.
    """
    key, rule = alert.key, alert.rule
    window = windows.get((key.model, key.version, key.segment))
    if window is None or alert.started is None:
        return alert
    evidence = with_prevalence(alert.evidence, rule, key, window, context.references(key.model))
    if rule.metric == CALIBRATION:
        evidence = replace(evidence, recalibration=window_suggestion(window, key.class_))
    return replace(alert, evidence=evidence)
