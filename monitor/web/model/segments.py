"""The segments of a window beside each other. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from monitor.report import Value
from monitor.web.html import Html, h, join
from monitor.web.model.chosen import Chosen
from monitor.web.model.values import Values
from monitor.web.numbers import with_interval
from monitor.web.tables import row, table
from monitor.wording import interval_of, printable, title

MAX_SEGMENTS = 50
"""Most segments that are listed."""


def segments_section(chosen: Chosen, headline: Sequence[Value]) -> Html | None:
    """Return the headline metrics of every segment, None where there are none.

    Parameters
    ----------
    chosen
        What is shown.
    headline
        Values of the whole; those of segments are held against them.
    """
    if not chosen.segments:
        return None
    listed = sorted(chosen.segments, key=lambda segment: -segment.labeled)[:MAX_SEGMENTS]
    rows = []
    for segment in listed:
        values = Values(segment)
        name = printable(segment.segment)
        link = h("a", name, href=chosen.link(segment=segment.segment))
        cells = (_cell(values.like(of.name, of.labels), of) for of in headline)
        current = segment.segment == chosen.window.segment
        rows.append(row(link, f"{segment.labeled:,}", *cells, current=current, data_segment=name))
    more = len(chosen.segments) - len(listed)
    note = "“below” and “above”: the whole's value is outside the segment's interval."
    return h(
        "section",
        h("header", h("h2", "Segments")),
        table(
            "Held against all events",
            ("Segment", "Labeled", *map(title, headline)),
            rows,
            note + (f" {more:,} more segments are at their addresses and in the API." if more > 0 else ""),
        ),
        class_="card",
        id="segments",
    )


def _cell(value: Value | None, of_whole: Value) -> Html | None:
    if value is None:
        return None
    side, interval = None, interval_of(value)
    if interval is not None and of_whole.value is not None:
        if interval.upper < of_whole.value:
            side = "below"
        elif interval.lower > of_whole.value:
            side = "above"
    mark = h("span", side, class_="warn") if side else None
    return join(with_interval(value), " " if mark else None, mark)
