"""The values of a window by what they are called. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from monitor.presets import largest_fpr
from monitor.report import Value, WindowReport


class Values:
    """Finds values of a window; a window of many classes has thousands of them.

    Parameters
    ----------
    window
        Whose.
    """

    def __init__(self, window: WindowReport) -> None:
        self.window = window
        self._found = {_key(value.name, value.labels): value for value in window.values}
        families: defaultdict[str, list[Value]] = defaultdict(list)
        for value in window.values:
            families[value.name].append(value)
        self._families = dict(families)

    def get(self, name: str, **labels: str) -> Value | None:
        """Return the value of a family with exactly these labels; a label `class` is given as `class_`."""
        return self.like(name, {label.rstrip("_"): text for label, text in labels.items()})

    def like(self, name: str, labels: Mapping[str, str]) -> Value | None:
        """Return the same for labels as a value of another window has them."""
        return self._found.get(_key(name, labels))

    def at_largest_fpr(self, name: str, class_: str) -> Value | None:
        """Return the value of a class at the largest false-positive rate that is configured."""
        labels = [value.labels for value in self._families.get(name, ())]
        return self.get(name, class_=class_, max_fpr=largest_fpr(labels)) if labels else None


def _key(name: str, labels: Mapping[str, str]) -> tuple[str, tuple[tuple[str, str], ...]]:
    return name, tuple(sorted(labels.items()))
