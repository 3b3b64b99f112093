"""ROC curve with the area that counts where few false alarms can be afforded. Pure."""

from __future__ import annotations

import numpy as np

from monitor.report import Floats, WindowReport
from monitor.report_curves import sweep
from monitor.web.charts.axes import Panel
from monitor.web.charts.figure import figure, unit
from monitor.web.charts.layers import Layer, area, line, points
from monitor.web.charts.subject import Subject, stated, subject
from monitor.web.html import Html
from monitor.wording import number


def roc(window: WindowReport, class_: str) -> Html | None:
    """Draw recall over false-positive rate, None where one of them is undefined."""
    of = subject(window, class_)
    if of is None or not of.both:
        return None
    curve = sweep(of.curves, of.row, None)
    panel = unit("false-positive rate", "recall")
    decided = of.decided()
    auc = stated(of.find("classifier_roc_auc"), "AUC", "ROC curve")
    done = f"decisions: recall {number(decided.recall)}, FPR {number(decided.fpr)}"
    return figure(
        of.title("ROC curve"),
        (
            panel,
            [
                *_partial(panel, of, curve.fpr, curve.recall),
                line(panel, [0, 1], [0, 1], "reference", "chance"),
                line(panel, curve.fpr, curve.recall, "first", auc),
                *_recall_at_fpr(panel, of),
                points(panel, decided.fpr, decided.recall, "circle", "now", done),
            ],
        ),
    )


def _partial(panel: Panel, of: Subject, fpr: Floats, recall: Floats) -> list[Layer]:
    value = of.at_largest_fpr("classifier_partial_roc_auc")
    if value is None:
        return []
    max_fpr = value.labels["max_fpr"]
    limit, inside = float(max_fpr), int(np.searchsorted(fpr, float(max_fpr), side="right"))
    ends = slice(inside - 1, inside + 1)
    x = np.append(fpr[:inside], limit)
    y = np.append(recall[:inside], np.interp(limit, fpr[ends], recall[ends]))
    text = stated(value, f"partial AUC up to FPR {max_fpr}:")
    return [area(panel, x, np.zeros(len(x)), y, "first", text)]


def _recall_at_fpr(panel: Panel, of: Subject) -> list[Layer]:
    value = of.at_largest_fpr("classifier_recall_at_fpr")
    if value is None:
        return []
    max_fpr = value.labels["max_fpr"]
    text = stated(value, f"highest recall at FPR {max_fpr}:")
    return [points(panel, float(max_fpr), value.value or 0.0, "diamond", "best", text)]
