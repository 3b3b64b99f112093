"""Alerts that are quiet, and what changed. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from monitor.alerts.alert import Alert, Evidence, Key, Transition
from monitor.web.alert_parts.evidence import EXCESS, closeness, held_against, meter
from monitor.web.alert_parts.names import Versions, anchor, badge, scope
from monitor.web.html import Html, h
from monitor.web.moments import moment
from monitor.web.tables import row, table
from monitor.wording import number, printable

HEADS = ("Alert", "About", "Value", "How close")


def nearest_first(alert: Alert) -> tuple[int, Key]:
    """Return what to sort quiet alerts by: in tenths, so that rows do not change places all the time."""
    return -round(10 * (closeness(alert.evidence) or 0.0)), alert.key


def quiet_table(alerts: Sequence[Alert], versions: Versions) -> Html:
    """Return what is watched and does not fire, a row each, with links to these versions."""
    rows = (
        row(
            printable(alert.key.alert),
            h("td", scope(alert.key, versions), class_="words"),
            held_against(alert),
            meter(alert.evidence) or "–",
            id=anchor(alert.key),
        )
        for alert in alerts
    )
    return table("The nearest to firing first.", HEADS, rows, label="Alerts that are quiet")


def changes_list(transitions: Sequence[Transition], versions: Versions) -> Html:
    """Return changes, each when, what and why, with links to these versions."""
    return h("ol", *(_change(each, versions) for each in transitions), class_="changes")


def _change(transition: Transition, versions: Versions) -> Html:
    told = "nobody was told: it was long ago" if transition.historic else None
    remarks = [_value(transition.evidence), transition.reason, told]
    return h(
        "li",
        moment(transition.moment.timestamp),
        " ",
        badge(transition.change),
        " ",
        h("strong", printable(transition.key.alert)),
        " ",
        scope(transition.key, versions),
        h("span", "".join(f" · {printable(each)}" for each in remarks if each), class_="quiet"),
    )


def _value(evidence: Evidence) -> str:
    if evidence.value is None:
        return "undefined" if evidence.undefined else ""
    if evidence.component is not None:  # of calibration
        return f"{EXCESS.lower()} {number(evidence.value)}, {evidence.component}"
    limit = "" if evidence.limit is None else f", limit {number(evidence.limit)}"
    return f"{number(evidence.value)}{limit}"
