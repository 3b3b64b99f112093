"""What every page has in common: head, navigation, how the daemon is, footer. Pure.

The script replaces `#status` and `#main` by the newest; what persists has an id of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from monitor.web.alert_parts.names import state_of
from monitor.web.daemon_line import daemon_line, daemon_problems
from monitor.web.html import Html, h, join
from monitor.web.links import address
from monitor.web.moments import moment
from monitor.web.site import Shown

__all__ = ["Page", "Place", "document", "moment"]

Place = Literal["overview", "model", "alerts"]
"""Which page it is."""

PATHS: Mapping[Place, str] = {"overview": "./", "model": "model", "alerts": "alerts"}

SCRIPTS = ("idiomorph.min.js", "uPlot.iife.min.js", "page.js")


class Page(NamedTuple):
    """An answer: a whole document and its HTTP status."""

    html: str
    status: int = 200


def document(
    shown: Shown,
    place: Place | None,
    title: str,
    parameters: Mapping[str, str],
    *main: Html | None,
    root: str = "",
) -> str:
    """Return a whole document.

    Parameters
    ----------
    shown
        Everything at one moment.
    place
        Which page it is, None where it is none of them.
    title
        Of the document, without the name of the program; escaped here.
    parameters
        All those of the request, so that pausing keeps the view; other pages keep `refresh`.
    main
        What is in the middle, its h1 first.
    root
        What leads to the page's root from a path below it: "../" for each level.
    """
    paused = parameters.get("refresh") == "off"
    firing = sum(state_of(alert) == "firing" for alert in shown.alerts.alerts)
    is_still = paused or place is None  # what is nowhere stays nowhere
    every = None if is_still else f"{max(5, round(shown.status.evaluation_every))}"
    head = h(
        "head",
        h("meta", charset="utf-8"),
        h("meta", name="viewport", content="width=device-width, initial-scale=1"),
        h("meta", name="color-scheme", content="light dark"),
        h("noscript", h("meta", http_equiv="refresh", content=every)) if every else None,
        h("title", f"({firing:,} firing) " if firing else "", f"{title} · monitor"),
        h("link", rel="icon", href="data:,"),
        h("link", rel="stylesheet", href=f"{root}style.css"),
        *(h("script", src=f"{root}{name}", defer="") for name in SCRIPTS),
    )
    body = h(
        "body",
        h("a", "Skip to content", href="#main", class_="skip"),
        _header(shown, place, firing, paused, root),
        h("main", *main, id="main", tabindex="-1", data_refresh=every),
        _footer(shown.status.version, place, parameters, paused, root),
    )
    return f"<!doctype html>\n{h('html', head, body, lang='en')}\n"


def _header(shown: Shown, place: Place | None, firing: int, paused: bool, root: str) -> Html:
    keep = {"refresh": "off"} if paused else {}
    count = join(" ", h("span", f"{firing:,} firing", class_="badge bad")) if firing else None

    def link(to: Place, *text: str | None) -> Html:
        current = "page" if to == place else None
        return h("a", *text, href=address(f"{root}{PATHS[to]}", keep), aria_current=current)

    return h(
        "header",
        h(
            "div",
            h("a", "monitor", href=address(f"{root}{PATHS['overview']}", keep), class_="brand"),
            h("nav", link("overview", "Overview"), link("alerts", "Alerts", count), aria_label="Pages"),
            daemon_line(shown),
            class_="bar",
        ),
        daemon_problems(shown),
        id="status",
    )


def _footer(
    version: str, place: Place | None, parameters: Mapping[str, str], paused: bool, root: str
) -> Html:
    refresh = None
    if place is not None:
        href = address(PATHS[place], {**parameters, "refresh": None if paused else "off"})
        refresh = h("a", "Resume refresh" if paused else "Pause refresh", href=href, id="refresh")
    return h(
        "footer",
        refresh,
        h("a", "API", href=f"{root}openapi.json"),
        h("a", "Metrics", href=f"{root}metrics"),
        h("a", "Health", href=f"{root}healthz"),
        h("span", f"monitor {version}"),
    )
