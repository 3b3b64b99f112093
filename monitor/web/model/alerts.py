"""Which alerts watch a model, and what they say now. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from monitor.alerts.alert import Alert
from monitor.alerts.words import sentence
from monitor.presets import Presets
from monitor.suggested_alerts import suggest, why_none
from monitor.web.alert_parts.names import badges, counted, rank, since_of, state_of
from monitor.web.html import Html, h, join
from monitor.web.links import address
from monitor.web.model.chosen import Chosen
from monitor.web.moments import moment
from monitor.wording import printable

MAX_ALERTS = 8
"""Most alerts that are spelled out."""


def of_model(alerts: Iterable[Alert], model: str) -> list[Alert]:
    """Return the alerts of a model."""
    return [alert for alert in alerts if alert.key.model == model]


def watches(alert: Alert, family: str, labels: Mapping[str, str], segment: str = "") -> bool:
    """Return whether an alert is about a value of its version, over all events or in a segment."""
    rest = {name: text for name, text in labels.items() if name not in ("class", "subset")}
    asked = {name: text for name, text in alert.rule.labels.items() if name != "subset"}
    return (
        alert.rule.metric == family
        and alert.key.class_ == labels.get("class", "")
        and alert.key.segment == segment
        and alert.rule.labels.get("subset", "all") == labels.get("subset", "all")
        and asked == rest
    )


def alerts_section(
    chosen: Chosen, alerts: Iterable[Alert], presets: Presets, suggesting: bool = True
) -> Html:
    """Return what fires or is about to, that of the chosen version first, and what to watch where nothing is.

    Parameters
    ----------
    chosen
        What is shown.
    alerts
        Of the model.
    presets
        For suggestions.
    suggesting
        Whether the numbers are good enough to propose rules by.
    """
    found = list(alerts)
    raised = sorted(
        (alert for alert in found if alert.state != "inactive"),
        key=lambda alert: (alert.key.version != chosen.version, *rank(alert)),
    )
    badges = list(counted(map(state_of, raised)))
    if found and not badges:
        badges = [h("span", "quiet", class_="badge good")]
    more = len(raised) - MAX_ALERTS
    return h(
        "section",
        h("header", h("h2", "Alerts"), *badges),
        h("ul", *(_item(chosen, alert) for alert in raised[:MAX_ALERTS]), class_="raised")
        if raised
        else None,
        _footer(chosen, len(found), more) if found else _unwatched(chosen, presets, suggesting),
        class_="card",
        id="alerts",
    )


def _item(chosen: Chosen, alert: Alert) -> Html:
    facts: list[str | None] = [printable(alert.rule.severity)]
    if (since := since_of(alert)) is not None:
        facts += [" · since ", moment(since)]
    if alert.key.version != chosen.version:
        facts.append(printable(f" · version {alert.key.version or '(none)'}"))
    return h(
        "li",
        h(
            "p",
            badges(alert),
            " ",
            h("strong", printable(alert.key.alert)),
            " ",
            h("span", *facts, class_="quiet"),
        ),
        h("p", printable(sentence(alert))),
    )


def _footer(chosen: Chosen, watching: int, more: int) -> Html:
    rest = f"{more:,} more are not shown. " if more > 0 else ""
    every = f"All {watching:,} alerts of this model" if watching > 1 else "The alert of this model"
    return h("p", rest, h("a", every, href=address("alerts", {"model": chosen.model})))


def _unwatched(chosen: Chosen, presets: Presets, suggesting: bool) -> Html:
    if chosen.kept is not None:
        return h("p", "This version retired: no alert watches it any more.", class_="quiet")
    rules = suggest(chosen.whole, presets) if suggesting else ""
    note = h("p", "No alert rule watches this model: nobody is told when it gets worse.", class_="warn")
    if not rules:
        reason = why_none(chosen.whole)
        return join(note, reason and h("p", f"No rules are proposed: {reason}.", class_="quiet"))
    return join(
        note,
        h(
            "details",
            h("summary", "Rules to begin with, for alerts.rules in monitor.yaml"),
            h("pre", rules, tabindex="0", role="region", aria_label="Suggested rules"),
            id="suggested-alerts",
        ),
    )
