"""The page of alerts and actions: what needs attention first. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from monitor.actions.decision import Decision
from monitor.alerts.alert import Alert
from monitor.web.alert_parts.cards import alert_card
from monitor.web.alert_parts.decisions import ASKED, decision_card
from monitor.web.alert_parts.forms import HOW_TO_ACT
from monitor.web.alert_parts.holds import hold_forms, holds
from monitor.web.alert_parts.lists import changes_list, nearest_first, quiet_table
from monitor.web.alert_parts.names import (
    STATES,
    Versions,
    fires_without_data,
    rank,
    spaced,
    state_of,
    versions_of,
)
from monitor.web.html import Html, h, join
from monitor.web.layout import Page, document
from monitor.web.links import address
from monitor.web.moments import moment
from monitor.web.paging import paged
from monitor.web.site import Shown
from monitor.wording import printable

MAX_CHOICES = 200
"""Most models to choose from; beyond that the name is typed in."""

MAX_DECISIONS = 20
MAX_CHANGES = 30


def render_alerts(shown: Shown, parameters: Mapping[str, str]) -> Page:
    """Return the page for the parameters model, state, page and refresh."""
    if shown.status.role != "owner":
        why = {
            "standby": "This instance is a standby: the owner has the alerts.",
            "restoring": "This instance is restoring its state. Alerts follow when it is done.",
        }[shown.status.role]
        return Page(document(shown, "alerts", "Alerts", parameters, h("h1", "Alerts"), h("p", why)))
    model, state = parameters.get("model") or None, parameters.get("state") or None
    if state not in (None, *STATES):
        why = f"No such state; there are {', '.join(STATES)}."
        return Page(document(shown, "alerts", "Alerts", parameters, h("h1", "Alerts"), h("p", why)), 404)
    chosen = [
        alert
        for alert in shown.alerts.alerts
        if model in (None, alert.key.model) and state in (None, state_of(alert))
    ]
    loud = sorted((each for each in chosen if each.state != "inactive"), key=rank)
    quiet = sorted((each for each in chosen if each.state == "inactive"), key=nearest_first)
    versions = versions_of(shown.report)
    here, links = paged(
        [*loud, *quiet], parameters, lambda page: address("alerts", {**parameters, "page": page}), "alerts"
    )
    return Page(
        document(
            shown,
            "alerts",
            "Alerts",
            parameters,
            h("h1", "Alerts and actions"),
            h("p", _summary(shown), _judged(shown), class_="quiet"),
            holds(shown.actions, any(each.rule.actions for each in shown.alerts.alerts)),
            _asked(shown, model, versions),
            _filter(shown, model, state, parameters),
            _alerts(shown, here, versions, links),
            _decided(shown, model, versions),
            _changes(shown, model, versions),
            _holding(shown),
        )
    )


def _summary(shown: Shown) -> str:
    alerts = shown.alerts.alerts
    if not alerts:
        return "No alert watches anything here: alerts.rules of the configuration has them."
    counts = Counter(map(state_of, alerts))
    firing = counts["firing"]
    fires = "No alert fires" if firing == 0 else "1 alert fires" if firing == 1 else f"{firing:,} alerts fire"
    if silent := sum(map(fires_without_data, alerts)):
        fires += f" ({silent:,} without data)"
    others = "".join(f", {counts[state]:,} {spaced(state)}" for state in list(STATES)[1:] if counts[state])
    refused = shown.alerts.refused
    more = f" {refused:,} more matches of wildcards are refused (alerts.max_matches)." if refused else ""
    return f"{fires}{others}.{more}"


def _judged(shown: Shown) -> Html | None:
    """Say how far alerts have looked; a model's label maturity holds them back further."""
    if not shown.alerts.alerts or shown.status.frontier is None:
        return None
    return join(" Judged by events up to ", moment(shown.status.frontier), ", less label_maturity.")


