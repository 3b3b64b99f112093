"""Where people read what to do about an alert."""

from __future__ import annotations

from monitor.alerts.rule import CALIBRATION, Rule


def runbook_url(rule: Rule, is_companion: bool, page: str | None = None) -> str:
    """Return the link that an alert carries: the rule's own, else the section of its kind.

    Parameters
    ----------
    rule
        What the alert follows.
    is_companion
        Whether it says no more than that its rule's value is undefined.
    page
        Address of the page of sections; None: as the rule has it.
    """
    if rule.runbook is not None:
        return rule.runbook
    kind = "undefined" if is_companion else "calibration" if rule.metric == CALIBRATION else "quality"
    return f"{page or rule.runbooks}#{kind}"
