"""The classification report as text, in the manner of scikit-learn's, with intervals. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from textwrap import fill
from typing import NamedTuple

from monitor.report import Report, Value, WindowReport
from monitor.wording import SCORES, bounds, explain, headline, interval_of, number, printable, title, utc

_COLUMNS = ("classifier_precision", "classifier_recall", "classifier_f1")
_HEADS = ("precision", "recall", "f1-score")
_WIDTH = 100


class _Row(NamedTuple):
    name: str
    values: tuple[Value | None, ...]
    support: int


def render_report(
    report: Report, model: str | None = None, version: str | None = None, window: str | None = None
) -> str:
    """Return the classification reports of all that match, None matching everything.

    Raises
    ------
    NotInReportError
        Where nothing matches.
    """
    found = report.select(model, version, window)
    return "\n".join(classification_report(of_window, report.confidence_level) for of_window in found)


def classification_report(window: WindowReport, confidence_level: float | None = None) -> str:
    """Return one window's report.

    Parameters
    ----------
    window
        What to show. A value that it lacks altogether is left out; an undefined one is shown as "-" and
        explained below.
    confidence_level
        Of the intervals, to be named in the note about them.
    """
    classes, summary, scores = list(_classes(window)), list(_summary(window)), list(headline(window, SCORES))
    rows = [*classes, *summary]
    shown = [value for row in rows for value in row.values if value is not None] + scores
    name_width = max(len(row.name) for row in rows)
    cell_width = max(map(len, [*_HEADS, *(_cell(value) for row in rows for value in row.values)]))

    def line(row: _Row) -> str:
        return _line(row.name, map(_cell, row.values), str(row.support), name_width, cell_width)

    blocks = (
        _head(window),
        [_line("", _HEADS, "support", name_width, cell_width)],
        map(line, classes),
        map(line, summary),
        _scores(scores),
        _notes(shown, confidence_level),
    )
    return "\n\n".join(text for block in blocks if (text := "\n".join(block))) + "\n"


def _line(name: str, cells: Iterable[str], support: str, name_width: int, cell_width: int) -> str:
    return (
        f"{name:>{name_width}}  " + "  ".join(f"{cell:<{cell_width}}" for cell in cells) + f"  {support:>9}"
    )


def _head(window: WindowReport) -> Iterator[str]:
    segment = f"segment {printable(window.segment)}" if window.segment else "all events"
    yield (
        f"model {printable(window.model)}, version {printable(window.version) or '(none)'}, "
        f"window {printable(window.window)}, {segment}"
    )
    yield (
        f"{window.events} events, {window.labeled} labeled, {utc(window.start)} to {utc(window.end)}, "
        + ("complete" if window.complete else "NOT COMPLETE")
    )


def _classes(window: WindowReport) -> Iterator[_Row]:
    for name, counts in zip(window.classes, window.confusion, strict=True):
        values = tuple(window.find(family, class_=name) for family in _COLUMNS)
        yield _Row(printable(name), values, sum(counts))


def _summary(window: WindowReport) -> Iterator[_Row]:
    yield _Row("accuracy", (None, None, window.find("classifier_accuracy")), window.labeled)
    for average in ("macro", "weighted"):
        values = tuple(window.find(f"{family}_average", average=average) for family in _COLUMNS)
        yield _Row(f"{average} avg", values, window.labeled)


def _cell(value: Value | None) -> str:
    if value is None:
        return ""
    if value.value is None:
        return "-"
    interval = interval_of(value)
    return f"{number(value.value)} {bounds(interval)}" if interval else number(value.value)


def _scores(values: Iterable[Value]) -> Iterator[str]:
    titled = [(title(value), value) for value in values]
    width = max((len(name) for name, _ in titled), default=0)
    for name, value in titled:
        yield f"{name:<{width}}  {_cell(value)}"


def _notes(shown: Iterable[Value], confidence_level: float | None) -> Iterator[str]:
    values = list(shown)
    undefined: defaultdict[str, list[str]] = defaultdict(list)
    for value in values:
        if value.undefined is not None:
            undefined[value.undefined].append(title(value))
    for reason, titles in undefined.items():
        yield fill(f"- {explain(reason)}: {', '.join(titles)}", _WIDTH, subsequent_indent="  ")
    methods = sorted({interval.method for value in values if (interval := interval_of(value))})
    if methods:
        level = f"{100 * confidence_level:.4g}% " if confidence_level else ""
        yield f"[lower, upper]: {level}confidence interval ({', '.join(methods)}), for independent events"
