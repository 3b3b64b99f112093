"""Bootstrap intervals of an evaluation, for all events of each window."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from monitor.evaluation.batches import batches
from monitor.evaluation.spans import Settled, Span, spans
from monitor.events.batch import Columns
from monitor.metrics.bootstrap import FAMILIES, bootstrap
from monitor.metrics.catalog import CATALOG
from monitor.metrics.context import Context
from monitor.metrics.labels import label_sets
from monitor.metrics.outcome import REASONS
from monitor.metrics.parameters import Parameters
from monitor.report import IntervalValue, Report, Value
from monitor.state.store import View

Bounds = Mapping[tuple[str, str, str], Mapping[tuple[str, ...], IntervalValue | str]]
"""By model, version and window; then by family and values of its labels: bounds, or why there are none."""

_COMPUTE = {metric.name: metric.compute for metric in CATALOG if metric.name in FAMILIES}


@dataclass(frozen=True, slots=True)
class Resampling:
    """What is resampled: family names, how many replicates, and the seed."""

    families: Sequence[str]
    replicates: int
    seed: int


def resample(
    view: View, parameters: Mapping[str, Parameters], resampling: Resampling, stop: Callable[[], bool]
) -> Bounds | None:
    """Return bounds of every window, or None if `stop` said so meanwhile.

    Parameters
    ----------
    view
        Of the evaluation that the bounds belong to, from `all_settled`.
    parameters
        By configured model name, "*" for the others.
    resampling
        What to draw.
    stop
        Asked before each window.
    """
    found: list[Span] = []
    if view.watermark is not None:
        settled = [(version, version.base) for version in view.versions]
        found = [span.without_segments() for span in spans(view, settled)]
    bounds: dict[tuple[str, str, str], dict[tuple[str, ...], IntervalValue | str]] = {}
    for batch in batches(found, parameters):
        if not batch.over_all_events:
            continue
        for case, (number, _) in enumerate(batch.cases):
            if stop():
                return None
            span = found[number]
            context = Context(batch.counts.case(case), [batch.parameters[case]])
            key = span.view.model, span.view.version, span.window
            bounds[key] = dict(_bounds(context, resampling, _seed(resampling.seed, span)))
    return bounds


def all_settled(view: View, settled: Sequence[Settled]) -> View:
    """Return a view whose states have all events in them; it does not keep alive what they were made of."""
    versions = []
    for version, state in settled:
        nothing = Columns(*(getattr(version.waiting, name)[:0].copy() for name in Columns.__slots__))
        versions.append(replace(version, base=state, waiting=nothing))
    return replace(view, versions=tuple(versions))


def with_bounds(report: Report, bounds: Bounds) -> Report:
    """Return a report with further intervals beside those of its values, or the reasons for having none."""
    windows = []
    for window in report.windows:
        found = bounds.get((window.model, window.version, window.window), {}) if not window.segment else {}
        if found:
            values = (_with_bound(value, found) for value in window.values)
            window = replace(window, values=tuple(values))
        windows.append(window)
    return replace(report, windows=tuple(windows))


def _with_bound(value: Value, found: Mapping[tuple[str, ...], IntervalValue | str]) -> Value:
    if value.name not in FAMILIES or value.value is None:
        return value
    bound = found.get((value.name, *value.labels.values()))
    if bound is None:
        return value
    if isinstance(bound, str):
        return value._replace(no_bootstrap=bound)
    return value._replace(intervals=(*value.intervals, bound))


def _bounds(
    context: Context, resampling: Resampling, seed: int
) -> Iterator[tuple[tuple[str, ...], IntervalValue | str]]:
    drawn = bootstrap(context, resampling.families, resampling.replicates, seed)
    for family, resampled in drawn.items():
        labels = label_sets(context.shared(_COMPUTE[family]).labels, context.parameters[0])
        interval = resampled.interval
        columns = (interval.lower, interval.upper, interval.standard_error, resampled.no_interval)
        rows = zip(labels, *(column.tolist() for column in columns), strict=True)
        for of_value, lower, upper, error, reason in rows:
            bound = REASONS[reason] if reason else IntervalValue("bootstrap", lower, upper, error)
            yield (family, *of_value.values()), bound


def _seed(seed: int, span: Span) -> int:
    """Return a seed that is the same for the same events."""
    text = repr((seed, span.view.model, span.view.version, span.window, span.end))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:7])
