"""The classification report, and how decisions lie between the classes. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from monitor.text_report import classification_report
from monitor.web.html import Html, h
from monitor.web.model.chosen import Chosen
from monitor.web.model.values import Values
from monitor.web.tables import cell, row, table
from monitor.wording import BALANCE, PER_CLASS, imbalance_zone, printable

MAX_CLASSES = 50
"""Most classes in a table; beyond them those of the lowest recall."""


def report_table(chosen: Chosen) -> Html:
    """Return precision, recall and F1 of every class, and their averages."""
    values, window = chosen.values, chosen.window
    support = dict(zip(window.classes, window.support, strict=True))
    rows = [
        row(
            _class(chosen, name),
            *(cell(values.get(family, class_=name)) for family in PER_CLASS),
            f"{support[name]:,}",
            current=name == chosen.class_,
        )
        for name in _listed(values)
    ]
    level = "" if chosen.confidence_level is None else f"{100 * chosen.confidence_level:.4g}% "
    note = f"[lower, upper]: {level}confidence interval for independent events; * is low support."
    return table(
        "Classification report",
        ("Class", "Precision", "Recall", "F1", "Support"),
        [*rows, *_averages(values)],
        note + _left_out(values),
    )


def _class(chosen: Chosen, name: str) -> Html | str:
    """Return a class, as a link to what else there is of it."""
    if name not in chosen.window.scored:
        return printable(name)
    return h("a", printable(name), href=chosen.link(class_=name))


def balance_table(values: Values) -> Html:
    """Return what shows a model that decides always, or never, for a class beside how rare the class is."""
    rows = []
    for name in _listed(values):
        found = [values.get(family, class_=name) for family in BALANCE]
        ratio = found[-1]
        zone = None if ratio is None or ratio.value is None else imbalance_zone(ratio.value)
        rows.append(row(printable(name), *map(cell, found), h("td", zone, class_="words")))
    heads = ("Class", "Recall", "Predicted rate", "Lift", "Prevalence", "Ratio to others", "Imbalance")
    return table("Balance", heads, rows, "Lift is recall over predicted rate: 1 is no better than chance.")


def text_form(chosen: Chosen) -> Html:
    """Return the report as text, to be copied into a message."""
    text = classification_report(chosen.window, chosen.confidence_level)
    return h(
        "details",
        h("summary", "As text"),
        h("pre", text, tabindex="0", aria_label="Classification report as text", role="region"),
        id="report-text",
    )


def _listed(values: Values) -> list[str]:
    classes = values.window.classes
    if len(classes) <= MAX_CLASSES:
        return list(classes)

    def recall(name: str) -> float:
        value = values.get("classifier_recall", class_=name)
        return 2.0 if value is None or value.value is None else value.value

    return sorted(classes, key=recall)[:MAX_CLASSES]


def _left_out(values: Values) -> str:
    more = len(values.window.classes) - MAX_CLASSES
    return f" {more:,} classes of higher recall are in the text and the CSV." if more > 0 else ""


def _averages(values: Values) -> Iterator[Html]:
    window, support = values.window, sum(values.window.support)
    accuracy = values.get("classifier_accuracy")
    if window.task == "multilabel":
        yield row("accuracy of whole sets", None, None, cell(accuracy), f"{window.labeled:,}")
        names = ["micro", "macro", "weighted", "samples"]
    else:
        yield row("accuracy", None, None, cell(accuracy), f"{window.labeled:,}")
        names = ["macro", "weighted"]
    for name in names:
        found = [values.get(f"{family}_average", average=name) for family in PER_CLASS]
        yield row(f"{name} average", *map(cell, found), f"{support:,}")
