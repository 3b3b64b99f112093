"""What the newest report adds to an alert that fires: prevalence, and a map that would make scores right."""

from __future__ import annotations

from dataclasses import replace

from monitor.alerts.alert import Alert
from monitor.alerts.conditions import Context
from monitor.alerts.explain import with_prevalence
from monitor.alerts.rule import CALIBRATION
from monitor.recalibration import window_suggestion
from monitor.report import CUMULATIVE, Report, WindowReport


def explained(alert: Alert, report: Report | None, context: Context) -> Alert:
    """Return an alert with what is known of it beside its detector.

    Parameters
    ----------
    alert
        One of a detector: the conditions of a window know all that. What does not fire stays as it is.
    report
        The newest; None where there is none yet.
    context
        Knows reference prevalences.
    """
    window = None if report is None or alert.started is None else _window(alert, report)
    if window is None:
        return alert
    key, rule = alert.key, alert.rule
    evidence = with_prevalence(alert.evidence, rule, key, window, context.references(key.model))
    if rule.metric == CALIBRATION:
        evidence = replace(evidence, recalibration=window_suggestion(window, key.class_))
    return replace(alert, evidence=evidence)


def _window(alert: Alert, report: Report) -> WindowReport | None:
    """Return a window of the same version and segment: a sliding one, which shows the present."""
    key = alert.key
    found = [
        window
        for window in report.windows
        if (window.model, window.version, window.segment) == (key.model, key.version, key.segment)
        and window.labeled
    ]
    return next((window for window in found if window.window != CUMULATIVE), next(iter(found), None))
