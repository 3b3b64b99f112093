"""Precision-recall curve. Pure."""

from __future__ import annotations

from math import isnan

from monitor.report import WindowReport
from monitor.report_curves import sweep
from monitor.web.charts.figure import figure, unit
from monitor.web.charts.layers import level, line, points
from monitor.web.charts.subject import stated, subject
from monitor.web.html import Html
from monitor.wording import number


def precision_recall(window: WindowReport, class_: str) -> Html | None:
    """Draw precision over recall, None without an event of the class."""
    of = subject(window, class_)
    if of is None or not of.curves.positives[of.row]:
        return None
    curve = sweep(of.curves, of.row, None)
    positives, negatives = int(of.curves.positives[of.row]), int(of.curves.negatives[of.row])
    prevalence = positives / (positives + negatives)
    panel = unit("recall", "precision")
    decided = of.decided()
    done = f"decisions: precision {number(decided.precision)}, recall {number(decided.recall)}"
    precision = stated(of.find("classifier_average_precision"), "average precision", "precision")
    return figure(
        of.title("Precision-recall curve"),
        (
            panel,
            [
                level(panel, prevalence, "reference", f"prevalence {number(prevalence)}"),
                line(panel, curve.recall, curve.precision, "first", precision),
                points(
                    panel,
                    decided.recall,
                    decided.precision,
                    "circle",
                    "now",
                    "no decision for the class" if isnan(decided.precision) else done,
                ),
            ],
        ),
    )
