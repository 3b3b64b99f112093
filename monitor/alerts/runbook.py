"""Where people read what to do about an alert."""

from __future__ import annotations

from monitor.alerts.rule import CALIBRATION, Rule

RUNBOOKS = "docs/runbooks.md"
"""Page with a section for each kind of alert."""


def runbook_url(rule: Rule, is_companion: bool, page: str = RUNBOOKS) -> str:
    """Return the link that an alert carries: the rule's own, else the section of its kind.

    Parameters
    ----------
    rule
        What the alert follows.
    is_companion
        Whether it says no more than that its rule's value is undefined.
    page
        Address of the page of sections.
    """
    if rule.runbook is not None:
        return rule.runbook
    kind = "undefined" if is_companion else "calibration" if rule.metric == CALIBRATION else "quality"
    return f"{page}#{kind}"
