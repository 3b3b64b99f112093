"""Outcomes of a batch, which are tensors, as the values of each case.

There are hundreds of thousands of values: every tensor becomes a list at once, and what is made for each
value is made by `map`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, cycle, repeat

import torch

from monitor.metrics.labels import label_sets
from monitor.metrics.outcome import REASONS, Interval, Outcome
from monitor.metrics.parameters import Parameters
from monitor.report import IntervalValue, Value

_REASONS = (None, *REASONS[1:])


def family_values(
    name: str, outcome: Outcome, models: Sequence[Parameters], model: Sequence[int]
) -> list[list[Value]]:
    """Return the values of a family for each case.

    Parameters
    ----------
    name
        Of the family.
    outcome
        B cases.
    models
        Parameters.
    model
        Which of them each case has.

    Raises
    ------
    ValueError
        Where the outcome has not as many values as a model has label sets, or as it names methods.
    """
    cases, size = outcome.value.shape
    reasons = outcome.reason.flatten().tolist()
    labels = [label_sets(outcome.labels, p) for p in models]
    _check(size, outcome, labels)
    values = list(
        map(
            Value,
            repeat(name),
            chain.from_iterable(map(labels.__getitem__, model)),
            _numbers(outcome.value, cases * size),
            map(_REASONS.__getitem__, reasons),
            outcome.support.flatten().tolist(),
            outcome.low_support.flatten().tolist(),
            map(_REASONS.__getitem__, outcome.no_interval.flatten().tolist()),
            _numbers(outcome.numerator, cases * size),
            _numbers(outcome.denominator, cases * size),
            _intervals(outcome.interval, cases * size),
            _errors(outcome.resolution_error, cases * size),
        )
    )
    return [values[first : first + size] for first in range(0, cases * size, size)] if size else [[]] * cases


def _check(size: int, outcome: Outcome, labels: Sequence[Sequence[object]]) -> None:
    if wrong := {len(of_model) for of_model in labels} - {size}:
        raise ValueError(f"{size} values a case, but {wrong.pop()} label sets")
    interval = outcome.interval
    if interval and not isinstance(interval.method, str) and len(interval.method) != size:
        raise ValueError(f"{size} values a case, but {len(interval.method)} interval methods")


def _numbers(tensor: torch.Tensor | None, size: int) -> list[float | None]:
    """Return the elements as int or float, None for NaN, and for all where there is no tensor."""
    if tensor is None:
        return [None] * size
    numbers = tensor.flatten().tolist()
    if not tensor.is_floating_point() or not tensor.isnan().any():
        return numbers
    return [None if number != number else number for number in numbers]


def _errors(error: torch.Tensor | None, size: int) -> list[float | None]:
    """Return the errors, None where scores are exact."""
    return _numbers(None if error is None else error.masked_fill(error == 0, torch.nan), size)


def _intervals(interval: Interval | None, size: int) -> list[tuple[IntervalValue, ...]]:
    if interval is None:
        return [()] * size
    columns = (interval.lower, interval.upper, interval.standard_error)
    rows = zip(*(_numbers(column, size) for column in columns), strict=True)
    methods = (interval.method,) if isinstance(interval.method, str) else interval.method
    return [
        () if lower is None or upper is None else (IntervalValue(method, lower, upper, error),)
        for method, (lower, upper, error) in zip(cycle(methods), rows, strict=False)
    ]
