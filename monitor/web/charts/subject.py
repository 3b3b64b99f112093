"""Whose curves are drawn: one scored class of a window, and what was decided for it. Pure."""

from __future__ import annotations

from typing import NamedTuple

from monitor.presets import largest_fpr
from monitor.report import Value, WindowCurves, WindowReport
from monitor.report_curves import Decided, decided
from monitor.wording import bounds, interval_of, number, printable


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

    def at_largest_fpr(self, family: str) -> Value | None:
        """Return a defined value of the class at the largest false-positive rate that is configured."""
        labels = [value.labels for value in self.window.values if value.name == family]
        return self.find(family, max_fpr=largest_fpr(labels)) if labels else None

    def best_threshold(self, criterion: str) -> float | None:
        """Return the best threshold by a criterion, if the model has it."""
        found = self.curves.best_thresholds(self.row)
        return next((best.threshold for best in found if best.criterion == criterion), None)

    def decided(self) -> Decided:
        """Return what was decided for the class."""
        return decided(self.window, self.row)


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
