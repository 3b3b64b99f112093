"""Whose curves are drawn: one scored class of a window, and what was decided for it. Pure."""

from __future__ import annotations

from math import nan
from typing import NamedTuple

from monitor.report import Value, WindowCurves, WindowReport
from monitor.wording import bounds, interval_of, number, printable


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


class Subject(NamedTuple):
    """One scored class of a window; `row` is its place in the curves."""

    window: WindowReport
    curves: WindowCurves
    row: int
    name: str

    @property
    def both(self) -> bool:
        """Whether there are events of the class and of others."""
        return bool(self.curves.positives[self.row] and self.curves.negatives[self.row])

    @property
    def threshold(self) -> float | None:
        """From which probability on the class is decided, if it is."""
        return self.window.threshold({"class": self.name})

    def title(self, what: str) -> str:
        """Return a title that says whose chart it is."""
        return f"{what} of {printable(self.name)}"

    def find(self, family: str, **labels: str) -> Value | None:
        """Return a defined value of the class."""
        value = self.window.find(family, class_=self.name, **labels)
        return None if value is None or value.value is None else value

    def best_threshold(self, criterion: str) -> float | None:
        """Return the best threshold by a criterion, if the model has it."""
        found = self.curves.best_thresholds(self.row)
        return next((best.threshold for best in found if best.criterion == criterion), None)

    def decided(self) -> Decided:
        """Return what the confusion matrix says of the class against all others."""
        window = self.window
        if window.task == "multilabel":
            (rest, false_alarms), (misses, hits) = window.confusions[self.row]
            return Decided(hits, misses, false_alarms, rest)
        matrix, place = window.confusions[0], window.classes.index(self.name)
        hits, support = matrix[place][place], sum(matrix[place])
        false_alarms = sum(row[place] for row in matrix) - hits
        return Decided(hits, support - hits, false_alarms, window.labeled - support - false_alarms)


def subject(window: WindowReport, class_: str) -> Subject | None:
    """Return whose curves are asked for, None where the window has none of it."""
    if window.curves is None or class_ not in window.scored:
        return None
    return Subject(window, window.curves, window.scored.index(class_), class_)


def is_top_label(window: WindowReport, class_: str) -> bool:
    """Return whether it is the label with the highest score, whichever, that is asked for."""
    return window.task == "multiclass" and class_ == "" and class_ not in window.scored


def stated(value: Value | None, name: str, otherwise: str = "") -> str:
    """Write a defined value with its interval."""
    if value is None or value.value is None:
        return otherwise
    interval = interval_of(value)
    return f"{name} {number(value.value)}" + (f" {bounds(interval)}" if interval else "")


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else nan
