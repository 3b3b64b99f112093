"""The immutable result of one evaluation: what exporter, page, API and commands show."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from monitor.errors import MonitorError

CUMULATIVE = "all"
"""Name of the window that holds every event."""


class NotInReportError(MonitorError):
    """A model, version, window or segment that the report does not have; `known` are those it has."""

    def __init__(self, what: str, name: str, known: Iterable[str]) -> None:
        self.what, self.known = what, tuple(sorted(set(known)))
        names = ", ".join(map(repr, self.known[:20])) + (", ..." if len(self.known) > 20 else "")
        super().__init__(f"no {what} {name!r} in the newest report; known: {names or 'none yet'}")


@dataclass(frozen=True, slots=True)
class IntervalValue:
    """Bounds of one value by one method (a label value of the exported series)."""

    method: str
    lower: float
    upper: float


@dataclass(frozen=True, slots=True)
class Value:
    """One number, or the reason why there is none.

    `labels` are those beyond model, version, window and segment. Exactly one of `value` and
    `undefined` is None.
    """

    name: str
    labels: Mapping[str, str]
    value: float | None
    undefined: str | None
    support: int
    numerator: int | None = None
    denominator: int | None = None
    intervals: tuple[IntervalValue, ...] = ()
    resolution_error: float | None = None


@dataclass(frozen=True, slots=True)
class WindowReport:
    """All numbers of one model version in one window and segment.

    `window` is the configured name, or "all"; `segment` is empty for all events, else "key=value".
    `start` and `end` are event times in microseconds (start exclusive for windows by duration, the
    first event's time otherwise); None in an empty window. `confusion` has true classes in rows and
    decisions in columns, the last column being decisions for none of the classes.
    """

    model: str
    version: str
    window: str
    segment: str
    classes: tuple[str, ...]
    positive_class: str | None
    threshold: float | None
    complete: bool
    start: int | None
    end: int | None
    events: int
    labeled: int
    confusion: tuple[tuple[int, ...], ...]
    values: tuple[Value, ...]

    @property
    def decisions(self) -> tuple[str, ...]:
        """Names of the confusion columns: the classes, then decisions for none of them.

        Those are "other", in parentheses if a class has that name.
        """
        other = "other"
        while other in self.classes:
            other = f"({other})"
        return (*self.classes, other)

    def find(self, name: str, **labels: str) -> Value | None:
        """Return the value of a family with exactly these labels, None where there is no such value.

        A label called `class` is given as `class_`.
        """
        wanted = {label.rstrip("_"): value for label, value in labels.items()}
        return next((v for v in self.values if v.name == name and v.labels == wanted), None)


@dataclass(frozen=True, slots=True)
class VersionReport:
    """What is known of a model version whatever the window (times in microseconds)."""

    model: str
    version: str
    last_event: int
    since: int
    labeled_events: int
    unlabeled_events: int


@dataclass(frozen=True, slots=True)
class Report:
    """One evaluation. `evaluated_at` is wall-clock time, `frontier` event time, in microseconds."""

    evaluated_at: int
    frontier: int | None
    confidence_level: float
    versions: tuple[VersionReport, ...] = ()
    windows: tuple[WindowReport, ...] = ()

    def select(
        self,
        model: str | None = None,
        version: str | None = None,
        window: str | None = None,
        segment: str | None = "",
    ) -> tuple[WindowReport, ...]:
        """Return the windows that match, None matching everything; by default those over all events.

        Raises
        ------
        NotInReportError
            Where nothing matches: names the first of the four that is unknown, and what is known.
        """
        found = self.windows
        for what, name in (("model", model), ("version", version), ("window", window), ("segment", segment)):
            if name is not None:
                known = [getattr(report, what) for report in found]
                found = tuple(report for report in found if getattr(report, what) == name)
                if not found:
                    raise NotInReportError(what, name, known)
        return found
