"""The page: how each model version does now, and whether the numbers can be trusted. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlencode

from monitor.report import Report, WindowReport
from monitor.status import DaemonStatus
from monitor.web.cards import card
from monitor.web.health import problems
from monitor.web.html import Html, h, join
from monitor.wording import printable, utc

MAX_CARDS = 20
"""Most model versions on one page; the others are linked."""


def render_page(
    report: Report | None,
    windows: Sequence[WindowReport],
    status: DaemonStatus,
    series_dropped: int,
    query: dict[str, str],
    missing: str | None = None,
    alerts: Html | None = None,
) -> str:
    """Return the whole document.

    Parameters
    ----------
    report
        The newest, None where there is none.
    windows
        What to show of it: one window of one or more versions, by segment.
    status
        Of the daemon.
    series_dropped
        Series that the export leaves out.
    query
        The request's parameters model, version, window and refresh, as far as given; links keep them.
    missing
        What the request asks for that the report does not have, in words.
    alerts
        What there is to say of alerts and actions; None where that is another instance's.
    """
    refresh = None
    if query.get("refresh") != "off":
        refresh = h("meta", http_equiv="refresh", content=f"{max(5, round(status.evaluation_every))}")
    document = h(
        "html",
        h(
            "head",
            h("meta", charset="utf-8"),
            h("meta", name="viewport", content="width=device-width, initial-scale=1"),
            h("meta", name="color-scheme", content="light dark"),
            refresh,
            h("title", "monitor"),
            h("link", rel="icon", href="data:,"),
            h("link", rel="stylesheet", href="style.css"),
        ),
        h(
            "body",
            h("header", h("h1", h("a", "monitor", href="?")), _facts(status, report), class_="top"),
            _problems(status, series_dropped),
            h(
                "main",
                h("p", printable(missing)) if missing else None,
                alerts,
                *_body(report, windows, status, query),
            ),
            _footer(query, status),
        ),
        lang="en",
    )
    return f"<!doctype html>\n{document}\n"


def link(query: dict[str, str], text: str, **changes: str | None) -> Html:
    """Return a link to this page with other parameters; it is marked where they are the present ones."""
    target = {k: v for k, v in (query | changes).items() if v is not None}
    return h("a", text, href=f"?{urlencode(target)}", aria_current="true" if target == query else None)


def _facts(status: DaemonStatus, report: Report | None) -> Html:
    good = not any(problems(status))
    evaluated = "–" if report is None else utc(report.evaluated_at)
    rejected = sum(status.events_rejected.values())
    facts = (
        ("State", h("span", status.role, class_="badge good" if good and status.ready else "badge warn")),
        ("Evaluated", evaluated),
        ("Read up to", utc(status.frontier)),
        ("Records", f"{sum(status.events_consumed.values()):,}"),
        ("Rejected", h("span", f"{rejected:,}", class_="warn" if rejected else None)),
        ("Behind", f"{sum(status.consumer_lag.values()):,}"),
        ("State size", f"{status.state_bytes / 1e6:,.1f} MB"),
    )
    return h("dl", *(h("div", h("dt", name), h("dd", value)) for name, value in facts))


def _problems(status: DaemonStatus, series_dropped: int) -> Html | None:
    found = [f"{problem.name}: {problem.reason}" for problem in problems(status)]
    if series_dropped:
        found.append(f"export: {series_dropped:,} series are left out above export.max_series")
    if not found:
        return None
    return h("ul", *(h("li", printable(text)) for text in found), class_="problems", role="alert")


def _body(
    report: Report | None, windows: Sequence[WindowReport], status: DaemonStatus, query: dict[str, str]
) -> list[Html]:
    if status.role == "restoring":
        return [h("p", "This instance is restoring its state. Numbers follow when it is done.")]
    if status.role == "standby":
        return [h("p", "This instance is a standby: another one reads the partitions and has the numbers.")]
    if report is None or not report.versions:
        return [h("p", "No event has been evaluated yet.")]
    since = {(version.model, version.version): version.since for version in report.versions}
    wholes = sorted(
        (window for window in windows if not window.segment),
        key=lambda w: (w.model, -since[w.model, w.version]),  # the newest version first
    )
    names = list(dict.fromkeys(window.window for window in report.windows))
    links = [link(query, printable(name), window=name) for name in names]
    cards = [
        card(
            whole,
            [w for w in windows if w.segment and (w.model, w.version) == (whole.model, whole.version)],
            report.confidence_level,
        )
        for whole in wholes[:MAX_CARDS]
    ]
    return [h("nav", h("span", "Window"), *links, aria_label="Window"), *cards, *_others(wholes, query)]


def _others(wholes: Sequence[WindowReport], query: dict[str, str]) -> list[Html]:
    others = wholes[MAX_CARDS:]
    if not others:
        return []
    items = [
        h("li", link(query, printable(f"{w.model} {w.version}"), model=w.model, version=w.version))
        for w in others
    ]
    return [h("section", h("h2", f"{len(others)} more model versions"), h("ul", *items), class_="card")]


def _footer(query: dict[str, str], status: DaemonStatus) -> Html:
    paused = query.get("refresh") == "off"
    return h(
        "footer",
        join(
            link(query, "Resume refresh" if paused else "Pause refresh", refresh=None if paused else "off"),
            h("a", "API", href="openapi.json"),
            h("a", "Metrics", href="metrics"),
            h("a", "Health", href="healthz"),
            h("span", f"monitor {status.version}"),
        ),
    )
