"""Tables of a page. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from monitor.report import Value
from monitor.web.html import Html, h
from monitor.web.numbers import with_interval


def table(
    name: str, heads: Sequence[str], rows: Iterable[Html], note: str | None = None, label: str | None = None
) -> Html:
    """Return a table that scrolls sideways where it is too wide.

    Parameters
    ----------
    name
        Its caption.
    heads
        Of the columns.
    rows
        Each a tr.
    note
        What is to be said below it.
    label
        What those who cannot see it are told that it is; None: its caption.
    """
    return h(
        "div",
        h(
            "table",
            h("caption", name),
            h("thead", h("tr", *(h("th", head, scope="col") for head in heads))),
            h("tbody", *rows),
            class_="numbers",
        ),
        h("p", note, class_="quiet") if note else None,
        class_="scroll",
        tabindex="0",
        role="region",
        aria_label=label or name,
    )


def row(head: str, *cells: str | None, current: bool = False, **scope: str | None) -> Html:
    """Return a row; a cell that is None is empty.

    `scope` are attributes that say what its numbers are of where that is not what the page is about, as in
    ``data_segment="region=eu"``.
    """
    return h(
        "tr",
        h("th", head, scope="row"),
        *(cell if isinstance(cell, Html) and cell.startswith("<td") else h("td", cell) for cell in cells),
        aria_current="true" if current else None,
        **scope,
    )


def cell(value: Value | None) -> Html:
    """Return a value with its interval below; empty where there is no such value."""
    return h("td", None if value is None else with_interval(value))
