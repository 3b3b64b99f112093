"""Observations of shares of right decisions, and of what decisions cost."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from monitor.events.batch import Columns
from monitor.events.spec import ModelSpec
from monitor.watch.measures import Mask, Measure, Observed, decided, labeled, observed, quantised, truth

Costs = tuple[float, float] | tuple[tuple[float, ...], ...]
"""Of a false negative and of a false positive, or a matrix by true class (rows) and decision."""


def accuracy(spec: ModelSpec) -> Measure:
    """Return whether a decision was right (multilabel: in every label)."""

    def observe(columns: Columns) -> Observed:
        if columns.label.ndim == 1:
            right = columns.decision == columns.label
        else:
            right = (columns.decision[:, :-1] == columns.label).all(axis=1) & (columns.decision[:, -1] == 0)
        return observed(labeled(columns), right)

    return Measure(observe, proportion=True)


def of_class(family: str, code: int) -> Measure | None:
    """Return the measure of a family about decisions on one class, None where it is no such family.

    A decision for none of the classes is a miss of the true class, and a rejection of every class.
    """
    if family not in _OF_CLASS:
        return None
    right, by_label = _OF_CLASS[family]

    def observe(columns: Columns) -> Observed:
        return observed(*right(labeled(columns), truth(columns, code), decided(columns, code)))

    return Measure(observe, proportion=True, by_label=by_label)


_OF_CLASS: dict[str, tuple[Callable[[Mask, Mask, Mask], tuple[Mask, Mask]], bool]] = {
    "classifier_recall": (lambda labeled, true, decided: (true, decided), True),
    "classifier_precision": (lambda labeled, true, decided: (labeled & decided, true), False),
    "classifier_specificity": (lambda labeled, true, decided: (labeled & ~true, ~decided), True),
    "classifier_npv": (lambda labeled, true, decided: (labeled & ~decided, ~true), False),
}
"""Which events count and of which of them the decision was right; whether the label tells which count."""


def expected_cost(spec: ModelSpec, code: int | None, costs: Costs) -> Measure | None:
    """Return what a decision costs, over the greatest cost; None where nothing does.

    Parameters
    ----------
    code
        Class that the costs of a pair are about; None of the whole: of a multilabel model their sum over the
        classes, of a multiclass model that of the matrix.
    """
    matrix = np.array(costs, np.float64)
    greatest = float(matrix.max())
    if greatest <= 0:
        return None
    if matrix.ndim == 2:
        # A decision for none of the classes, -1, costs the most of its row.
        table = quantised(np.hstack([matrix, matrix.max(axis=1, keepdims=True)]) / greatest)

        def of_matrix(columns: Columns) -> Observed:
            where = labeled(columns)
            return observed(where, table[columns.label, columns.decision])

        return Measure(of_matrix, scale=greatest)
    codes = range(len(spec.classes)) if code is None else [code]
    scale = greatest * len(codes)
    miss, false_alarm = quantised(matrix / scale).tolist()

    def of_pair(columns: Columns) -> Observed:
        cost = np.zeros(len(columns), np.int64)
        for each in codes:
            true, positive = truth(columns, each), decided(columns, each)
            cost += miss * (true & ~positive) + false_alarm * (~true & positive)
        return observed(labeled(columns), cost)

    return Measure(of_pair, scale=scale)
