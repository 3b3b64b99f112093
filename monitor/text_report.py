"""The classification report as text, in the manner of scikit-learn's, with intervals. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from textwrap import fill
from typing import NamedTuple

from monitor.recalibration import window_suggestions
from monitor.report import Report, Value, WindowReport
from monitor.wording import (
    BALANCE,
    PER_CLASS,
    SCORES,
    bounds,
    explain,
    headline,
    imbalance_zone,
    interval_of,
    number,
    printable,
    title,
    utc,
    written,
)

_HEADS = ("precision", "recall", "f1-score")
_BALANCE_HEADS = ("recall", "predicted rate", "lift", "prevalence", "imbalance ratio")
_LINES = ("classifier_top_k_accuracy", "classifier_expected_cost", *SCORES)
_BEST_THRESHOLD = "classifier_best_threshold"
_TOO_LITTLE = ("low_support", "too_few_negatives", "no_negatives")
_IN_TABLES = {*PER_CLASS, *(f"{family}_average" for family in PER_CLASS), "classifier_accuracy", *BALANCE}
_WIDTH = 100

_Found = Mapping[tuple[str, str], Value]
"""Values of `_IN_TABLES` by family and by the class or the average that they are of."""


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
    if not window.events:
        return f"{_name(window)}: no event\n"
    found = {(v.name, _subject(v)): v for v in window.values if v.name in _IN_TABLES}
    classes, summary = list(_classes(window, found)), list(_summary(window, found))
    scores = list(_leading(window))
    rows = [*classes, *summary]
    shown = [value for row in rows for value in row.values if value is not None] + scores
    blocks = (
        _head(window),
        *_table(classes, summary),
        _balance(window.classes, found),
        _scores(window, scores),
        _recalibration(window),
        _notes(shown, confidence_level),
    )
    return "\n\n".join(text for block in blocks if (text := "\n".join(block))) + "\n"


def _subject(value: Value) -> str:
    return value.labels.get("class") or value.labels.get("average", "")


def _table(classes: Sequence[_Row], summary: Sequence[_Row]) -> Iterator[list[str]]:
    """Yield the parts of scikit-learn's table."""
    rows = [*classes, *summary]
    names = max(len(row.name) for row in rows)
    cells = max(map(len, [*_HEADS, *(_cell(value) for row in rows for value in row.values)]))

    def line(name: str, values: Iterable[str], support: str) -> str:
        return f"{name:>{names}}  " + "  ".join(f"{value:<{cells}}" for value in values) + f"  {support:>9}"

    yield [line("", _HEADS, "support")]
    for part in classes, summary:
        yield [line(row.name, map(_cell, row.values), str(row.support)) for row in part]


def _name(window: WindowReport) -> str:
    segment = f"segment {printable(window.segment)}" if window.segment else "all events"
    return (
        f"model {printable(window.model)}, version {printable(window.version) or '(none)'}, "
        f"window {printable(window.window)}, {segment}"
    )


def _head(window: WindowReport) -> Iterator[str]:
    yield _name(window)
    yield (
        f"{window.events} events, {window.labeled} labeled, {utc(window.start)} to {utc(window.end)}, "
        + ("complete" if window.complete else "NOT COMPLETE")
    )


def _classes(window: WindowReport, found: _Found) -> Iterator[_Row]:
    for name, support in zip(window.classes, window.support, strict=True):
        values = tuple(found.get((family, name)) for family in PER_CLASS)
        yield _Row(printable(name), values, support)


def _summary(window: WindowReport, found: _Found) -> Iterator[_Row]:
    averages = ["macro", "weighted"]
    if window.task == "multilabel":
        averages = ["micro", *averages, "samples"]
    else:
        yield _Row("accuracy", (None, None, found.get(("classifier_accuracy", ""))), window.labeled)
    for average in averages:
        values = tuple(found.get((f"{family}_average", average)) for family in PER_CLASS)
        yield _Row(f"{average} avg", values, sum(window.support))


