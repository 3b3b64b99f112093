"""What people draw of a window: columns of the same length, and the same as objects for JSON. Pure.

NaN is null in JSON. Every curve of a scored class is a set of columns of the same length.
"""

from __future__ import annotations

from math import nan
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from monitor.report import Floats, WindowCurves, WindowReport


def curves_object(window: WindowReport) -> dict[str, Any] | None:
    """Return the curves of a window by scored class, None where it has none."""
    curves = window.curves
    if curves is None:
        return None
    classes = [
        {
            "class": name,
            **_by_threshold(sweep(curves, row, window.costs)),
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


class Sweep(NamedTuple):
    """What each of P thresholds means, from high to low: columns of float64, shape (P,), NaN where undefined.

    `fbeta`, of the costs' `beta`, and `expected_cost` per event are None where no costs are configured.
    """

    threshold: Floats
    fpr: Floats
    recall: Floats
    precision: Floats
    f1: Floats
    beta: float | None = None
    fbeta: Floats | None = None
    expected_cost: Floats | None = None


class Reliability(NamedTuple):
    """How often the class came true by cell of its score: `WindowCurves.reliability`; shape (15,) each."""

    events: Floats
    mean_probability: Floats
    rate: Floats
    lower: Floats
    upper: Floats


def sweep(curves: WindowCurves, row: int, costs: tuple[float, float] | None) -> Sweep:
    """Return what the thresholds of a scored class mean; `costs` are of a false negative and positive."""
    hits, alarms = curves.true_positives[row], curves.false_positives[row]
    positives, negatives = curves.positives[row], curves.negatives[row]
    with np.errstate(invalid="ignore", divide="ignore"):
        found = Sweep(
            threshold=curves.threshold[row],
            fpr=alarms / negatives,
            recall=hits / positives,
            precision=hits / (hits + alarms),
            f1=_f_score(hits, alarms, positives, 1.0),
        )
        if costs is None:
            return found
        false_negative, false_positive = costs
        beta = (false_negative / false_positive) ** 0.5
        cost = false_negative * (positives - hits) + false_positive * alarms
        return found._replace(
            beta=beta,
            fbeta=_f_score(hits, alarms, positives, beta),
            expected_cost=cost / (positives + negatives),
        )


def reliability(curves: WindowCurves, row: int) -> Reliability:
    """Return the reliability table of a scored class, or of the top label in the row after the classes."""
    return Reliability(*curves.reliability[row].T)


def _f_score(
    hits: NDArray[np.int64], alarms: NDArray[np.int64], positives: np.int64, beta: float
) -> NDArray[np.float64]:
    weight = beta**2
    found: NDArray[np.float64] = (1 + weight) * hits / (weight * positives + hits + alarms)
    return found


def _by_threshold(found: Sweep) -> dict[str, Any]:
    """Return ROC and precision-recall curve and the sweep, which have their points in common."""
    columns = {
        name: None if column is None else _numbers(column)
        for name, column in found._asdict().items()
        if name != "beta"
    }
    threshold, fpr, recall, precision = (columns[n] for n in ("threshold", "fpr", "recall", "precision"))
    names = ("threshold", "precision", "recall", "f1", "fbeta", "expected_cost")
    return {
        "roc": {"fpr": fpr, "tpr": recall, "threshold": threshold},
        "precision_recall": {"precision": precision, "recall": recall, "threshold": threshold},
        "thresholds": {name: columns[name] for name in names if columns[name] is not None},
    }


def _reliability(curves: WindowCurves, row: int) -> dict[str, Any]:
    events, *columns = found = reliability(curves, row)
    return {
        "events": events.astype(np.int64).tolist(),
        **{name: _numbers(column) for name, column in zip(found._fields[1:], columns, strict=True)},
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


class Decided(NamedTuple):
    """How many labeled events a window's decisions got right and wrong of one class."""

    hits: int
    misses: int
    false_alarms: int
    rest: int

    @property
    def recall(self) -> float:
        """NaN without an event of the class."""
        return _ratio(self.hits, self.hits + self.misses)

    @property
    def fpr(self) -> float:
        """False-positive rate, NaN without an event of another class."""
        return _ratio(self.false_alarms, self.false_alarms + self.rest)

    @property
    def precision(self) -> float:
        """NaN without a decision for the class."""
        return _ratio(self.hits, self.hits + self.false_alarms)


def decided(window: WindowReport, row: int) -> Decided:
    """Return what the confusion matrix says of a scored class against all others."""
    if window.task == "multilabel":
        (rest, false_alarms), (misses, hits) = window.confusions[row]
        return Decided(hits, misses, false_alarms, rest)
    matrix, place = window.confusions[0], window.classes.index(window.scored[row])
    hits, support = matrix[place][place], sum(matrix[place])
    false_alarms = sum(of_class[place] for of_class in matrix) - hits
    return Decided(hits, support - hits, false_alarms, window.labeled - support - false_alarms)


def follows_threshold(window: WindowReport, row: int) -> bool:
    """Return whether decisions may be those of the class's threshold, as far as the points of its curve tell.

    They are not where a serving system sends decisions of its own.
    """
    curves, own = window.curves, window.threshold({"class": window.scored[row]})
    if curves is None or own is None:
        return True
    taken = decided(window, row)
    above = int((curves.threshold[row] >= np.float32(own)).sum())  # thresholds fall from point to point
    found = ((taken.hits, curves.true_positives[row]), (taken.false_alarms, curves.false_positives[row]))
    return all(
        (points[above - 1] if above else 0) <= count <= points[min(above, len(points) - 1)]
        for count, points in found
    )


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else nan


def _numbers(values: NDArray[np.float64]) -> list[float | None]:
    """Return numbers for JSON, null for what is not finite."""
    finite = np.isfinite(values).tolist()
    return [value if known else None for value, known in zip(values.tolist(), finite, strict=True)]
