"""From a view of the state to the report: which counts make a case, and what the metrics say of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import torch
from torch.nn.functional import pad
from torch.nn.utils.rnn import pad_sequence

from monitor.events.spec import UNLABELED
from monitor.events.vocabulary import Vocabulary
from monitor.metrics.catalog import compute_all
from monitor.metrics.counts import Counts
from monitor.metrics.groups import group_scores
from monitor.metrics.outcome import REASONS, Outcome, Parameters
from monitor.report import CUMULATIVE, IntervalValue, Report, Value, VersionReport, WindowReport
from monitor.state.columns import Events
from monitor.state.grouping import ALL, Group, group_by_segment
from monitor.state.store import VersionView, View
from monitor.state.tally import Tally, one_hot, tally
from monitor.state.version import Version
from monitor.state.windows import Extent, WindowSpec, extent

_CELLS_AT_ONCE = 1 << 20
"""Score groups evaluated in one batch; bounds the memory of the kernel's float64 arrays."""


@dataclass(frozen=True, slots=True)
class Case:
    """Counts of one model version in one window and segment, without a leading dimension."""

    view: VersionView
    window: str
    segment: str
    complete: bool
    start: int | None
    end: int | None
    counts: Counts


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A report, what went wrong on the way, and the states that were settled for it."""

    report: Report
    failures: Mapping[str, Exception]
    settled: Sequence[tuple[VersionView, Version]]


def evaluate(
    view: View,
    parameters: Mapping[str, Parameters],
    vocabulary: Callable[[str, str], Vocabulary],
    evaluated_at: int,
) -> Evaluation:
    """Compute every metric of every model version, window and segment.

    Parameters
    ----------
    view
        A consistent look at the state.
    parameters
        By configured model name, "*" for the others.
    vocabulary
        Segment values of a (model, segment key) of the view.
    evaluated_at
        Wall-clock time in microseconds, for the report.

    Returns
    -------
    Evaluation
        A metric that fails is absent from the report and named in `failures`.
    """
    settled = [(v, v.settle(view.watermark)) for v in view.versions] if view.watermark is not None else []
    cases: dict[str, list[Case]] = defaultdict(list)
    for version, state in settled:
        cases[state.plan.spec.name].extend(_cases(view, version, state, vocabulary))
    failures: dict[str, Exception] = {}
    # Batches are of similar size, not in the order of the windows: put the reports back in order.
    windows = {
        id(case): report
        for model, of_model in cases.items()
        for batch in _batches(of_model)
        for case, report in zip(batch, _reports(batch, parameters[model], failures), strict=True)
    }
    ordered = (windows[id(case)] for of_model in cases.values() for case in of_model)
    (level,) = {p.confidence_level for p in parameters.values()}
    return Evaluation(
        Report(
            evaluated_at=evaluated_at,
            frontier=view.frontier,
            confidence_level=level,
            versions=tuple(
                VersionReport(v.model, v.version, v.last_event, v.since, v.labeled, v.unlabeled)
                for v in sorted(view.versions, key=lambda v: (v.model, v.version))
            ),
            windows=tuple(sorted(ordered, key=lambda w: (w.model, w.version))),
        ),
        failures,
        settled,
    )


def _cases(
    view: View, version: VersionView, state: Version, vocabulary: Callable[[str, str], Vocabulary]
) -> Iterator[Case]:
    """Yield the cases of one version: sliding windows as configured, then the cumulative one."""
    assert view.watermark is not None
    plan = state.plan

    def segment(group: Group) -> str:
        if group == ALL:
            return ""
        key = plan.spec.segments[group[0]]
        return f"{key}={vocabulary(version.model, key).name(group[1])}"

    end = view.watermark - plan.maturity
    for window in plan.windows:
        covered = extent(state.held, window, end, plan.spec.positive)
        events = state.held[covered.first : covered.last]
        start, last = _bounds(events, window, end)
        complete = view.caught_up and _complete(view, state, window, covered, end)
        for group, counts in _window_counts(state, events):
            yield Case(version, window.name, segment(group), complete, start, last, counts)
    for number, group in enumerate(state.groups):
        yield Case(
            version,
            CUMULATIVE,
            segment(group),
            view.caught_up and not view.gap,
            version.since,
            version.last_event,
            _cumulative_counts(state, number),
        )


def _bounds(events: Events, window: WindowSpec, end: int) -> tuple[int | None, int | None]:
    if window.kind == "duration":
        return end - window.size, end
    if not len(events):
        return None, None
    return int(events.timestamp[0]), int(events.timestamp[-1])


def _complete(view: View, state: Version, window: WindowSpec, covered: Extent, end: int) -> bool:
    if view.covered_since is None:
        return False
    if window.kind == "duration":
        start = end - window.size
        return view.covered_since <= start and (state.dropped_until is None or state.dropped_until <= start)
    return covered.filled and (not view.gap or int(state.held.timestamp[covered.first]) > view.covered_since)


def _window_counts(state: Version, events: Events) -> Iterator[tuple[Group, Counts]]:
    groups, grouping = group_by_segment(events)
    counted = tally(events, grouping, len(state.plan.spec.classes), state.scored)
    labeled = events.label != UNLABELED
    truth = one_hot(events, state.scored)
    exact = torch.ones_like(state.scored, dtype=torch.bool)
    for number, group in enumerate(groups):
        rows = grouping.row[grouping.group == number]
        score = events.score[rows].T
        valid = labeled[rows] & ~score.isnan()
        yield group, _counts(counted, number, *group_scores(score, truth[rows].T, valid), exact)


def _cumulative_counts(state: Version, number: int) -> Counts:
    width = state.scored.shape[0]
    rows = range(number * width, (number + 1) * width)
    sides = pad_sequence([state.histogram.row(row) for row in rows], batch_first=True)
    exact = state.histogram.shift[rows.start : rows.stop] == 0
    return _counts(state.counts, number, sides[..., 1], sides[..., 0], exact)


def _counts(
    counted: Tally, number: int, positives: torch.Tensor, negatives: torch.Tensor, exact: torch.Tensor
) -> Counts:
    """Return the counts of one group, without a leading dimension."""
    of_group = {f.name: getattr(counted, f.name)[number] for f in fields(counted)}
    return Counts(
        events=of_group["decisions"].sum(), **of_group, positives=positives, negatives=negatives, exact=exact
    )


def _batches(cases: list[Case]) -> Iterator[list[Case]]:
    """Split cases of one model into batches of similar numbers of score groups."""
    batch: list[Case] = []
    for case in sorted(cases, key=lambda c: c.counts.positives.shape[-1]):
        if batch and (len(batch) + 1) * case.counts.positives.numel() > _CELLS_AT_ONCE:
            yield batch
            batch = []
        batch.append(case)
    if batch:
        yield batch


def _stack(cases: list[Case]) -> Counts:
    groups = max(c.counts.positives.shape[-1] for c in cases)

    def stacked(name: str) -> torch.Tensor:
        tensors = [getattr(c.counts, name) for c in cases]
        if name in ("positives", "negatives"):
            tensors = [pad(t, (0, groups - t.shape[-1])) for t in tensors]
        return torch.stack(tensors)

    return Counts(**{f.name: stacked(f.name) for f in fields(Counts)})


def _reports(
    cases: list[Case], parameters: Parameters, failures: dict[str, Exception]
) -> Iterator[WindowReport]:
    counts = _stack(cases)
    values: list[list[Value]] = [[] for _ in cases]
    for metric, outcome in compute_all(counts, parameters):
        if isinstance(outcome, Exception):
            failures[metric.name] = outcome
            continue
        for of_case, new in zip(values, _values(metric.name, outcome), strict=True):
            of_case.extend(new)
    confusions = counts.confusion.tolist()
    labeled = counts.confusion.sum((1, 2)).tolist()
    events = counts.events.tolist()
    positive = parameters.positive
    for i, case in enumerate(cases):
        yield WindowReport(
            model=case.view.model,
            version=case.view.version,
            window=case.window,
            segment=case.segment,
            classes=parameters.classes,
            positive_class=None if positive is None else parameters.classes[positive],
            threshold=None if positive is None else parameters.threshold,
            complete=case.complete,
            start=case.start,
            end=case.end,
            events=events[i],
            labeled=labeled[i],
            confusion=tuple(map(tuple, confusions[i])),
            values=tuple(values[i]),
        )


def _values(name: str, outcome: Outcome) -> Iterator[list[Value]]:
    """Yield the values of each case."""
    columns = [
        outcome.value.tolist(),
        outcome.reason.tolist(),
        outcome.support.tolist(),
        _rows(outcome.numerator, outcome),
        _rows(outcome.denominator, outcome),
        _rows(outcome.resolution_error, outcome),
    ]
    bounds = [(i.method, i.lower.tolist(), i.upper.tolist()) for i in outcome.intervals]
    labels = [dict(pairs) for pairs in outcome.labels]
    for case, rows in enumerate(zip(*columns, strict=True)):
        yield [
            Value(
                name=name,
                labels=labels[x],
                value=None if reason else value,
                undefined=REASONS[reason] if reason else None,
                support=support,
                numerator=numerator,
                denominator=denominator,
                intervals=tuple(
                    IntervalValue(method, lower[case][x], upper[case][x])
                    for method, lower, upper in bounds
                    if not reason and lower[case][x] == lower[case][x]  # NaN: no interval
                ),
                resolution_error=None if reason else error,
            )
            for x, (value, reason, support, numerator, denominator, error) in enumerate(
                zip(*rows, strict=True)
            )
        ]


def _rows(tensor: torch.Tensor | None, outcome: Outcome) -> list[list[Any]]:
    if tensor is not None:
        return tensor.tolist()
    cases, label_sets = outcome.value.shape
    return [[None] * label_sets] * cases
