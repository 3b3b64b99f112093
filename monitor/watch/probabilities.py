"""Observations of probabilities: their squared errors, and whether they still mean what they said."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from monitor.detection import Floats
from monitor.events.batch import Columns
from monitor.events.spec import ModelSpec
from monitor.watch.measures import Measure, Observed, labeled, observed, probability, quantised, scored, truth

Subset = Literal["all", "positive", "negative"]


def brier_score(spec: ModelSpec, code: int | None, subset: Subset) -> Measure:
    """Return the squared error of a class's probability.

    Parameters
    ----------
    code
        A scored class. None of the whole: of a binary model the positive class, of a multilabel model the
        mean over the classes, of a multiclass model the sum over them, which is at most 2, halved.
    subset
        Whether only events of the class, or only the others, count.
    """
    codes = list(spec.scored) if code is None else [code]
    divisor = {"binary": 1, "multiclass": 2, "multilabel": len(codes)}[spec.task] if code is None else 1

    def observe(columns: Columns) -> Observed:
        where = labeled(columns) & scored(columns)
        if subset != "all":
            true = truth(columns, codes[0])
            where &= true if subset == "positive" else ~true
        error = np.zeros(len(columns))
        for each in codes:  # one after the other, so that an event gives the same in whatever array it stands
            p = probability(spec, columns.score[:, spec.scored.index(each)])
            error += np.square(truth(columns, each) - p)
        index = np.flatnonzero(where)
        return Observed(index, quantised(error[index] / divisor)[:, None])

    return Measure(observe, scale=2.0 if code is None and spec.task == "multiclass" else 1.0)


def calibration(
    spec: ModelSpec, code: int, logit: Callable[[Floats], Floats]
) -> Callable[[Columns], Observed]:
    """Return what observes (z, y, p) of a scored class: log-odds that held once, the outcome, what z says."""
    column = spec.scored.index(code)

    def observe(columns: Columns) -> Observed:
        index = np.flatnonzero(labeled(columns) & scored(columns))
        z = quantised(logit(probability(spec, columns.score[index, column])))
        y = observed(np.ones(len(index), np.bool_), truth(columns, code)[index]).units[:, 0]
        expected = quantised(1 / (1 + np.exp(-z / (1 << 30))))
        return Observed(index, np.stack([z, y, expected], axis=1))

    return observe
