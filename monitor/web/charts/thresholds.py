"""What other thresholds would do. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite

import numpy as np

from monitor.report import WindowReport
from monitor.report_curves import Sweep, follows_threshold, sweep
from monitor.web.charts.axes import Axis, Panel
from monitor.web.charts.figure import BOTTOM, LOWER, TOP, UPPER, across, figure, upwards
from monitor.web.charts.layers import Layer, level, line, upright
from monitor.web.charts.scales import up_to
from monitor.web.charts.subject import Subject, subject
from monitor.web.html import Html
from monitor.wording import number, threshold


def thresholds(window: WindowReport, class_: str) -> Html | None:
    """Draw precision, recall and F-score over the threshold, and below what it costs; None without events."""
    of = subject(window, class_)
    if of is None or not (of.curves.positives[of.row] or of.curves.negatives[of.row]):
        return None
    found = sweep(of.curves, of.row, window.costs)
    marked = [value for value in (of.threshold, _best(of)[1]) if value is not None]
    x = across(0, up_to(float(np.max([found.threshold[0], *marked]))), "threshold")
    title = of.title("Thresholds")
    if found.expected_cost is None:
        panel = Panel(x, upwards(0, 1, "share", BOTTOM, TOP))
        return figure(title, (panel, [*_shares(panel, found), *_marks(panel, of)]))
    panel = Panel(x, upwards(0, 1, "share", *UPPER))
    below, costs = _costs(x, found)
    return figure(
        title,
        (panel, [*_shares(panel, found), *_marks(panel, of)]),
        (below, [*costs, *(layer._replace(sample=None, text="") for layer in _marks(below, of))]),
    )


def _shares(panel: Panel, found: Sweep) -> Iterator[Layer]:
    yield line(panel, found.threshold, found.precision, "first", "precision")
    yield line(panel, found.threshold, found.recall, "second", "recall")
    if found.fbeta is None or found.beta == 1:
        yield line(panel, found.threshold, found.f1, "third", "F1")
    else:
        yield line(panel, found.threshold, found.fbeta, "third", f"F-beta, beta {found.beta:.4g}")


def _costs(x: Axis, found: Sweep) -> tuple[Panel, list[Layer]]:
    """Return the panel of expected costs: up to a bit above those that need no model."""
    assert found.expected_cost is not None
    # Deciding for nothing (the first point) or for everything (the last) needs none.
    without = float(np.fmin(found.expected_cost[0], found.expected_cost[-1]))
    highest = 1.25 * (without or float(np.nanmax(found.expected_cost))) or 1.0
    panel = Panel(x, upwards(0, highest, "cost", *LOWER, about=2))
    affordable = np.where(found.expected_cost <= highest, found.expected_cost, np.nan)
    return panel, [
        level(panel, without, "reference", f"without a model {number(without)}"),
        line(panel, found.threshold, affordable, "fourth", "expected cost per event"),
    ]


def _marks(panel: Panel, of: Subject) -> Iterator[Layer]:
    if of.threshold is not None:
        decided = of.decided()
        shares = {"precision": decided.precision, "recall": decided.recall}
        follows = follows_threshold(of.window, of.row)
        said = ", ".join(f"{name} {number(v)}" for name, v in shares.items() if follows and isfinite(v))
        yield upright(panel, of.threshold, "now", f"now {of.threshold:.6g}" + (f": {said}" if said else ""))
    name, best = _best(of)
    if best is not None:
        yield upright(panel, best, "best", f"{name} {threshold(best)}")


def _best(of: Subject) -> tuple[str, float | None]:
    """Return the threshold that costs the least, by F1 where no costs are known."""
    cheapest = of.best_threshold("cost")
    return ("best F1", of.best_threshold("f1")) if cheapest is None else ("cheapest", cheapest)