def _balance(classes: Iterable[str], found: _Found) -> Iterator[str]:
    """Yield what shows a model that decides always, or never, for a class beside how rare the class is."""
    rows = [
        (f"class {printable(name)}", [found.get((family, name)) for family in BALANCE]) for name in classes
    ]
    if not any(value is not None for _, values in rows for value in values[1:]):
        return
    names = max(len(name) for name, _ in rows)
    yield f"{'':>{names}}  " + "  ".join(f"{head:<15}" for head in _BALANCE_HEADS).rstrip()
    for name, values in rows:
        cells = ["" if v is None else "-" if v.value is None else number(v.value) for v in values]
        ratio = values[-1]
        zone = "" if ratio is None or ratio.value is None else imbalance_zone(ratio.value)
        yield (f"{name:>{names}}  " + "  ".join(f"{cell:<15}" for cell in cells) + f"  {zone}").rstrip()


def _leading(window: WindowReport) -> Iterator[Value]:
    if window.task == "multilabel":  # scikit-learn's table has no line for it then
        yield from headline(window, ["classifier_accuracy"])
    yield from headline(window, _LINES)


def _cell(value: Value | None) -> str:
    if value is None:
        return ""
    if value.value is None:
        return "-"
    interval = interval_of(value)
    return f"{written(value)} {bounds(interval)}" if interval else written(value)


def _scores(window: WindowReport, values: Iterable[Value]) -> Iterator[str]:
    titled = [(title(value), value) for value in values]
    width = max((len(name) for name, _ in titled), default=0)
    for name, value in titled:
        yield f"{name:<{width}}  {_cell(value)}{_gain(window, value)}"


def _recalibration(window: WindowReport) -> Iterator[str]:
    """Yield the maps that would make probabilities right again, where one is certain to."""
    for name, found in window_suggestions(window).items():
        if found["map"] is not None:
            yield (
                f"Suggested recalibration of {printable(name)}, {found['map']}: {found['formula']}; saves "
                f"{number(found['gain'])} of log loss per event (standard error "
                f"{number(found['standard_error'])}, cross-validated)"
            )


def _gain(window: WindowReport, value: Value) -> str:
    """Say what a best threshold gives, and what one chosen earlier would have brought since."""
    if value.name != _BEST_THRESHOLD or window.curves is None or value.value is None:
        return ""
    found = window.curves.best_thresholds(window.scored.index(value.labels["class"]))
    best = next((best for best in found if best.criterion == value.labels["criterion"]), None)
    if best is None:
        return ""
    name = {"f1": "F1", "min_fpr_at_recall": "FPR"}.get(best.criterion, best.criterion)
    text = "" if best.value is None else f": {name} {number(best.value)} on this window"
    if best.cross_validated_value is None or best.own_threshold_value is None:
        return text
    return (
        f"{text}; chosen on its older half, {number(best.cross_validated_value)} on the newer, where the "
        f"model's own has {number(best.own_threshold_value)}"
    )


def _notes(shown: Iterable[Value], confidence_level: float | None) -> Iterator[str]:
    values = list(shown)
    undefined: defaultdict[str, list[str]] = defaultdict(list)
    for value in values:
        if value.undefined is not None:
            undefined[explain(value.undefined)].append(title(value))
        elif value.no_interval in _TOO_LITTLE:
            undefined[f"no interval, {explain(value.no_interval)}"].append(title(value))
        elif value.low_support:
            undefined["low support, to be read with care"].append(title(value))
    for reason, titles in undefined.items():
        yield fill(f"- {reason}: {', '.join(dict.fromkeys(titles))}", _WIDTH, subsequent_indent="  ")
    methods = sorted({interval.method for value in values if (interval := interval_of(value))})
    if methods:
        level = f"{100 * confidence_level:.4g}% " if confidence_level else ""
        yield f"[lower, upper]: {level}confidence interval ({', '.join(methods)}), for independent events"
