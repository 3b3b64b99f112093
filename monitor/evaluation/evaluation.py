"""Evaluates a view of the state: every metric of every model version, window and segment."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from itertools import chain

import torch

from monitor.evaluation.batches import Batch, batches
from monitor.evaluation.spans import Settled, Span, spans
from monitor.evaluation.values import family_values
from monitor.events.vocabulary import Vocabulary
from monitor.metrics.catalog import compute_all
from monitor.metrics.context import Context
from monitor.metrics.curves import COST_RATIOS, CRITERIA, Curves, curves
from monitor.metrics.labels import PREDICTED
from monitor.metrics.parameters import Parameters
from monitor.report import Confusion, Report, Value, VersionReport, WindowCurves, WindowReport
from monitor.state.grouping import ALL, Group
from monitor.state.store import View, settle

VocabularyOf = Callable[[str, str], Vocabulary]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What of a report is needed, where that is not everything: some families, no curves.

    Attributes
    ----------
    families
        Of everything that is evaluated.
    resampled
        Whether with their bootstrap intervals, which the caller adds.
    cumulative
        Whether of the cumulative state, too, not of sliding windows alone.
    segments
        Whether of segments, too.
    """

    families: frozenset[str]
    resampled: bool = False
    cumulative: bool = False
    segments: bool = True


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A report, what went wrong on the way, and the states that were settled for it."""

    report: Report
    failures: Mapping[str, Exception]
    settled: Sequence[Settled]


def evaluate(
    view: View,
    parameters: Mapping[str, Parameters],
    vocabulary: VocabularyOf,
    evaluated_at: int,
    wanted: Wanted | None = None,
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
    wanted
        What is needed; None: everything.

    Returns
    -------
    Evaluation
        What fails is absent from the report and named in `failures`: metrics by family, or "curves".

    Raises
    ------
    torch.OutOfMemoryError
        Of a device.
    """
    versions = sorted(view.versions, key=lambda v: (v.model, v.version))
    settled: list[Settled] = []
    found: list[Span] = []
    with_segments = wanted is None or wanted.segments
    if view.watermark is not None and view.trim_at is not None:
        settled = list(zip(versions, settle(versions, view.trim_at), strict=True))
        all_spans = wanted is None or wanted.cumulative
        found = [span for span in spans(view, settled) if all_spans or span.events is not None]
        if not with_segments:
            found = [span.without_segments() for span in found]
    failures: dict[str, Exception] = {}
    with _collector_at_rest():
        windows = {
            case: report
            for batch in batches(found, parameters)
            if batch.over_all_events or with_segments
            for case, report in zip(
                batch.cases, _reports(batch, found, vocabulary, wanted, failures), strict=True
            )
        }
    (level,) = {p.confidence_level for p in parameters.values()}
    return Evaluation(
        Report(
            evaluated_at=evaluated_at,
            frontier=view.frontier,
            confidence_level=level,
            versions=tuple(
                VersionReport(v.model, v.version, v.last_event, v.since, v.labeled, v.unlabeled)
                for v in versions
            ),
            windows=tuple(windows[case] for case in sorted(windows)),
        ),
        failures,
        settled,
    )


@contextmanager
def _collector_at_rest() -> Iterator[None]:
    """Keep the garbage collector from looking through the values again and again while they are made."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _reports(
    batch: Batch,
    spans: Sequence[Span],
    vocabulary: VocabularyOf,
    wanted: Wanted | None,
    failures: dict[str, Exception],
) -> Iterator[WindowReport]:
    context = Context(batch.counts, batch.parameters)
    models = {id(p): p for p in batch.parameters}
    place = {key: number for number, key in enumerate(models)}
    model = [place[id(p)] for p in batch.parameters]
    families: list[list[list[Value]]] = []
    for metric, outcome in compute_all(context, None if wanted is None else wanted.families):
        try:
            if isinstance(outcome, Exception):
                raise outcome
            families.append(family_values(metric.name, outcome, list(models.values()), model))
        except torch.OutOfMemoryError:
            raise
        except Exception as error:
            failures[metric.name] = error
    draws = wanted is None and batch.over_all_events
    drawn = _curves(context, failures) if draws else [None] * len(batch.cases)
    values = zip(*families, strict=True) if families else iter([()] * len(batch.cases))
    columns = zip(
        batch.cases,
        batch.parameters,
        context.counts.events.tolist(),
        context.labeled.tolist(),
        context.counts.confusion.tolist(),
        values,
        drawn,
        strict=True,
    )
    for (number, group), p, events, labeled, confusion, of_families, of_curves in columns:
        span = spans[number]
        matrices = confusion if p.task == "multilabel" else [confusion]
        yield WindowReport(
            model=span.view.model,
            version=span.view.version,
            window=span.window,
            segment=_segment(span, group, vocabulary),
            task=p.task,
            classes=p.classes,
            positive_class=None if p.positive is None else p.classes[p.positive],
            thresholds=p.thresholds,
            costs=p.pair_costs,
            complete=span.complete,
            start=span.start,
            end=span.end,
            events=events,
            labeled=labeled,
            decisions=PREDICTED.values(p),
            confusions=tuple(map(_frozen, matrices)),
            values=tuple(chain.from_iterable(of_families)),
            curves=of_curves,
        )


def _segment(span: Span, group: Group, vocabulary: VocabularyOf) -> str:
    if group == ALL:
        return ""
    key, code = group
    name = span.state.plan.spec.segments[key]
    return f"{name}={vocabulary(span.view.model, name).name(code)}"


def _frozen(matrix: list[list[int]]) -> Confusion:
    return tuple(map(tuple, matrix))


def _curves(context: Context, failures: dict[str, Exception]) -> Sequence[WindowCurves | None]:
    try:
        found = curves(context)
    except torch.OutOfMemoryError:
        raise
    except Exception as error:
        failures["curves"] = error
        return [None] * len(context.parameters)
    arrays = {field.name: getattr(found, field.name).cpu().numpy() for field in fields(Curves)}
    return [
        WindowCurves(
            **{name: array[case] for name, array in arrays.items()},
            cost_ratios=COST_RATIOS,
            criteria=CRITERIA,
        )
        for case in range(len(context.parameters))
    ]
