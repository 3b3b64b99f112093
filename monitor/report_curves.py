"""What people draw of a window, as objects for JSON. Pure.

NaN is null. Every curve of a scored class is a set of columns of the same length.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from monitor.report import WindowCurves, WindowReport


def curves_object(window: WindowReport) -> dict[str, Any] | None:
    """Return the curves of a window by scored class, None where it has none."""
    curves = window.curves
    if curves is None:
        return None
    classes = [
        {
            "class": name,
            **_by_threshold(curves, row, window.costs),
            "reliability": _reliability(curves, row),
            **({"confidence_decay": _decay(curves, row)} if window.task != "multiclass" else {}),
            "cost_sensitivity": _cost_sensitivity(curves, row),
            "best_thresholds": [
                {**best._asdict(), "cross_validated_gain": best.cross_validated_gain}
                for best in curves.best_thresholds(row)
            ],
        }
        for row, name in enumerate(window.scored)
    ]
    top = len(window.scored)  # the row after those of the classes
    if window.task != "multiclass":
        return {"classes": classes, "top_label": None}
    of_top = {"reliability": _reliability(curves, top), "confidence_decay": _decay(curves, 0)}
    return {"classes": classes, "top_label": of_top}


def _by_threshold(curves: WindowCurves, row: int, costs: tuple[float, float] | None) -> dict[str, Any]:
    """Return ROC and precision-recall curve and the sweep, which have their points in common."""
    hits, alarms = curves.true_positives[row], curves.false_positives[row]
    positives, negatives = curves.positives[row], curves.negatives[row]
    threshold = _numbers(curves.threshold[row])
    with np.errstate(invalid="ignore", divide="ignore"):
        recall, fpr = hits / positives, alarms / negatives
        precision = hits / (hits + alarms)
        sweep = {
            "threshold": threshold,
            "precision": _numbers(precision),
            "recall": _numbers(recall),
            "f1": _numbers(_f_score(hits, alarms, positives, 1.0)),
        }
        if costs is not None:
            false_negative, false_positive = costs
            beta = (false_negative / false_positive) ** 0.5
            cost = false_negative * (positives - hits) + false_positive * alarms
            sweep["fbeta"] = _numbers(_f_score(hits, alarms, positives, beta))
            sweep["expected_cost"] = _numbers(cost / (positives + negatives))
    return {
        "roc": {"fpr": _numbers(fpr), "tpr": _numbers(recall), "threshold": threshold},
        "precision_recall": {
            "precision": sweep["precision"],
            "recall": sweep["recall"],
            "threshold": threshold,
        },
        "thresholds": sweep,
    }


def _f_score(
    hits: NDArray[np.int64], alarms: NDArray[np.int64], positives: np.int64, beta: float
) -> NDArray[np.float64]:
    weight = beta**2
    found: NDArray[np.float64] = (1 + weight) * hits / (weight * positives + hits + alarms)
    return found


def _reliability(curves: WindowCurves, row: int) -> dict[str, Any]:
    events, *columns = curves.reliability[row].T
    names = ("mean_probability", "rate", "lower", "upper")
    return {
        "events": events.astype(np.int64).tolist(),
        **{name: _numbers(column) for name, column in zip(names, columns, strict=True)},
    }


def _decay(curves: WindowCurves, row: int) -> dict[str, Any]:
    return {
        "percent": list(range(1, 1 + curves.decay.shape[1])),
        "value": _numbers(curves.decay[row]),
        "falls": bool(curves.decay_falls[row]),
    }


def _cost_sensitivity(curves: WindowCurves, row: int) -> dict[str, Any]:
    return {
        "cost_ratio": list(curves.cost_ratios),
        "threshold": _numbers(curves.cost_threshold[row]),
        "cost": _numbers(curves.cost[row]),
        "from": _numbers(curves.cost_from[row]),
        "to": _numbers(curves.cost_to[row]),
    }


def _numbers(values: NDArray[np.float64]) -> list[float | None]:
    """Return numbers for JSON, null for what is not finite."""
    finite = np.isfinite(values).tolist()
    return [value if known else None for value, known in zip(values.tolist(), finite, strict=True)]
