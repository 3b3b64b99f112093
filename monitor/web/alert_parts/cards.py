"""Alerts that need attention, one card each. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from monitor.actions.decision import Decision
from monitor.alerts.alert import Alert
from monitor.alerts.runbook import runbook_url
from monitor.alerts.words import sentence
from monitor.web.alert_parts.evidence import evidence_list
from monitor.web.alert_parts.forms import silence_form
from monitor.web.alert_parts.names import Versions, anchor, badge, scope, spaced, state_of
from monitor.web.html import Html, h, join
from monitor.web.moments import moment
from monitor.wording import printable

HISTORIC = "began too long ago, or before this instance had caught up: nobody is told"
STILL_TOLD = "it fired before: people are told until there are data again"


def alert_card(alert: Alert, decisions: Sequence[Decision], versions: Versions, can_act: bool) -> Html:
    """Return an alert with its evidence, its runbook and what is done about it.

    Parameters
    ----------
    alert
        Any that is not inactive.
    decisions
        Those about its episode.
    versions
        Those to link to.
    can_act
        Whether people may silence it.
    """
    id, state = anchor(alert.key), state_of(alert)
    silence = silence_form(f"{id}-silence", alert.key.labels) if can_act and alert.rule.actions else None
    return h(
        "article",
        h("h3", badge(state), " ", printable(alert.key.alert)),
        h("p", scope(alert.key, versions), class_="scope"),
        h("p", *_facts(alert, state), class_="quiet"),
        h("p", printable(sentence(alert)), class_="sentence"),
        evidence_list(alert),
        _done(alert, decisions),
        h("details", h("summary", "Silence its actions"), silence, id=f"{id}-silencing") if silence else None,
        id=id,
        class_=f"card alert {state}",
    )


def _facts(alert: Alert, state: str) -> list[str]:
    facts: list[str] = [printable(alert.rule.severity)]
    if alert.since is not None:
        facts += [" · since ", moment(alert.since.timestamp)]
    if state == "historic":
        facts.append(f" · {HISTORIC}")
    if state == "no_data" and alert.firing:
        facts.append(f" · {STILL_TOLD}")
    return [*facts, " · ", _runbook(alert)]


def _runbook(alert: Alert) -> str:
    """Link to the runbook; what is no address of the web, as the page in this repository, is named."""
    url = runbook_url(alert.rule, alert.is_companion)
    if url.startswith(("http://", "https://")):
        return h("a", "runbook", href=url, rel="noreferrer")
    return join("runbook: ", h("code", printable(url)))


def _done(alert: Alert, decisions: Sequence[Decision]) -> Html | None:
    if not alert.rule.actions:
        return None
    if not decisions:
        names = ", ".join(map(printable, alert.rule.actions))
        return h("p", f"Actions: {names}, not decided.")
    links = (
        join(h("a", printable(each.action), href=f"#action-{each.id}"), f" ({spaced(each.status)})")
        for each in decisions
    )
    return h(
        "p", "Actions: ", *(join(", " if place else None, link) for place, link in enumerate(links)), "."
    )