def _filter(shown: Shown, model: str | None, state: str | None, parameters: Mapping[str, str]) -> Html:
    models = sorted({alert.key.model for alert in shown.alerts.alerts} | ({model} if model else set()))
    refresh = parameters.get("refresh")
    return h(
        "form",
        h("label", "Model ", _model(model, models)),
        h("label", "State ", _select("state", state, {each: spaced(each) for each in STATES})),
        h("input", type="hidden", name="refresh", value=refresh) if refresh else None,
        h("button", "Show", type="submit"),
        id="filter",
        class_="filter",
        action="alerts",
        aria_label="Which alerts",
    )


def _model(chosen: str | None, models: Sequence[str]) -> Html:
    if len(models) > MAX_CHOICES:
        return h("input", name="model", type="search", value=chosen, id="filter-model")
    return _select("model", chosen, {each: printable(each) for each in models})


def _select(name: str, chosen: str | None, choices: Mapping[str, str]) -> Html:
    options = (
        h("option", text, value=value, selected="" if value == chosen else None)
        for value, text in choices.items()
    )
    return h("select", h("option", "all", value=""), *options, name=name, id=f"filter-{name}")


def _alerts(shown: Shown, alerts: Sequence[Alert], versions: Versions, links: Html | None) -> Html:
    decisions: defaultdict[str, list[Decision]] = defaultdict(list)
    for decision in shown.actions.decisions:
        decisions[decision.episode].append(decision)
    cards = [
        alert_card(each, decisions[each.episode] if each.episode else (), versions, shown)
        for each in alerts
        if each.state != "inactive"
    ]
    quiet = [each for each in alerts if each.state == "inactive"]
    return h(
        "section",
        h("h2", "Alerts"),
        *cards,
        None if cards else h("p", "Nothing here needs attention.", class_="quiet"),
        h("div", h("h3", "Quiet"), quiet_table(quiet, versions), class_="card") if quiet else None,
        links,
        id="alerts",
    )


def _asked(shown: Shown, model: str | None, versions: Versions) -> Html | None:
    found = [each for each in _of(shown, model) if each.status in ASKED]
    title = "1 action waits for you" if len(found) == 1 else f"{len(found):,} actions wait for you"
    return _decisions(shown, title, found, versions, "asked") if found else None


def _decided(shown: Shown, model: str | None, versions: Versions) -> Html | None:
    found = [each for each in _of(shown, model) if each.status not in ASKED]
    return _decisions(shown, "Actions", found, versions, "decided") if found else None


def _of(shown: Shown, model: str | None) -> Iterable[Decision]:
    return (each for each in shown.actions.decisions if model in (None, each.model))


def _decisions(shown: Shown, title: str, decisions: Sequence[Decision], versions: Versions, id: str) -> Html:
    episodes = {alert.episode: alert for alert in shown.alerts.alerts if alert.episode}
    cards = (
        decision_card(each, episodes.get(each.episode), versions, shown) for each in decisions[:MAX_DECISIONS]
    )
    unable = None if shown.can_act or id != "asked" else h("p", HOW_TO_ACT, class_="warn")
    more = _more(len(decisions) - MAX_DECISIONS, "api/v1/actions")
    return h("section", h("h2", title), unable, *cards, more, id=id)


def _changes(shown: Shown, model: str | None, versions: Versions) -> Html | None:
    found = [each for each in shown.alerts.transitions if model in (None, each.key.model)]
    if not found:
        return None
    more = _more(len(found) - MAX_CHANGES, address("api/v1/alerts", {"model": model}))
    changes = changes_list(found[:MAX_CHANGES], versions)
    return h("section", h("h2", "Changes"), changes, more, class_="card", id="changes")


def _more(left: int, link: str) -> Html | None:
    return (
        h("p", f"{left:,} more: ", h("a", "the API has them", href=link), class_="quiet")
        if left > 0
        else None
    )


def _holding(shown: Shown) -> Html | None:
    if not shown.actions.enabled and not shown.actions.silences:
        return None
    return join(
        hold_forms(shown.actions, shown.can_act),
        None if shown.can_act else h("p", HOW_TO_ACT, class_="quiet"),
    )
