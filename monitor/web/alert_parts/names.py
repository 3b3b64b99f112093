"""How alerts are named, ordered and linked. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from monitor.alerts.alert import Alert, Key
from monitor.web.html import Html, h, join
from monitor.web.links import of_model
from monitor.wording import printable

STATES: Mapping[str, str] = {
    "firing": "bad",
    "pending": "warn",
    "no_data": "warn",
    "historic": "warn",
    "inactive": "good",
}
"""States as pages have them, what needs attention first, and how their badges look."""


def state_of(alert: Alert) -> str:
    """Return the state; "historic" is one that fires, but began too long ago for anybody to be told."""
    return "historic" if alert.state == "firing" and alert.historic else alert.state


def spaced(word: str) -> str:
    """Write a word of the interface for people."""
    return word.replace("_", " ")


def rank(alert: Alert) -> tuple[int, int, Key]:
    """Return what to sort by: the state, then the newest first."""
    since = -alert.since.timestamp if alert.since else 0
    return list(STATES).index(state_of(alert)), since, alert.key


def badge(state: str) -> Html:
    """Return the badge of a state, or of a change."""
    look = "good" if state == "resolved" else STATES[state]
    return h("span", spaced(state), class_=f"badge {look}")


def anchor(key: Key) -> str:
    """Return an id of an alert's element, the same at every refresh; names are no ids."""
    return "alert-" + hashlib.sha256("\n".join(key).encode("utf-8", "surrogatepass")).hexdigest()[:12]


def scope(key: Key) -> Html:
    """Say what an alert is about, with a link to where it is shown."""
    named = (("window", key.window), ("segment", key.segment), ("class", key.class_))
    link = of_model(
        key.model,
        key.version,
        key.window or None,
        segment=key.segment or None,
        class_=key.class_ or None,
    )
    rest = "".join(f" · {name} {printable(text)}" for name, text in named if text)
    return join(h("a", version_of(key.model, key.version), href=link), rest)


def version_of(model: str, version: str) -> str:
    """Name a version of a model."""
    return f"{printable(model)} {printable(version)}".strip()
