"""What the page shows of alerts and of what is done about them. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from monitor.actions.decision import Decision
from monitor.actions.desk import DeskView
from monitor.alerts.alert import Alert, Evidence, Key, Transition
from monitor.alerts.view import AlertsView
from monitor.alerts.words import sentence
from monitor.web.html import Html, h, join
from monitor.wording import number, printable, utc

MAX_ALERTS = 20
"""Most alerts that are shown of each kind."""

MAX_ROWS = 5
"""Most changes and decisions that are shown."""

_BADGES = {"firing": "bad", "historic": "warn", "pending": "warn", "no_data": "warn"}


def alert_card(view: AlertsView, desk: DeskView) -> Html:
    """Return the state of alerts and actions, what needs attention first."""
    by_state = {state: _in_state(view.alerts, state) for state in _BADGES}
    items = [item for state, alerts in by_state.items() for item in _items(state, alerts)]
    return h(
        "section",
        h("header", h("h2", "Alerts"), *_badges(by_state)),
        h("p", _summary(view), class_="quiet"),
        h("ul", *items, class_="alerts") if items else None,
        _held(desk),
        _actions(desk.decisions) if desk.decisions else None,
        _changes(view.transitions) if view.transitions else None,
        class_="card",
    )


def _state(alert: Alert) -> str:
    return "historic" if alert.state == "firing" and alert.historic else alert.state


def _in_state(alerts: Iterable[Alert], state: str) -> list[Alert]:
    found = [alert for alert in alerts if _state(alert) == state]
    return sorted(found, key=lambda alert: (-alert.since.timestamp if alert.since else 0, alert.key))


def _badges(by_state: dict[str, list[Alert]]) -> list[Html]:
    found = [
        h("span", f"{len(alerts)} {_spaced(state)}", class_=f"badge {_BADGES[state]}")
        for state, alerts in by_state.items()
        if alerts
    ]
    return found or [h("span", "quiet", class_="badge good")]


def _summary(view: AlertsView) -> str:
    if not view.alerts:
        return "No alert watches anything here."
    versions = {(alert.key.model, alert.key.version) for alert in view.alerts}
    firing = sum(_state(alert) == "firing" for alert in view.alerts)
    fires = "No alert fires" if firing == 0 else "1 alert fires" if firing == 1 else f"{firing:,} alerts fire"
    models = "model version" if len(versions) == 1 else "model versions"
    return f"{fires}; {len(view.alerts):,} watch {len(versions):,} {models}."


def _items(state: str, alerts: Sequence[Alert]) -> list[Html]:
    items = [_item(state, alert) for alert in alerts[:MAX_ALERTS]]
    if more := len(alerts) - len(items):
        items.append(h("li", f"{more} more {_spaced(state)}: the API has them", class_="quiet"))
    return items


def _item(state: str, alert: Alert) -> Html:
    facts = [alert.rule.severity]
    if alert.since is not None:
        facts.append(f"since {utc(alert.since.timestamp)}")
    if state == "historic":
        facts.append("began too long ago, or before this instance had caught up: nobody is told")
    return h(
        "li",
        h(
            "p",
            h("span", _spaced(state), class_=f"badge {_BADGES[state]}"),
            " ",
            _name(alert.key),
            " ",
            h("span", printable(" · ".join(facts)), class_="quiet"),
        ),
        h("p", printable(sentence(alert))),
    )


def _name(key: Key) -> Html:
    named = (("window", key.window), ("segment", key.segment), ("class", key.class_))
    parts = [f"{key.model} {key.version}".strip(), *(f"{name} {text}" for name, text in named if text)]
    return join(h("strong", printable(key.alert)), " ", printable(" · ".join(parts)))


def _spaced(word: str) -> str:
    return word.replace("_", " ")


def _held(desk: DeskView) -> Html | None:
    """Say what holds actions back, as long as something does."""
    words = []
    if desk.paused is not None:
        end = "until somebody resumes" if desk.paused.until is None else f"until {utc(desk.paused.until)}"
        words.append(f"Actions are paused by {desk.paused.by}, {end}.")
    if desk.held_by_breaker:
        words.append("Too many models at once: further actions are held until somebody approves them.")
    for silence in desk.silences:
        labels = ", ".join(f"{name}={text}" for name, text in silence.matchers.items())
        words.append(f"No action on {labels} until {utc(silence.until)}, by {silence.by}: {silence.comment}")
    return h("ul", *(h("li", printable(word)) for word in words), class_="held") if words else None


def _actions(decisions: Sequence[Decision]) -> Html:
    rows = [
        h(
            "tr",
            h("th", printable(decision.action), " ", h("code", decision.id), scope="row"),
            h("td", _spaced(decision.status), class_="value"),
            h("td", _move(decision)),
            h("td", printable(decision.reason or ""), class_="words"),
            h("td", utc(decision.decided_at), class_="quiet"),
        )
        for decision in decisions[:MAX_ROWS]
    ]
    heads = ("Action", "Status", "Model", "Why", "Decided")
    return _table("Actions", heads, rows, len(decisions))


def _move(decision: Decision) -> str:
    versions = [printable(decision.bad_version) or "no version"]
    if decision.target_version is not None:
        versions.append(printable(decision.target_version) or "no version")
    return f"{printable(decision.model)} {' → '.join(versions)}"


def _changes(transitions: Sequence[Transition]) -> Html:
    rows = [
        h(
            "tr",
            h("th", _name(transition.key), scope="row"),
            h("td", _spaced(transition.change), class_="value"),
            h("td", _value(transition.evidence)),
            h("td", _why(transition), class_="words"),
            h("td", utc(transition.moment.timestamp), class_="quiet"),
        )
        for transition in transitions[:MAX_ROWS]
    ]
    return _table("Changes", ("Alert", "Change", "Value", "Remark", "At"), rows, len(transitions))


def _value(evidence: Evidence) -> str:
    if evidence.value is None:
        return "undefined" if evidence.undefined else ""
    limit = "" if evidence.limit is None else f", limit {number(evidence.limit)}"
    return f"{number(evidence.value)}{limit}"


def _why(transition: Transition) -> str:
    told = "nobody was told: it was long ago" if transition.historic else None
    return printable("; ".join(filter(None, (transition.reason, told))))


def _table(title: str, heads: Iterable[str], rows: Sequence[Html], known: int) -> Html:
    more = f", the newest {len(rows)} of {known}" if known > len(rows) else ""
    return h(
        "details",
        h("summary", title + more),
        h(
            "div",
            h(
                "table",
                h("thead", h("tr", *(h("th", head, scope="col") for head in heads))),
                h("tbody", *rows),
                class_="numbers",
            ),
            class_="scroll",
        ),
        open="",
    )
