"""What the page shows of one model version in one window."""

from __future__ import annotations

from collections.abc import Sequence

from monitor.report import Confusion, Value, WindowReport
from monitor.text_report import classification_report
from monitor.web.html import Html, h, join
from monitor.wording import (
    DECISIONS,
    METHODS,
    SCORES,
    explain,
    headline,
    interval_of,
    number,
    printable,
    title,
    utc,
    written,
)

MAX_CLASSES = 20
"""Largest confusion matrix that is drawn."""

MAX_SEGMENTS = 50
"""Most segments that are listed."""


def card(window: WindowReport, segments: Sequence[WindowReport], confidence_level: float) -> Html:
    """Return everything about one version in one window.

    Parameters
    ----------
    window
        Over all events.
    segments
        The same version and window by segment.
    confidence_level
        Of the intervals.
    """
    state = h("span", "complete", class_="badge good") if window.complete else None
    return h(
        "section",
        h(
            "header",
            h("h2", printable(window.model), " ", h("small", printable(window.version) or "no version")),
            state or h("span", "window not complete", class_="badge warn"),
        ),
        _extent(window),
        h(
            "div",
            h("div", _numbers(window, confidence_level), class_="scroll wide"),
            h("div", _confusion(window), class_="scroll"),
            class_="columns",
        ),
        _segments(segments) if segments else None,
        h(
            "details",
            h("summary", "Classification report"),
            h("pre", classification_report(window, confidence_level), tabindex="0"),
            open="",
        ),
        class_="card",
    )


def _extent(window: WindowReport) -> Html:
    parts = [f"{window.labeled:,} labeled of {window.events:,} events"]
    if window.start is not None:
        parts.append(f"{utc(window.start)} to {utc(window.end)}")
    if window.task == "binary":
        parts.append(f"threshold {window.thresholds[0]:.6g}")
    return h("p", " · ".join(parts), class_="quiet")


def _numbers(window: WindowReport, confidence_level: float) -> Html:
    values = [*headline(window, DECISIONS), *headline(window, SCORES)]
    heads = (
        h("th", "Metric", scope="col"),
        h("th", "Value", scope="col"),
        h("th", f"{100 * confidence_level:.4g}% interval", scope="col"),
        h("th", "0 to 1", scope="col", class_="bar"),
        h("th", "Events", scope="col"),
    )
    return h(
        "table",
        h("thead", h("tr", *heads)),
        h("tbody", *map(_number_row, values)),
        class_="numbers",
    )


def _number_row(value: Value) -> Html:
    name = h("th", title(value), scope="row")
    if value.value is None:
        reason = explain(value.undefined or "")
        return h(
            "tr", name, h("td", "undefined", class_="reason"), h("td", reason, colspan="3", class_="reason")
        )
    interval = interval_of(value)
    counts = f"{value.support:,}"
    if value.numerator is not None and value.denominator is not None:
        counts = f"{value.numerator:,.10g} of {value.denominator:,.10g}"
    return h(
        "tr",
        name,
        h("td", written(value), _low_support(value), class_="value"),
        h("td", f"{number(interval.lower)} – {number(interval.upper)}", title=METHODS.get(interval.method))
        if interval
        else h("td", "–", class_="quiet"),
        h("td", _bar(value.value, interval.lower, interval.upper) if interval else None, class_="bar"),
        h("td", counts, class_="quiet"),
    )


def _low_support(value: Value) -> Html | None:
    if not value.low_support:
        return None
    return h("abbr", "*", title="low support: too few events to judge by, or a wide interval")


def _bar(value: float, lower: float, upper: float) -> Html | None:
    """Draw an interval on the scale from 0 to 1; the table has the numbers for those who cannot see it."""
    if not 0 <= lower <= upper <= 1:
        return None
    return h(
        "svg",
        h("rect", class_="track", x="0", y="5", width="100", height="2"),
        h(
            "rect",
            class_="band",
            x=f"{100 * lower:.2f}",
            y="2",
            width=f"{100 * (upper - lower):.2f}",
            height="8",
        ),
        h("rect", class_="point", x=f"{100 * value - 0.75:.2f}", y="0", width="1.5", height="12"),
        viewBox="0 0 100 12",
        aria_hidden="true",
    )


def _confusion(window: WindowReport) -> Html:
    if len(window.classes) > MAX_CLASSES:
        return h("p", f"{len(window.classes)} classes: the API has the confusion matrix.", class_="quiet")
    caption = "Confusion matrix: true class in rows, decision in columns, shaded by share of the row"
    names, columns = window.classes, window.decisions
    matrix = window.confusions[0]
    if window.task == "multilabel":
        caption = "By class: true (or not) in rows, decided (or not) in columns, shaded by share of the row"
        names = tuple(f"{word}{name}" for name in window.classes for word in ("not ", ""))
        columns = ("not decided", "decided")
        matrix = tuple(row for of_class in window.confusions for row in of_class)
    return _matrix(caption, names, columns, matrix)


def _matrix(caption: str, names: Sequence[str], columns: Sequence[str], matrix: Confusion) -> Html:
    rows = []
    for name, counts in zip(names, matrix, strict=True):
        total = sum(counts)
        cells = [
            h("td", f"{count:,}", class_=f"shade{round(10 * count / total) if total else 0}")
            for count in counts
        ]
        rows.append(h("tr", h("th", printable(name), scope="row"), *cells))
    heads = [h("th", printable(name), scope="col") for name in columns]
    return h(
        "table",
        h("caption", caption),
        h("thead", h("tr", h("td", "true \\ decided", class_="quiet"), *heads)),
        h("tbody", *rows),
        class_="confusion",
    )


def _segments(segments: Sequence[WindowReport]) -> Html:
    shown = segments[:MAX_SEGMENTS]
    titles = [title(value) for value in list(headline(shown[0], DECISIONS))[:2]]
    rows = [
        h(
            "tr",
            h("th", printable(segment.segment), scope="row"),
            h("td", f"{segment.labeled:,}"),
            *(h("td", _brief(value)) for value in list(headline(segment, DECISIONS))[:2]),
        )
        for segment in shown
    ]
    more = len(segments) - len(shown)
    return h(
        "div",
        h(
            "table",
            h("caption", "By segment" + (f" (the API has {more} more)" if more else "")),
            h("thead", h("tr", *(h("th", head, scope="col") for head in ("Segment", "Labeled", *titles)))),
            h("tbody", *rows),
            class_="numbers",
        ),
        class_="scroll segments",
    )


def _brief(value: Value) -> Html:
    if value.value is None:
        return h("span", f"undefined: {explain(value.undefined or '')}", class_="reason")
    interval = interval_of(value)
    bounds = f" {number(interval.lower)} – {number(interval.upper)}" if interval else ""
    return join(h("span", number(value.value), class_="value"), h("span", bounds, class_="quiet"))
