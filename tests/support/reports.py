"""Example reports and statuses for tests of everything that shows them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from monitor.report import IntervalValue, Report, Value, VersionReport, WindowReport
from monitor.status import DaemonStatus, Durations

HELPS = {
    name: f"Help of {name}."
    for name in (
        "classifier_events", "classifier_class_support", "classifier_recall", "classifier_precision",
        "classifier_f1", "classifier_accuracy", "classifier_precision_average", "classifier_recall_average",
        "classifier_f1_average", "classifier_roc_auc", "classifier_average_precision",
        "classifier_partial_roc_auc", "classifier_recall_at_fpr", "classifier_brier_score",
        "classifier_log_loss", "classifier_window_confusions",
    )
}  # fmt: skip
"""Help texts as the catalog would give them."""

HEADLINE = ("classifier_class_support", "classifier_recall", "classifier_precision")
"""Families that segments export by default."""

NOON = 1_764_417_600_000_000
"""2025-11-29T12:00:00Z in microseconds."""


def ratio(
    name: str, numerator: int, denominator: int, undefined: str = "no_positives", **labels: str
) -> Value:
    """Return a proportion with a Wilson interval, undefined where the denominator is 0."""
    names = {key.rstrip("_"): value for key, value in labels.items()}
    if denominator == 0:
        return Value(name, names, None, undefined, 0, numerator, denominator)
    z, p, n = 1.959964, numerator / denominator, denominator
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * (p * (1 - p) / n + z * z / (4 * n * n)) ** 0.5
    interval = IntervalValue("wilson", max(0.0, round(middle - half, 12)), min(1.0, middle + half))
    return Value(name, names, p, None, n, numerator, denominator, (interval,))


def number(
    name: str,
    value: float | None,
    support: int,
    undefined: str = "no_positives",
    half: float = 0.0,
    **labels: str,
) -> Value:
    """Return a value with an effective_n interval of half width `half`, if any."""
    names = {key.rstrip("_"): label for key, label in labels.items()}
    if value is None:
        return Value(name, names, None, undefined, support)
    bounds = (IntervalValue("effective_n", max(0.0, value - half), min(1.0, value + half)),) if half else ()
    return Value(name, names, value, None, support, intervals=bounds)


def window_report(
    model: str = "fraud",
    version: str = "2026-11-01",
    window: str = "last_10k",
    segment: str = "",
    classes: tuple[str, ...] = ("legit", "fraud"),
    confusion: tuple[tuple[int, ...], ...] = ((9660, 138, 0), (31, 169, 2)),
    ranks: float | None = 0.9612,
    complete: bool = True,
) -> WindowReport:
    """Return a window whose counting values follow from `confusion`; two classes mean a binary task."""
    positive = classes[-1] if len(classes) == 2 else None
    labeled = sum(map(sum, confusion))
    values = [number("classifier_events", labeled + 250, labeled + 250)]
    for place, name in enumerate(classes):
        support = sum(confusion[place])
        hits = confusion[place][place]
        predicted = sum(row[place] for row in confusion)
        harmonic = 2 * hits / (support + predicted) if support + predicted else None
        values += [
            number("classifier_class_support", support, labeled, class_=name),
            ratio("classifier_recall", hits, support, "no_positives", class_=name),
            ratio("classifier_precision", hits, predicted, "never_predicted", class_=name),
            number("classifier_f1", harmonic, support, "no_decisions_or_positives", 0.03, class_=name),
        ]
    correct = sum(confusion[place][place] for place in range(len(classes)))
    values.append(ratio("classifier_accuracy", correct, labeled, "no_labels"))
    values += list(_averages(values, [sum(row) for row in confusion]))
    for name in classes if positive is None else (positive,):
        values += [
            number("classifier_roc_auc", ranks, labeled, half=0.012, class_=name),
            number("classifier_average_precision", ranks and ranks * 0.7, labeled, half=0.05, class_=name),
            number(
                "classifier_partial_roc_auc", ranks and 0.61, labeled, half=0.05, class_=name, max_fpr="0.1"
            ),
            number(
                "classifier_recall_at_fpr", ranks and 0.84, labeled, half=0.06, class_=name, max_fpr="0.1"
            ),
            number("classifier_brier_score", ranks and 0.0131, labeled, class_=name, subset="all"),
        ]
    for name, row in zip(classes, confusion, strict=True):
        for decision, count in zip((*classes, "other"), row, strict=True):
            values.append(
                number("classifier_window_confusions", count, labeled, true=name, predicted=decision)
            )
    values.append(number("classifier_log_loss", ranks and 0.0561, labeled, class_=""))
    span = NOON - 3_600_000_000 if labeled else None
    return WindowReport(
        model, version, window, segment, classes, positive, 0.5 if positive else None, complete,
        span, NOON if labeled else None, labeled + 250, labeled, confusion, tuple(values),
    )  # fmt: skip


def _averages(values: Iterable[Value], supports: list[int]) -> Iterator[Value]:
    labeled = sum(supports)
    for family in ("classifier_precision", "classifier_recall", "classifier_f1"):
        of_family = [v.value for v in values if v.name == family]
        for average, weights in (("macro", [1] * len(of_family)), ("weighted", supports)):
            defined = [(v, w) for v, w in zip(of_family, weights, strict=True) if v is not None and w]
            total = sum(w for _, w in defined)
            mean = sum(v * w for v, w in defined) / total if total else None
            yield number(f"{family}_average", mean, labeled, "no_labels", average=average)


def empty_window(**names: str) -> WindowReport:
    """Return a binary window without events: everything is undefined."""
    return replace(
        window_report(confusion=((0, 0, 0), (0, 0, 0)), ranks=None, complete=False, **names), events=0
    )


def report(*windows: WindowReport) -> Report:
    """Return a report of these windows; versions that come later in the list have fewer events."""
    seen = dict.fromkeys((w.model, w.version) for w in windows)
    return Report(
        evaluated_at=NOON + 5_000_000,
        frontier=NOON - 60_000_000,
        confidence_level=0.95,
        versions=tuple(
            VersionReport(model, version, NOON, NOON - 86_400_000_000, 1_000_000 - place, 250)
            for place, (model, version) in enumerate(seen)
        ),
        windows=windows,
    )


def example() -> Report:
    """Return two binary versions in two windows with a segment, and a multiclass model."""
    newer, digits = "2026-12-01", ("setosa", "versicolor", "virginica")
    return report(
        window_report(),
        window_report(segment="region=eu", confusion=((4800, 70, 0), (12, 80, 1))),
        window_report(window="all", confusion=((96600, 1380, 3), (310, 1690, 20))),
        window_report(version=newer, confusion=((480, 3, 0), (0, 0, 0)), ranks=None, complete=False),
        empty_window(version=newer, window="all"),
        window_report(
            model="iris", version="", window="last_10k", classes=digits,
            confusion=((50, 0, 0, 0), (0, 47, 3, 0), (0, 2, 47, 1)),
        ),
    )  # fmt: skip


def status(**changes: object) -> DaemonStatus:
    """Return a healthy owner's status."""
    healthy = DaemonStatus(
        version="0.1.0",
        ready=True,
        owner=True,
        poll_age=0.2,
        evaluation_age=3.0,
        events_consumed={"predictions.labeled": 1_204_331},
        events_rejected={("fraud", "not_finite"): 3, ("", "not_json"): 1},
        events_late={"fraud": 12},
        events_unlabeled={"fraud": 250},
        dead_letters={"sent": 4},
        consumer_lag={("predictions.labeled", 0): 0, ("predictions.labeled", 1): 7},
        frontier=NOON - 60_000_000,
        rebalances=1,
        last_poll=NOON + 5_000_000,
        last_evaluation=NOON + 5_000_000,
        evaluation_durations=Durations().observe(0.03).observe(0.04).observe(60.0),
        jobs_missed={"evaluate": 0},
        state_bytes=48_000_000,
        limit_reached={"segment_values": 0},
    )
    return replace(healthy, **changes)  # type: ignore[arg-type]
