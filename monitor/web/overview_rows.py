"""The table of the overview: one row for every version. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from urllib.parse import quote

from monitor.alerts.alert import Alert
from monitor.alerts.words import duration, sentence
from monitor.history import Metric
from monitor.report import Value, WindowReport
from monitor.web.alert_parts.names import badges, live_mark, state_of
from monitor.web.charts import sparkline
from monitor.web.fleet import Model, Row
from monitor.web.html import Html, h, join
from monitor.web.links import of_model
from monitor.web.moments import moment
from monitor.web.numbers import shown_interval, shown_value, value_bar
from monitor.web.site import Shown
from monitor.wording import explain, printable, title

VERSIONS = 3
"""Versions of a model that are shown; older ones only while an alert is about them."""

NAMED_ALERTS = 2
"""Alerts of a version that are named."""

STALE = 30 * 60 * 1_000_000
"""Microseconds of event time that a version may be behind the newest event of all."""


def model_body(shown: Shown, model: Model, newest: int, refresh: str | None) -> Html:
    """Return the rows of a model as one tbody.

    Parameters
    ----------
    shown
        Everything at one moment.
    model
        Which one.
    newest
        Event time of the newest event of all, in microseconds.
    refresh
        What links keep.
    """
    kept = [row for place, row in enumerate(model.rows) if place < VERSIONS or row.alerts]
    folded = [row for place, row in enumerate(model.rows) if place >= VERSIONS and not row.alerts]
    # Of one version only it goes without saying.
    live = shown.alerts.live.get(model.name) if len(model.rows) > 1 else None
    rows = [
        _row(shown, row, place == 0, row.version.version == live, newest, refresh)
        for place, row in enumerate(kept)
    ]
    return h("tbody", *rows, _folded(model.name, folded, refresh) if folded else None)


def _row(shown: Shown, row: Row, first: bool, live: bool, newest: int, refresh: str | None) -> Html:
    window, version = row.window, row.version
    values = shown.presets.first(window)
    return h(
        "tr",
        h("th", *_name(row, first, live, refresh), scope="row"),
        h("td", _alerts(row.alerts), class_="states"),
        h("td", _metrics(window, values), class_="values"),
        h("td", _trend(shown, window, values), class_="trend"),
        h(
            "td",
            *_window(row),
            h("span", moment(version.last_event)),
            _stale(version.last_event, newest),
            class_="support",
            colspan="2",
        ),
        class_=" ".join(("first" if first else "older", *map(state_of, row.alerts[:1]))),
        data_model=printable(window.model),
        data_version=printable(window.version),
        data_window=printable(window.window),
    )


def _link(row: Row, text: Html | str, refresh: str | None) -> Html:
    window = row.window
    return h("a", text, href=of_model(window.model, window.version, window.window, refresh=refresh))


def _name(row: Row, first: bool, live: bool, refresh: str | None) -> Iterator[Html]:
    model = h("span", printable(row.window.model), " ", class_="model" if first else "hidden")
    version = h("small", printable(row.window.version) or "no version")
    yield _link(row, join(model, version), refresh)
    if live:
        yield join(" ", live_mark())


def _alerts(alerts: Sequence[Alert]) -> Html:
    if not alerts:
        return h("span", "–", class_="quiet")
    items = [
        h(
            "li",
            badges(alert),
            " ",
            h("span", printable(alert.key.alert), title=printable(sentence(alert))),
        )
        for alert in alerts[:NAMED_ALERTS]
    ]
    if more := len(alerts) - len(items):
        items.append(h("li", f"and {more:,} more", class_="quiet"))
    return h("ul", *items)


def _metrics(window: WindowReport, values: Sequence[Value]) -> Html:
    items = [
        h(
            "li",
            h("span", _title(window, value), class_="name"),
            " ",
            h(
                "span",
                shown_value(value, brief=True),
                " ",
                shown_interval(value, brief=True),
                class_="number",
            ),
            value_bar(value),
        )
        for value in values
        if value.value is not None
    ]
    return h("ul", *items, *(h("li", words, class_="reason") for words in _missing(window, values)))


def _title(window: WindowReport, value: Value) -> str:
    """Return a value's name; that it is of a binary model's positive class goes without saying here."""
    kept = {
        name: text for name, text in value.labels.items() if (name, text) != ("class", window.positive_class)
    }
    return title(value._replace(labels=kept))


def _missing(window: WindowReport, values: Iterable[Value]) -> Iterator[str]:
    """Say what is undefined and why, once for every reason."""
    if not window.labeled:
        yield explain("no_labels" if window.events else "no_events")
        return
    names: dict[str, list[str]] = {}
    for value in values:
        if value.undefined is not None:
            names.setdefault(value.undefined, []).append(_title(window, value))
    for reason, titles in names.items():
        yield f"{', '.join(titles)} undefined: {explain(reason)}"
    seen = [name for name, n in zip(window.classes, window.support, strict=True) if n]
    if window.task != "multilabel" and len(seen) == 1:
        yield f"every label is {printable(seen[0])}: are labels of the other classes still to come?"


def _trend(shown: Shown, window: WindowReport, values: Sequence[Value]) -> Html | None:
    track = shown.tracks.get((window.model, window.version, window.window))
    return sparkline(track, Metric.of(values[0])) if track is not None and values else None


def _window(row: Row) -> Iterator[Html]:
    window = row.window
    yield h("span", f"{window.labeled:,} ", h("span", f"of {window.events:,}", class_="quiet"))
    state = "complete" if window.complete else "filling"
    yield h(
        "span",
        printable(window.window),
        ", ",
        h("span", state, class_=None if window.complete else "warn"),
        class_="quiet",
    )
    if row.substitute:
        yield h("span", "has no such window", class_="warn")


def _stale(last_event: int, newest: int) -> Html | None:
    behind = newest - last_event
    return h("span", f"no event for {duration(behind)}", class_="warn") if behind > STALE else None


def _folded(model: str, rows: Sequence[Row], refresh: str | None) -> Html:
    versions = (h("li", _link(row, printable(row.window.version) or "no version", refresh)) for row in rows)
    count = "1 older version" if len(rows) == 1 else f"{len(rows):,} older versions"
    return h(
        "tr",
        h(
            "td",
            h("details", h("summary", count), h("ul", *versions), id=f"older-{quote(model, safe='')}"),
            colspan="6",
        ),
        class_="folded",
    )
