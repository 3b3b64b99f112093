"""A report as objects for JSON: what the API and the commands print for machines. Pure.

Times are ISO 8601 in UTC, numbers keep their full precision, an undefined value is null beside its reason.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from monitor.recalibration import window_suggestions
from monitor.report import Report, Value, WindowReport
from monitor.report_curves import curves_object
from monitor.text_report import classification_report
from monitor.wording import iso


def report_object(report: Report, windows: Iterable[WindowReport], *, curves: bool = False) -> dict[str, Any]:
    """Return an evaluation with these of its windows, with what can be drawn of them if asked for."""
    return {
        "evaluated_at": iso(report.evaluated_at),
        "frontier": iso(report.frontier),
        "confidence_level": report.confidence_level,
        "reports": [_window(window, report.confidence_level, curves) for window in windows],
    }


def metric_objects(window: WindowReport) -> Iterator[dict[str, Any]]:
    """Yield every value of a window under the name and the labels of its exported series."""
    scope = {
        "model": window.model,
        "version": window.version,
        "window": window.window,
        "segment": window.segment,
    }
    extent = {"start": iso(window.start), "end": iso(window.end)}
    for value in window.values:
        yield {
            "name": value.name,
            "labels": {**scope, **value.labels},
            **_value(value),
            "threshold": window.threshold(value.labels),
            "averaging": value.labels.get("average"),
            **extent,
        }


def model_objects(report: Report) -> list[dict[str, Any]]:
    """Return the models with their versions, and the windows and segments that each has."""
    windows: defaultdict[tuple[str, str], list[WindowReport]] = defaultdict(list)
    for window in report.windows:
        windows[window.model, window.version].append(window)
    versions: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    for version in report.versions:
        known = windows[version.model, version.version]
        versions[version.model].append(
            {
                "version": version.version,
                "since": iso(version.since),
                "last_event": iso(version.last_event),
                "labeled_events": version.labeled_events,
                "unlabeled_events": version.unlabeled_events,
                "windows": list(dict.fromkeys(window.window for window in known)),
                "segments": list(dict.fromkeys(window.segment for window in known)),
            }
        )
    return [{"model": model, "versions": of_model} for model, of_model in versions.items()]


def _window(window: WindowReport, confidence_level: float, curves: bool) -> dict[str, Any]:
    drawn = {}
    if curves and not window.segment:
        drawn = {"curves": curves_object(window), "recalibration": window_suggestions(window)}
    return {
        "model": window.model,
        "version": window.version,
        "window": window.window,
        "segment": window.segment,
        "task": window.task,
        "classes": window.classes,
        "positive_class": window.positive_class,
        "threshold": window.thresholds[0] if window.task == "binary" else None,
        "thresholds": dict(zip(window.scored, window.thresholds, strict=False)),
        "complete": window.complete,
        "start": iso(window.start),
        "end": iso(window.end),
        "events": window.events,
        "labeled": window.labeled,
        "confusion": _confusion(window),
        "metrics": list(metric_objects(window)),
        "classification_report": classification_report(window, confidence_level),
        **drawn,
    }


def _confusion(window: WindowReport) -> dict[str, Any]:
    if window.task == "multilabel":
        sides = ("0", "1")
        return {"class": window.classes, "true": sides, "predicted": sides, "counts": window.confusions}
    return {"true": window.classes, "predicted": window.decisions, "counts": window.confusions[0]}


def _value(value: Value) -> dict[str, Any]:
    found: dict[str, Any] = {"value": value.value}
    if value.value is None:
        found["undefined"] = value.undefined
    found |= {
        "numerator": value.numerator,
        "denominator": value.denominator,
        "support": value.support,
        "low_support": value.low_support,
        "intervals": [interval._asdict() for interval in value.intervals],
    }
    if value.no_interval is not None:
        found["no_interval"] = value.no_interval
    if value.no_bootstrap is not None:
        found["no_bootstrap"] = value.no_bootstrap
    if value.resolution_error is not None:
        found["resolution_error"] = value.resolution_error
    return found
