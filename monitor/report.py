"""The immutable result of one evaluation: what exporter, page, API and commands show."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from monitor.errors import MonitorError

CUMULATIVE = "all"
"""Name of the window that holds every event."""

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


class NotInReportError(MonitorError):
    """A model, version, window or segment that the report does not have; `known` are those it has."""

    def __init__(self, what: str, name: str, known: Iterable[str]) -> None:
        self.what, self.known = what, tuple(sorted(set(known)))
        names = ", ".join(map(repr, self.known[:20])) + (", ..." if len(self.known) > 20 else "")
        super().__init__(f"no {what} {name!r} in the newest report; known: {names or 'none yet'}")


class IntervalValue(NamedTuple):
    """Bounds of one value by one method (a label value of the exported series)."""

    method: str
    lower: float
    upper: float
    standard_error: float | None = None


class Value(NamedTuple):
    """One number, or the reason why there is none.

    A tuple, because a report has hundreds of thousands of them. `labels` are those beyond model, version,
    window and segment; they may be shared and are not to be changed. Exactly one of `value` and
    `undefined` is None. `no_interval` says why a defined value has no analytic interval, `no_bootstrap` why
    resampling, where it was asked for, gave none.
    """

    name: str
    labels: Mapping[str, str]
    value: float | None
    undefined: str | None
    support: int
    low_support: bool = False
    no_interval: str | None = None
    numerator: float | None = None
    denominator: float | None = None
    intervals: tuple[IntervalValue, ...] = ()
    resolution_error: float | None = None
    no_bootstrap: str | None = None


class Names(NamedTuple):
    """What values are called, to look up what was found out of others that are called the same.

    Windows are much alike. Labels have no hash, but are mostly the same objects: quick to compare.
    """

    families: tuple[str, ...]
    labels: tuple[Mapping[str, str], ...]

    @classmethod
    def of(cls, values: Sequence[Value]) -> Names:
        """Return the names of values."""
        return cls(tuple(map(itemgetter(0), values)), tuple(map(itemgetter(1), values)))

    def __hash__(self) -> int:
        return hash(self.families)


class BestThreshold(NamedTuple):
    """The threshold of one class that is best by one criterion.

    `value` is the criterion's on all events of the window. `cross_validated_value` is that of the
    threshold that is best on the older half, judged on the newer; `own_threshold_value` the one of the
    model's own threshold there. None where there are no halves, or nothing to judge by.
    """

    criterion: str
    threshold: float
    value: float | None
    cross_validated_value: float | None
    own_threshold_value: float | None

    @property
    def cross_validated_gain(self) -> float | None:
        """How much better it did than the model's own; F1 is good where it is high, all else where low."""
        if self.cross_validated_value is None or self.own_threshold_value is None:
            return None
        gain = self.own_threshold_value - self.cross_validated_value
        return -gain if self.criterion == "f1" else gain


@dataclass(frozen=True, slots=True, eq=False)
class WindowCurves:
    """What people draw of one window: R scored classes, T rows of scores, P points, D kinds of decay.

    The arrays mean what they do in `monitor.metrics.curves.Curves`, without the leading dimension; NaN is
    undefined.

    Attributes
    ----------
    cost_ratios
        Of the columns of `cost_threshold`, `cost`, `cost_from` and `cost_to`.
    criteria
        Of the columns of `best`.
    """

    threshold: Floats
    true_positives: Counts
    false_positives: Counts
    mean_probability: Floats
    positives: Counts
    negatives: Counts
    reliability: Floats
    decay: Floats
    decay_falls: Counts
    cost_threshold: Floats
    cost: Floats
    cost_from: Floats
    cost_to: Floats
    best: Floats
    cost_ratios: tuple[float, ...]
    criteria: tuple[str, ...]

    def best_thresholds(self, row: int) -> Iterator[BestThreshold]:
        """Yield the best threshold of a scored class by every criterion that has one."""
        for criterion, best in zip(self.criteria, self.best[row].tolist(), strict=True):
            threshold, *values = (None if number != number else number for number in best)
            if threshold is not None:
                yield BestThreshold(criterion, threshold, *values)


Confusion = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class WindowReport:
    """All numbers of one model version in one window and segment.

    Attributes
    ----------
    window
        The configured name, or "all".
    segment
        Empty for all events, else "key=value".
    positive_class
        Of a binary model.
    thresholds
        From which probability on each scored class is decided; empty in multiclass tasks.
    costs
        Of a false negative and of a false positive, where one class is decided at a time.
    start, end
        Event times in microseconds (start exclusive for windows by duration, the first event's time
        otherwise); None in an empty window.
    decisions
        Names of the columns of a confusion matrix: the classes, then decisions for none of them; in
        multilabel tasks "0" and "1".
    confusions
        One matrix with true classes in rows; in multilabel tasks one for each class, by whether it is true
        (rows) and decided (columns).
    curves
        None of segments, and where they could not be computed.
    """

    model: str
    version: str
    window: str
    segment: str
    task: Literal["binary", "multiclass", "multilabel"]
    classes: tuple[str, ...]
    positive_class: str | None
    thresholds: tuple[float, ...]
    costs: tuple[float, float] | None
    complete: bool
    start: int | None
    end: int | None
    events: int
    labeled: int
    decisions: tuple[str, ...]
    confusions: tuple[Confusion, ...]
    values: tuple[Value, ...]
    curves: WindowCurves | None = None

    @property
    def scored(self) -> tuple[str, ...]:
        """Names of the classes that have scores."""
        return self.classes if self.positive_class is None else (self.positive_class,)

    def matrices(self) -> Iterator[tuple[dict[str, str], tuple[str, ...], tuple[str, ...], Confusion]]:
        """Yield each confusion matrix: labels that it has as a whole, names of rows and columns, counts."""
        if self.task == "multilabel":
            for name, matrix in zip(self.classes, self.confusions, strict=True):
                yield {"class": name}, ("0", "1"), self.decisions, matrix
        else:
            yield {}, self.classes, self.decisions, self.confusions[0]

    @property
    def support(self) -> tuple[int, ...]:
        """Labeled events of each class."""
        if self.task == "multilabel":
            return tuple(sum(matrix[1]) for matrix in self.confusions)
        return tuple(map(sum, self.confusions[0]))

    def threshold(self, labels: Mapping[str, str]) -> float | None:
        """Return the threshold behind the value with these labels: of its class, or the only one."""
        if self.task == "multilabel" and labels.get("class"):
            return self.thresholds[self.classes.index(labels["class"])]
        return self.thresholds[0] if self.task == "binary" else None

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
