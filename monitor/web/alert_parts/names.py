"""How alerts are named, ordered and linked. Pure."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

from monitor.alerts.alert import Alert, Key
from monitor.report import Report
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

Versions = Mapping[str, Collection[str]]
"""By model, those of the newest report."""


def state_of(alert: Alert) -> str:
    """Return the state as people are told of it.

    What fired before its data ended is still "firing"; "historic" is what fires, but began too long ago for
    anybody to be told.
    """
    if alert.firing:
        return "firing"
    return "historic" if alert.state == "firing" else alert.state


def fires_without_data(alert: Alert) -> bool:
    """Return whether people are still told of it although its version has no events any more."""
    return alert.firing and alert.state == "no_data"


def since_of(alert: Alert) -> int | None:
    """Return since when it is in the state of `state_of`, in microseconds of event time."""
    since = alert.started if alert.firing else alert.since
    return None if since is None else since.timestamp


def spaced(word: str) -> str:
    """Write a word of the interface for people."""
    return word.replace("_", " ")


def rank(alert: Alert) -> tuple[int, int, Key]:
    """Return what to sort by: the state, then the newest first."""
    return list(STATES).index(state_of(alert)), -(since_of(alert) or 0), alert.key


def badge(state: str) -> Html:
    """Return the badge of a state, or of a change."""
    look = "good" if state == "resolved" else STATES[state]
    return h("span", spaced(state), class_=f"badge {look}")


def badges(alert: Alert) -> Html:
    """Return the badge of an alert's state, and where it fires without data that of this."""
    shown = badge(state_of(alert))
    return join(shown, " ", badge("no_data")) if fires_without_data(alert) else shown


def not_live(version: str, live: str | None, href: str | None) -> Html | None:
    """Return a badge that names, and links, the version that is live instead; None where none is known."""
    if live in (None, version):
        return None
    text = f"not live: {printable(live or '') or 'no version'} is"
    why = "the newest events come from that version"
    return h("a" if href else "span", text, href=href, class_="badge warn", title=why)


def live_mark() -> Html:
    """Return the badge of the version that a model's traffic comes from."""
    return h("span", "live", class_="badge", title="the newest events come from this version")


def counted(states: Iterable[str], href: Callable[[str], str] | None = None) -> Iterator[Html]:
    """Yield a badge for each state that needs attention, with how often it is there; `href` links it."""
    counts = Counter(states)
    for state, look in STATES.items():
        if counts[state] and state != "inactive":
            text, class_ = f"{counts[state]:,} {spaced(state)}", f"badge {look}"
            yield (
                h("span", text, class_=class_)
                if href is None
                else h("a", text, href=href(state), class_=class_)
            )


def anchor(key: Key) -> str:
    """Return an id of an alert's element, the same at every refresh; names are no ids."""
    return "alert-" + hashlib.sha256("\n".join(key).encode("utf-8", "surrogatepass")).hexdigest()[:12]


def versions_of(report: Report | None) -> Versions:
    """Return the versions that can be linked to."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for each in report.versions if report is not None else ():
        found[each.model].add(each.version)
    return found


def scope(key: Key, versions: Versions) -> Html:
    """Say what an alert is about, with a link to where it is shown: the model, if the version is gone."""
    named = (("window", key.window), ("segment", key.segment), ("class", key.class_))
    rest = "".join(f" · {name} {printable(text)}" for name, text in named if text)
    version = f"{printable(key.model)} {printable(key.version)}".strip()
    link = _link(key, versions)
    return join(version if link is None else h("a", version, href=link), rest)


def _link(key: Key, versions: Versions) -> str | None:
    of_this_model = versions.get(key.model, ())
    if key.version not in of_this_model:
        return of_model(key.model) if of_this_model else None
    others = {"segment": key.segment or None, "class_": key.class_ or None}
    return of_model(key.model, key.version, key.window or None, **others)
