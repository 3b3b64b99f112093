"""Example reports and statuses for tests of everything that shows them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np
from sklearn import metrics as sk

from monitor.report import IntervalValue, Report, Value, VersionReport, WindowCurves, WindowReport
from monitor.status import DaemonStatus, Durations
from tests.support.counts import parameters
from tests.support.oracle import expected

HELPS = {
    name: f"Help of {name}."
    for name in (
        "classifier_events", "classifier_class_support", "classifier_recall", "classifier_precision",
        "classifier_f1", "classifier_accuracy", "classifier_precision_average", "classifier_recall_average",
        "classifier_f1_average", "classifier_roc_auc", "classifier_average_precision",
        "classifier_partial_roc_auc", "classifier_recall_at_fpr", "classifier_brier_score",
        "classifier_log_loss", "classifier_window_confusions", "classifier_prevalence",
        "classifier_imbalance_ratio", "classifier_predicted_rate", "classifier_lift",
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
        return Value(name, names, None, undefined, 0, True, None, numerator, denominator)
    z, p, n = 1.959964, numerator / denominator, denominator
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * (p * (1 - p) / n + z * z / (4 * n * n)) ** 0.5
    interval = IntervalValue(
        "wilson", max(0.0, round(middle - half, 12)), min(1.0, middle + half), (p * (1 - p) / n) ** 0.5
    )
    low = n < 20 or interval.upper - interval.lower > 0.2
    return Value(name, names, p, None, n, low, None, numerator, denominator, (interval,))


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
    bounds = IntervalValue("effective_n", max(0.0, value - half), min(1.0, value + half), half / 2)
    without = None if half else "no_interval_method"
    return Value(name, names, value, None, support, no_interval=without, intervals=(bounds,) if half else ())


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
    decisions = (*classes, "other")
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
            *_balance(name, hits, support, predicted, labeled),
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
        for decision, count in zip(decisions, row, strict=True):
            values.append(
                number("classifier_window_confusions", count, labeled, true=name, predicted=decision)
            )
    values.append(number("classifier_log_loss", ranks and 0.0561, labeled, class_=""))
    span = NOON - 3_600_000_000 if labeled else None
    return WindowReport(
        model=model,
        version=version,
        window=window,
        segment=segment,
        task="multiclass" if positive is None else "binary",
        classes=classes,
        positive_class=positive,
        thresholds=(0.5,) if positive else (),
        costs=None,
        complete=complete,
        start=span,
        end=NOON if labeled else None,
        events=labeled + 250,
        labeled=labeled,
        decisions=decisions,
        confusions=(confusion,),
        values=tuple(values),
    )


def _balance(name: str, hits: int, support: int, predicted: int, labeled: int) -> Iterator[Value]:
    def share(family: str, numerator: int, denominator: int, undefined: str) -> Value:
        value = numerator / denominator if denominator else None
        return number(f"classifier_{family}", value, labeled, undefined, class_=name)

    yield share("prevalence", support, labeled, "no_labels")
    yield share("imbalance_ratio", support, labeled - support, "no_negatives")
    yield share("predicted_rate", predicted, labeled, "no_events")
    yield share("lift", hits * labeled, support * predicted, "never_predicted")


def multilabel_window(y_true: np.ndarray | None = None, y_pred: np.ndarray | None = None) -> WindowReport:
    """Return a multilabel window of classes "a", "b", …; without arguments of ten events of two classes."""
    if y_true is None or y_pred is None:
        y_true = np.array([[1, 0]] * 4 + [[0, 1]] * 3 + [[0, 0]] * 3)
        y_pred = np.array([[1, 0]] * 3 + [[0, 1]] * 3 + [[1, 1]] * 4)
    classes = tuple("abcdefgh"[: y_true.shape[1]])
    p = parameters(len(classes), task="multilabel", classes=classes)
    found = expected(p, y_true, np.full(y_true.shape, 0.5), y_pred)
    cells = sk.multilabel_confusion_matrix(y_true, y_pred).tolist()
    return replace(
        window_report(),
        task="multilabel",
        classes=classes,
        positive_class=None,
        decisions=("0", "1"),
        thresholds=tuple(0.5 + place / 10 for place in range(len(classes))),
        confusions=tuple((tuple(negative), tuple(positive)) for negative, positive in cells),
        events=len(y_true),
        labeled=len(y_true),
        values=tuple(
            number(name, float(value), len(y_true), **dict(labels)) for (name, labels), value in found.items()
        ),
    )


def window_curves(scored: int = 1, rows: int = 1, decays: int = 1) -> WindowCurves:
    """Return curves of scored classes: three thresholds, 4 positives, 6 negatives; the middle is best."""
    cells = np.full((rows, 15, 5), np.nan)
    cells[:, :, 0] = 0
    cells[:, 3] = (10, 0.25, 0.4, 0.168, 0.687)
    by_ratio = np.tile(np.linspace(0.1, 0.9, 3), (scored, 1))
    best = np.full((scored, 3, 4), np.nan)
    best[:, 0] = (0.4, 0.9, 1.1, 1.5)
    best[:, 1] = (0.4, 0.667, 0.6, 0.5)
    return WindowCurves(
        threshold=np.tile([np.nextafter(0.8, 1), 0.4, 0.0], (scored, 1)),
        true_positives=np.tile([0, 3, 4], (scored, 1)),
        false_positives=np.tile([0, 2, 6], (scored, 1)),
        mean_probability=np.tile([np.nan, 0.6, 0.2], (scored, 1)),
        positives=np.full(scored, 4),
        negatives=np.full(scored, 6),
        reliability=cells,
        decay=np.tile(np.linspace(0, 0.6, 100), (decays, 1)),
        decay_falls=np.zeros(decays, np.int64),
        cost_threshold=by_ratio,
        cost=by_ratio,
        cost_from=by_ratio,
        cost_to=by_ratio,
        best=best,
        cost_ratios=(0.1, 1.0, 10.0),
        criteria=("cost", "f1", "min_fpr_at_recall"),
    )


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
    """Return two binary versions in two windows with a segment, and a multiclass model; two have curves."""
    newer, digits = "2026-12-01", ("setosa", "versicolor", "virginica")
    iris = window_report(
        model="iris",
        version="",
        window="last_10k",
        classes=digits,
        confusion=((50, 0, 0, 0), (0, 47, 3, 0), (0, 2, 47, 1)),
    )
    return report(
        replace(window_report(), curves=window_curves()),
        window_report(segment="region=eu", confusion=((4800, 70, 0), (12, 80, 1))),
        window_report(window="all", confusion=((96600, 1380, 3), (310, 1690, 20))),
        window_report(version=newer, confusion=((480, 3, 0), (0, 0, 0)), ranks=None, complete=False),
        empty_window(version=newer, window="all"),
        replace(iris, curves=window_curves(3, 4)),
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
