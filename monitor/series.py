"""Which numbers of a report are exported, as plain series. Pure; the exporter turns them into text."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from monitor.report import CUMULATIVE, Report, Value, VersionReport, WindowReport

WINDOW_CONFUSIONS = "classifier_window_confusions"
"""The family that `ExportOptions.confusions` is about, beside the counter of all events."""

BOTH_CLASSES = frozenset({"classifier_class_support"})
"""Families that a binary model exports for its negative class too: they are what the others rest on."""

HELPS: Mapping[str, str] = {
    "classifier_window_complete": "Whether the window holds everything it should (1) or not yet (0).",
    "classifier_window_start_timestamp_seconds": "Event time at which the window starts.",
    "classifier_window_end_timestamp_seconds": "Event time at which the window ends.",
    "classifier_confusions_total": "Labeled events by true class and decision, since the counts began.",
    "classifier_last_event_timestamp_seconds": "Greatest event time seen.",
    "classifier_labeled_events_total": "Labeled events, since the counts began.",
    "classifier_since_timestamp_seconds": "Event time at which the cumulative counts begin.",
    "classifier_reliability_events": "Labeled events with a probability in the bin, from its lower edge on.",
    "classifier_reliability_mean_score": "Mean probability of the bin's events.",
    "classifier_reliability_rate": "Share of the bin's events that are of the class.",
}
"""Help of the families that are no metric but say what the metrics rest on."""


class Series(NamedTuple):
    """One exported number.

    The end of the name tells the type: _total is a counter, _info an info, anything else a gauge.
    """

    family: str
    labels: Mapping[str, str]
    value: float


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """What is exported of a report.

    Attributes
    ----------
    families
        "default": a binary model's per-class families for its positive class only; "all": for both;
        or the names of the metric families wanted, as by default.
    windows
        "all", or the names of the windows wanted.
    segments
        "headline": of segments only the families that the catalog of metrics calls headlines.
    intervals
        Whether X_lower and X_upper are exported.
    confusions
        "nonzero" leaves out cells of confusion matrices that are 0, "none" all cells.
    reliability
        "whole" exports the reliability diagram of every window over all events: of a binary model's positive
        class, of a multiclass model's top label (class ""); bins without events are left out.
    max_series
        Above it whole model versions are left out, those with the fewest labeled events first.
    """

    families: Literal["default", "all"] | tuple[str, ...] = "default"
    windows: Literal["all"] | tuple[str, ...] = "all"
    segments: Literal["headline", "all", "none"] = "headline"
    intervals: bool = True
    confusions: Literal["nonzero", "all", "none"] = "nonzero"
    reliability: Literal["none", "whole"] = "none"
    max_series: int = 20_000


def select_series(
    report: Report, headline: Collection[str], options: ExportOptions
) -> tuple[list[Series], int]:
    """Return the series to export, and how many `max_series` left out.

    Parameters
    ----------
    report
        One evaluation.
    headline
        Families that segments export by default.
    options
        What to export.
    """
    windows: defaultdict[tuple[str, str], list[WindowReport]] = defaultdict(list)
    for window in report.windows:
        windows[window.model, window.version].append(window)
    kept: list[Series] = []
    total = 0
    for version in sorted(report.versions, key=lambda v: (-v.labeled_events, v.model, v.version)):
        found = list(_of_version(version, windows[version.model, version.version], headline, options))
        total += len(found)
        if total <= options.max_series:  # once it is not, no smaller version comes in either
            kept += [Series(family, {**scope, **own}, value) for family, scope, own, value in found]
    return kept, total - len(kept)


_Found = tuple[str, Mapping[str, str], Mapping[str, str], float]
"""A series whose labels, in two parts, are put together only if it is kept: most of what it costs."""

_NO_LABELS: Mapping[str, str] = {}


def _of_version(
    version: VersionReport,
    windows: Iterable[WindowReport],
    headline: Collection[str],
    options: ExportOptions,
) -> Iterator[_Found]:
    labels = {"model": version.model, "version": version.version}
    yield "classifier_last_event_timestamp_seconds", labels, _NO_LABELS, version.last_event / 1e6
    yield "classifier_since_timestamp_seconds", labels, _NO_LABELS, version.since / 1e6
    yield "classifier_labeled_events_total", labels, _NO_LABELS, version.labeled_events
    for window in windows:
        if window.window == CUMULATIVE and not window.segment:
            yield from _confusions(labels, window, options)
        if options.windows != "all" and window.window not in options.windows:
            continue
        scope = {**labels, "window": window.window, "segment": window.segment}
        if not window.segment:
            yield from _extent(scope, window)
            yield from _values(scope, window, None, options)
            if options.reliability == "whole":
                yield from _reliability(scope, window)
        elif options.segments != "none":
            families = headline if options.segments == "headline" else None
            yield from _values(scope, window, families, options)


def _confusions(labels: Mapping[str, str], window: WindowReport, options: ExportOptions) -> Iterator[_Found]:
    for of_matrix, trues, decisions, matrix in window.matrices():
        for true, row in zip(trues, matrix, strict=True):
            for predicted, count in zip(decisions, row, strict=True):
                if _shows_cell(count, options):
                    cell = {**of_matrix, "true": true, "predicted": predicted}
                    yield "classifier_confusions_total", labels, cell, count


def _shows_cell(count: float, options: ExportOptions) -> bool:
    return options.confusions == "all" or (options.confusions == "nonzero" and count != 0)


def _extent(scope: Mapping[str, str], window: WindowReport) -> Iterator[_Found]:
    yield "classifier_window_complete", scope, _NO_LABELS, float(window.complete)
    if window.start is not None:
        yield "classifier_window_start_timestamp_seconds", scope, _NO_LABELS, window.start / 1e6
    if window.end is not None:
        yield "classifier_window_end_timestamp_seconds", scope, _NO_LABELS, window.end / 1e6


def _reliability(scope: Mapping[str, str], window: WindowReport) -> Iterator[_Found]:
    """Yield the filled bins of a window's reliability diagram; multilabel tasks have no whole."""
    if window.curves is None or window.task == "multilabel":
        return
    row = len(window.scored) if window.positive_class is None else 0  # the top label's is behind the classes'
    bins = window.curves.reliability[row].tolist()
    for number, (events, mean_score, rate, *_) in enumerate(bins):
        if events:
            edge = repr(round(number / len(bins), 4))
            labels = {"class": window.positive_class or "", "bin": edge}
            yield "classifier_reliability_events", scope, labels, events
            yield "classifier_reliability_mean_score", scope, labels, mean_score
            yield "classifier_reliability_rate", scope, labels, rate


def _values(
    scope: Mapping[str, str],
    window: WindowReport,
    families: Collection[str] | None,
    options: ExportOptions,
) -> Iterator[_Found]:
    """Yield the defined values of these families, None for all, as far as the options have them."""
    for value in window.values:
        name = value.name
        if (
            value.value is None
            or (families is not None and name not in families)
            or not _exports(value, window.positive_class, options)
        ):
            continue
        yield name, scope, value.labels, value.value
        if value.resolution_error is not None:
            yield f"{name}_resolution_error", scope, value.labels, value.resolution_error
        if options.intervals:
            for interval in value.intervals:
                of_method = {**value.labels, "method": interval.method}
                yield f"{name}_lower", scope, of_method, interval.lower
                yield f"{name}_upper", scope, of_method, interval.upper


def _exports(value: Value, positive_class: str | None, options: ExportOptions) -> bool:
    assert value.value is not None
    if value.name == WINDOW_CONFUSIONS and not _shows_cell(value.value, options):
        return False
    if options.families == "all":
        return True
    if options.families != "default" and value.name not in options.families:
        return False
    of_other_class = positive_class is not None and value.labels.get("class", "") not in ("", positive_class)
    return not of_other_class or value.name in BOTH_CLASSES
