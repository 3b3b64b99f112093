"""What is suggested for the scores of a window, from what its report has of them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from monitor.recalibration.suggestion import Suggestion, suggest
from monitor.report import WindowCurves, WindowReport

SEED = 0
"""Of the folds: the same window always has the same suggestion."""

MOST_CLASSES = 20
"""Classes of a window, those of most events, that are looked at: it takes some milliseconds each."""


def window_suggestion(window: WindowReport, class_: str) -> Mapping[str, Any] | None:
    """Return the map suggested for the scores of a class, as plain data (`Suggestion.plain`).

    None where the class has no scores, or the window no curves: those of segments.
    """
    if window.curves is None or class_ not in window.scored:
        return None
    return _suggested(window.curves, window.scored.index(class_)).plain()


@lru_cache(maxsize=64)  # the same report is shown as JSON, as text and on the page, again and again
def _suggested(curves: WindowCurves, row: int) -> Suggestion:
    positives = np.diff(curves.true_positives[row])
    events = positives + np.diff(curves.false_positives[row])
    scores = curves.mean_probability[row, 1:]
    return suggest(scores[events > 0], positives[events > 0], events[events > 0], SEED)


def window_suggestions(window: WindowReport) -> dict[str, Mapping[str, Any]]:
    """Return the same of the scored classes of most events, in the order of the classes."""
    support = dict(zip(window.classes, window.support, strict=True))
    chosen = sorted(window.scored, key=lambda name: -support[name])[:MOST_CLASSES]
    found = {name: window_suggestion(window, name) for name in window.scored if name in chosen}
    return {name: suggestion for name, suggestion in found.items() if suggestion is not None}
