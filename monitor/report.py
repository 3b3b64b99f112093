"""The immutable result of one evaluation: what exporter, page, API and commands show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


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
