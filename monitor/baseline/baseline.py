"""A stored reference as a value: counts, scores and metrics of one model version."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from monitor.detection import clopper_pearson_lower, clopper_pearson_upper

PROPORTIONS = frozenset(
    f"classifier_{name}" for name in ("recall", "precision", "specificity", "npv", "accuracy")
)
"""Families that are a share of independent events."""


class Interval(NamedTuple):
    """Bounds of a value by an analytic method, at the confidence level of the baseline."""

    method: str
    lower: float
    upper: float


class StoredValue(NamedTuple):
    """One defined value. `labels` are those beyond model, version, window and segment."""

    family: str
    labels: Mapping[str, str]
    value: float
    support: int
    numerator: float | None
    denominator: float | None
    interval: Interval | None


class Groups(NamedTuple):
    """Scores of one class as probabilities, ascending and distinct; `exact` where none were merged."""

    scores: NDArray[np.float64]
    positives: NDArray[np.int64]
    events: NDArray[np.int64]
    exact: bool


@dataclass(frozen=True)
class Baseline:
    """What one model version was like over all events of some files.

    Attributes
    ----------
    model, version
        Whose.
    meaning
        What its numbers depend on, as configured then: task, classes, ... (`monitor.baseline.meaning`).
    events, labeled
        All valid events, and those with a label.
    first_event, last_event
        Event times in microseconds.
    confidence_level
        Of the intervals.
    scored
        Scores by scored class: of labeled events.
    values
        Every defined metric over all events.
    made_by
        Version of monitor.
    """

    model: str
    version: str
    meaning: Mapping[str, Any]
    events: int
    labeled: int
    first_event: int
    last_event: int
    confidence_level: float
    scored: Mapping[str, Groups]
    values: tuple[StoredValue, ...]
    made_by: str

    def proportion(self, family: str, class_: str) -> tuple[int, int] | None:
        """Return numerator and denominator of recall, precision, specificity, npv or accuracy.

        None of any other family, and where the denominator is 0. `class_` is "" for the whole.
        """
        found = self._find(family, class_, {})
        if family not in PROPORTIONS or found is None:
            return None
        assert found.numerator is not None and found.denominator is not None
        return round(found.numerator), round(found.denominator)

    def groups(self, class_: str) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
        """Return scores, positives and events of a scored class, each (G,), the scores ascending.

        Raises
        ------
        KeyError
            The class has no scores.
        """
        return self.scored[class_][:3]

    def value(self, family: str, class_: str, labels: Mapping[str, str]) -> float | None:
        """Return a metric's value, None where it was undefined or does not exist."""
        found = self._find(family, class_, labels)
        return None if found is None else found.value

    def bound(
        self, family: str, class_: str, labels: Mapping[str, str], side: Literal["floor", "ceiling"]
    ) -> float | None:
        """Return the bound that a limit is made of: the lower one for a floor, the upper one for a ceiling.

        Clopper and Pearson's at 95% of proportions; else that of the stored interval; None without.
        """
        if not labels and (found := self.proportion(family, class_)) is not None:
            return clopper_pearson_lower(*found) if side == "floor" else clopper_pearson_upper(*found)
        stored = self._find(family, class_, labels)
        if stored is None or stored.interval is None:
            return None
        return stored.interval.lower if side == "floor" else stored.interval.upper

    def _find(self, family: str, class_: str, labels: Mapping[str, str]) -> StoredValue | None:
        return self._by_key.get(_key(family, {**labels, "class": class_}))

    @cached_property
    def _by_key(self) -> Mapping[tuple[str, frozenset[tuple[str, str]]], StoredValue]:
        return {_key(value.family, value.labels): value for value in self.values}


def _key(family: str, labels: Mapping[str, str]) -> tuple[str, frozenset[tuple[str, str]]]:
    """Return what a value is found by: no class and that of the whole are the same."""
    return family, frozenset(item for item in labels.items() if item != ("class", ""))
