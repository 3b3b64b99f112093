"""Metrics that move with the prevalence of a class, and what they would be at another one. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import sqrt
from statistics import NormalDist
from typing import NamedTuple

from monitor.alerts.rule import Rule
from monitor.report import WindowReport

_Z = NormalDist().inv_cdf(0.975)


class Cells(NamedTuple):
    """Events, or shares of them, of one class against the rest by truth and decision."""

    tp: float
    fn: float
    fp: float
    tn: float

    @property
    def positives(self) -> int:
        """Events of the class."""
        return int(self.tp + self.fn)

    def at(self, prevalence: float) -> Cells:
        """Return the shares at another prevalence, true-positive and true-negative rate being the same.

        With pi for it: pi TPR, pi (1 - TPR), (1 - pi) (1 - TNR) and (1 - pi) TNR.

        Raises
        ------
        ZeroDivisionError
            If there are no events of the class, or no others.
        """
        right, left = prevalence / (self.tp + self.fn), (1 - prevalence) / (self.fp + self.tn)
        return Cells(self.tp * right, self.fn * right, self.fp * left, self.tn * left)


def cells(window: WindowReport, class_: str) -> Cells:
    """Return the labeled events of a window by class and decision, one class against the rest."""
    place = window.classes.index(class_)
    if window.task == "multilabel":
        (tn, fp), (fn, tp) = (row[:2] for row in window.confusions[place])
        return Cells(tp, fn, fp, tn)
    matrix = window.confusions[0]
    tp, support = matrix[place][place], sum(matrix[place])
    fp = sum(row[place] for row in matrix) - tp
    return Cells(tp, support - tp, fp, window.labeled - support - fp)


def wilson(successes: int, n: int) -> tuple[float, float]:
    """Return Wilson's 95% interval of a proportion of n > 0."""
    p, z2 = successes / n, _Z * _Z
    middle, half = p + z2 / (2 * n), _Z * sqrt(p * (1 - p) / n + z2 / (4 * n * n))
    return (middle - half) / (1 + z2 / n), (middle + half) / (1 + z2 / n)


def value_at(rule: Rule, window: WindowReport, class_: str, prevalence: float) -> float | None:
    """Return a rule's metric on a window as it would be at another prevalence of a class.

    None where that does not follow from what the window knows, or is undefined.
    """
    compute = MOVING[rule.metric]
    try:
        return None if compute is None else compute(rule, window, class_, prevalence)
    except ZeroDivisionError:
        return None


Compute = Callable[[Rule, WindowReport, str, float], float | None]


def _of_cells(formula: Callable[[Cells], float]) -> Compute:
    return lambda rule, window, class_, prevalence: formula(cells(window, class_).at(prevalence))


def _lift(rule: Rule, window: WindowReport, class_: str, prevalence: float) -> float:
    tp, _, fp, _ = cells(window, class_).at(prevalence)
    return tp / (tp + fp) / prevalence


def _f_score(rule: Rule, window: WindowReport, class_: str, prevalence: float) -> float:
    """Return (1 + b^2) tp / ((1 + b^2) tp + b^2 fn + fp); b is 1 where the rule has no beta."""
    tp, fn, fp, _ = cells(window, class_).at(prevalence)
    square = float(rule.labels.get("beta", 1)) ** 2
    return (1 + square) * tp / ((1 + square) * tp + square * fn + fp)


def _accuracy(rule: Rule, window: WindowReport, class_: str, prevalence: float) -> float | None:
    """Return the recalls of both classes of a binary model, weighted; a decision for neither is wrong."""
    if window.task != "binary":
        return None
    total = 0.0
    for name in window.classes:
        of_class = cells(window, name)
        weight = prevalence if name == class_ else 1 - prevalence
        total += weight * of_class.tp / (of_class.tp + of_class.fn)
    return total


def _expected_cost(rule: Rule, window: WindowReport, class_: str, prevalence: float) -> float | None:
    if window.costs is None:
        return None
    _, fn, fp, _ = cells(window, class_).at(prevalence)
    return window.costs[0] * fn + window.costs[1] * fp


def _average_precision(rule: Rule, window: WindowReport, class_: str, prevalence: float) -> float | None:
    found = window.find("classifier_average_precision_at_reference_prevalence", class_=class_)
    return None if found is None else found.value


def _brier_score(rule: Rule, window: WindowReport, class_: str, prevalence: float) -> float | None:
    """Return the scores of the class's events and of the others, weighted."""
    if not rule.labels.get("subset") == "all":
        return None
    positive, negative = (
        window.find("classifier_brier_score", class_=class_, subset=subset)
        for subset in ("positive", "negative")
    )
    if positive is None or negative is None or positive.value is None or negative.value is None:
        return None
    return prevalence * positive.value + (1 - prevalence) * negative.value


MOVING: Mapping[str, Compute | None] = {
    "classifier_precision": _of_cells(lambda c: c.tp / (c.tp + c.fp)),
    "classifier_npv": _of_cells(lambda c: c.tn / (c.tn + c.fn)),
    "classifier_predicted_rate": _of_cells(lambda c: c.tp + c.fp),
    "classifier_lift": _lift,
    "classifier_f1": _f_score,
    "classifier_fbeta": _f_score,
    "classifier_accuracy": _accuracy,
    "classifier_expected_cost": _expected_cost,
    "classifier_average_precision": _average_precision,
    "classifier_brier_score": _brier_score,
    "classifier_matthews_corrcoef": None,
    "classifier_precision_at_k": None,
    "classifier_log_loss": None,
    "classifier_brier_resolution": None,
    "classifier_score_mean": None,
}
"""Families that change with the prevalence alone, and what they would be at another; None: not known here."""
