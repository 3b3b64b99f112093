"""The windows and values of a report, by what rules call them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from monitor.alerts.rule import Rule
from monitor.report import IntervalValue, Report, Value, WindowReport

Place = tuple[str, str, str, str]
"""Model, version, window, segment."""


class Lookup:
    """A report with its windows by place and their values by family, which are sorted once each."""

    def __init__(self, report: Report) -> None:
        self._windows: dict[Place, WindowReport] = {
            (w.model, w.version, w.window, w.segment): w for w in report.windows
        }
        self._families: dict[Place, Mapping[str, list[Value]]] = {}

    def window(self, model: str, version: str, window: str, segment: str) -> WindowReport | None:
        """Return a window, None where the report does not have it."""
        return self._windows.get((model, version, window, segment))

    def windows(self, rule: Rule) -> Iterator[WindowReport]:
        """Yield the windows that a rule is about: of every version, and of what its wildcards match."""
        for (model, _, window, segment), found in self._windows.items():
            if rule.model in ("*", model) and rule.window == window and _has_segment(rule.segment, segment):
                yield found

    def values(self, rule: Rule, window: WindowReport) -> Iterator[tuple[str, Value]]:
        """Yield the class and the value of each that a rule is about in a window."""
        for value in self._of(window).get(rule.metric, ()):
            class_, labels = value.labels.get("class", ""), value.labels
            rest = {name: labels[name] for name in labels if name != "class"}
            if rest == rule.labels and (class_ == rule.class_ or (rule.class_ == "*" and class_)):
                yield class_, value

    def value(self, rule: Rule, window: WindowReport, class_: str) -> Value | None:
        """Return the value of one class, None where the window does not have it."""
        return next((value for name, value in self.values(rule, window) if name == class_), None)

    def _of(self, window: WindowReport) -> Mapping[str, list[Value]]:
        place = (window.model, window.version, window.window, window.segment)
        if place not in self._families:
            families: defaultdict[str, list[Value]] = defaultdict(list)
            for value in window.values:
                families[value.name].append(value)
            self._families[place] = families
        return self._families[place]


def interval_of(rule: Rule, value: Value) -> IntervalValue | None:
    """Return the interval by the rule's method, None where there is none."""
    wanted = rule.method == "bootstrap"
    return next((i for i in value.intervals if (i.method == "bootstrap") == wanted), None)


def _has_segment(wanted: str, segment: str) -> bool:
    if wanted.endswith("=*"):
        return segment.startswith(wanted[:-1])
    return segment == wanted
