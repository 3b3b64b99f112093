"""Confusion matrices: shaded, as counts or as shares, and the worst confusions in words. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from monitor.report import Confusion, WindowReport
from monitor.web.html import Html, h, join
from monitor.web.model.chosen import MATRIX_MODES, Chosen, MatrixMode
from monitor.web.tables import row, table
from monitor.wording import number, printable

MAX_CLASSES = 20
"""Largest matrix that is drawn, and most classes that are in a multilabel one."""

WORST = 3
"""Confusions that are put into words."""

WORST_OF_MANY = 30
"""Confusions that are listed in place of a matrix that is too large."""

_MODES: dict[MatrixMode, tuple[str, str]] = {
    "counts": ("Counts", "events, shaded by share of the row"),
    "recall": ("Row share (recall)", "share of the true class, as in recall"),
    "precision": ("Column share (precision)", "share of the decision, as in precision"),
}


class Confused(NamedTuple):
    """One cell off the diagonal; `of` counts the events of the true class."""

    true: str
    decided: str
    events: int
    of: int

    @property
    def words(self) -> str:
        """A sentence about it."""
        share = f"{number(self.events / self.of)} of its {self.of:,}"
        return f"{self.events:,} of {printable(self.true)} were decided {printable(self.decided)}: {share}."


def worst(window: WindowReport) -> list[Confused]:
    """Return the confusions of a window that has any, those of most events first."""
    found = [each for each in _confused(window) if each.events]
    return sorted(found, key=lambda each: (-each.events, each.of))


def _confused(window: WindowReport) -> Iterator[Confused]:
    if window.task == "multilabel":
        for name, ((right, alarms), (missed, hit)) in zip(window.classes, window.confusions, strict=True):
            yield Confused(name, f"not {name}", missed, missed + hit)
            yield Confused(f"not {name}", name, alarms, right + alarms)
        return
    for name, counts in zip(window.classes, window.confusions[0], strict=True):
        for decision, count in zip(window.decisions, counts, strict=True):
            if decision != name:
                yield Confused(name, decision, count, sum(counts))


def confusion_section(chosen: Chosen) -> Html:
    """Return the matrix, or the worst pairs where it is too large."""
    window = chosen.window
    found = worst(window)
    large = len(window.classes) > MAX_CLASSES
    return h(
        "section",
        h("header", h("h2", "Confusion matrix"), None if large else _switch(chosen)),
        h("ul", *(h("li", each.words) for each in found[:WORST]), class_="worst")
        if found
        else h(
            "p", "No wrong decision in the window." if window.labeled else "No labeled event.", class_="quiet"
        ),
        _pairs(found) if large else _matrices(window, chosen.matrix),
        class_="card",
        id="confusion",
    )


def _switch(chosen: Chosen) -> Html:
    links = (
        h(
            "a",
            _MODES[mode][0],
            href=chosen.link(matrix=mode) + "#confusion",
            aria_current="true" if mode == chosen.matrix else None,
        )
        for mode in MATRIX_MODES
    )
    return h("nav", *links, aria_label="What the cells show", class_="tabs")


def _pairs(found: Sequence[Confused]) -> Html:
    listed = found[:WORST_OF_MANY]
    rows = (
        row(printable(each.true), printable(each.decided), f"{each.events:,}", number(each.events / each.of))
        for each in listed
    )
    more = f" {len(found) - len(listed):,} more are in the JSON." if len(found) > len(listed) else ""
    return table(
        "The worst confusions",
        ("True", "Decided", "Events", "Share of the true class"),
        rows,
        f"The matrix is too large to be drawn.{more}",
    )


def _matrices(window: WindowReport, mode: MatrixMode) -> Html:
    if window.task == "multilabel":
        each = (
            _matrix(printable(name), (f"not {name}", name), ("not decided", "decided"), matrix, mode)
            for name, matrix in zip(window.classes, window.confusions, strict=True)
        )
        return join(h("div", *each, class_="matrices"), _legend(mode))
    columns, matrix = window.decisions, window.confusions[0]
    used = len(window.classes) + sum(
        any(cells) for cells in list(zip(*matrix, strict=True))[len(window.classes) :]
    )
    matrix = tuple(counts[:used] for counts in matrix)
    drawn = _matrix("True class in rows, decision in columns", window.classes, columns[:used], matrix, mode)
    return join(drawn, _legend(mode))


def _legend(mode: MatrixMode) -> Html:
    return h("p", f"Cells: {_MODES[mode][1]}. Right decisions are framed.", class_="quiet")


def _matrix(
    caption: str, names: Sequence[str], columns: Sequence[str], matrix: Confusion, mode: MatrixMode
) -> Html:
    of_columns = [sum(cells) for cells in zip(*matrix, strict=True)]
    rows = []
    for place, (name, counts) in enumerate(zip(names, matrix, strict=True)):
        totals = of_columns if mode == "precision" else [sum(counts)] * len(counts)
        cells = (
            _cell(count, total, mode, right=place == column)
            for column, (count, total) in enumerate(zip(counts, totals, strict=True))
        )
        rows.append(h("tr", h("th", printable(name), scope="row"), *cells))
    heads: Iterable[Html] = (h("th", printable(name), scope="col") for name in columns)
    return h(
        "div",
        h(
            "table",
            h("caption", caption),
            h("thead", h("tr", h("td", "true \\ decided", class_="quiet"), *heads)),
            h("tbody", *rows),
            class_="confusion",
        ),
        class_="scroll",
        tabindex="0",
        role="region",
        aria_label=f"Confusion matrix: {caption}",
    )


def _cell(count: int, total: int, mode: MatrixMode, *, right: bool) -> Html:
    text = f"{count:,}"
    if mode != "counts":
        text = number(count / total) if total else "–"
    shade = f"shade{round(10 * count / total) if total else 0}"
    return h("td", text, class_=f"{shade} right" if right else shade)
