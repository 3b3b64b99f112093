"""Alerts that need attention, one card each. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from monitor.actions.decision import Decision
from monitor.alerts.alert import Alert
from monitor.alerts.runbook import runbook_url
from monitor.alerts.words import sentence
from monitor.web.alert_parts.evidence import evidence_list
from monitor.web.alert_parts.forms import silence_form
from monitor.web.alert_parts.holds import held_back
from monitor.web.alert_parts.names import (
    Versions,
    anchor,
    badges,
    fires_without_data,
    not_live,
    scope,
    since_of,
    spaced,
    state_of,
)
from monitor.web.html import Html, h, join
from monitor.web.links import of_model
from monitor.web.moments import moment
from monitor.web.site import Shown
from monitor.wording import printable

HISTORIC = "began too long ago, or before this instance had caught up: nobody is told"
STILL_TOLD = (
    "people are told until new events of its version show that it is over, or the version is forgotten "
    "(limits.retire_after)"
)


def alert_card(alert: Alert, decisions: Sequence[Decision], versions: Versions, shown: Shown) -> Html:
    """Return an alert with its evidence, its runbook and what is done about it.

    Parameters
    ----------
    alert
        Any that is not inactive.
    decisions
        Those about its episode.
    versions
        Those to link to.
    shown
        Everything else: what is live, what holds actions back, and whether people may silence some.
    """
    id, state = anchor(alert.key), state_of(alert)
    acts = bool(alert.rule.actions)
    silence = silence_form(f"{id}-silence", alert.key.labels) if shown.can_act and acts else None
    return h(
        "article",
        h("h3", badges(alert), " ", printable(alert.key.alert)),
        h("p", scope(alert.key, versions), " ", _not_live(alert, versions, shown), class_="scope"),
        h("p", *_facts(alert, state), class_="quiet"),
        h("p", printable(sentence(alert)), class_="sentence"),
        evidence_list(alert),
        _done(alert, decisions),
        held_back(shown.actions, alert) if acts else None,
        h("details", h("summary", "Silence its actions"), silence, id=f"{id}-silencing") if silence else None,
        id=id,
        class_=f"card alert {state}",
    )


def _not_live(alert: Alert, versions: Versions, shown: Shown) -> Html | None:
    model, live = alert.key.model, shown.alerts.live.get(alert.key.model)
    return not_live(
        alert.key.version, live, of_model(model, live) if live in versions.get(model, ()) else None
    )


def _facts(alert: Alert, state: str) -> list[str]:
    facts: list[str] = [printable(alert.rule.severity)]
    if (since := since_of(alert)) is not None:
        facts += [" · since ", moment(since)]
    if state == "historic":
        facts.append(f" · {HISTORIC}")
    if fires_without_data(alert) and alert.since is not None:
        facts += [" · without data since ", moment(alert.since.timestamp), f": {STILL_TOLD}"]
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
