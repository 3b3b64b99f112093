"""A report as objects for JSON: what the API and the commands print for machines. Pure.

Times are ISO 8601 in UTC, numbers keep their full precision, an undefined value is null beside its reason.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from monitor.report import Report, Value, WindowReport
from monitor.text_report import classification_report
from monitor.wording import iso


def report_object(report: Report, windows: Iterable[WindowReport]) -> dict[str, Any]:
    """Return an evaluation with these of its windows."""
    return {
        "evaluated_at": iso(report.evaluated_at),
        "frontier": iso(report.frontier),
        "confidence_level": report.confidence_level,
        "reports": [_window(window, report.confidence_level) for window in windows],
    }


def metric_objects(window: WindowReport) -> Iterator[dict[str, Any]]:
    """Yield every value of a window under the name and the labels of its exported series."""
    scope = {
        "model": window.model,
        "version": window.version,
        "window": window.window,
        "segment": window.segment,
    }
    for value in window.values:
        yield {"name": value.name, "labels": {**scope, **value.labels}, **_value(value)}


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


def _window(window: WindowReport, confidence_level: float) -> dict[str, Any]:
    return {
        "model": window.model,
        "version": window.version,
        "window": window.window,
        "segment": window.segment,
        "classes": window.classes,
        "positive_class": window.positive_class,
        "threshold": window.threshold,
        "complete": window.complete,
        "start": iso(window.start),
        "end": iso(window.end),
        "events": window.events,
        "labeled": window.labeled,
        "confusion": {"true": window.classes, "predicted": window.decisions, "counts": window.confusion},
        "metrics": list(metric_objects(window)),
        "classification_report": classification_report(window, confidence_level),
    }


def _value(value: Value) -> dict[str, Any]:
    if value.value is None:
        return {"value": None, "undefined": value.undefined, "support": value.support}
    found: dict[str, Any] = {
        "value": value.value,
        "numerator": value.numerator,
        "denominator": value.denominator,
        "support": value.support,
        "intervals": [{"method": i.method, "lower": i.lower, "upper": i.upper} for i in value.intervals],
    }
    if value.resolution_error is not None:
        found["resolution_error"] = value.resolution_error
    return found
