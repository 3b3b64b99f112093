"""Cases of all models, counted and computed together: few large batches instead of many small ones."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields

from monitor.evaluation.spans import Span
from monitor.events.spec import Kind
from monitor.metrics.counts import Counts
from monitor.metrics.parameters import Parameters
from monitor.state.counting import EVENTS_AT_ONCE, Counted, count_cumulative, count_windows
from monitor.state.grouping import ALL, Group
from monitor.state.tally import score_rows

_CELLS_AT_ONCE = 1 << 20
"""Score groups evaluated in one batch; bounds the memory of the kernel's float64 arrays."""


@dataclass(frozen=True, slots=True)
class Batch:
    """B cases of one shape: each its span, by number, and its group of events, the counts, the models."""

    cases: Sequence[tuple[int, Group]]
    counts: Counts
    parameters: Sequence[Parameters]

    @property
    def over_all_events(self) -> bool:
        """Whether the cases are about all events of their windows, not about a segment's."""
        return self.cases[0][1] == ALL


def batches(spans: Sequence[Span], parameters: Mapping[str, Parameters]) -> Iterator[Batch]:
    """Yield every case of the spans, in batches of models that are counted and computed alike.

    Cases over all events and those of segments are never in one batch.
    """
    alike: defaultdict[tuple[Kind, tuple[object, ...], bool], list[int]] = defaultdict(list)
    models = [parameters[span.state.plan.spec.name] for span in spans]
    for number, (span, model) in enumerate(zip(spans, models, strict=True)):
        alike[span.state.plan.spec.kind, model.shape, span.events is None].append(number)
    for (kind, _, cumulative), numbers in alike.items():
        for part in _of_similar_size(numbers, lambda n: _cost(spans[n]), EVENTS_AT_ONCE):
            of_part = [spans[number] for number in part]
            if cumulative:
                counted = count_cumulative([span.state for span in of_part])
            else:
                counted = count_windows(kind, [span.events for span in of_part if span.events is not None])
            for counts in _parts(counted):
                cases = [(part[place], group) for place, group in counts.cases]
                yield Batch(cases, _counts(counts), [models[number] for number, _ in cases])


def _cost(span: Span) -> int:
    """Return what `EVENTS_AT_ONCE` is about."""
    kind = span.state.plan.spec.kind
    if span.events is None:
        return len(span.state.histogram.key)
    return len(span.events) * score_rows(kind) * (1 + len(span.state.plan.spec.segments))


def _parts(counted: Counted) -> Iterator[Counted]:
    """Split counts, so that not much is lost where all cases of a batch are padded to its greatest."""
    sizes = [size * score_rows(counted.kind) for size in counted.sizes]
    for over_all in (True, False):
        numbers = [n for n, (_, group) in enumerate(counted.cases) if (group == ALL) == over_all]
        for part in _of_similar_size(numbers, sizes.__getitem__, _CELLS_AT_ONCE):
            yield counted if len(part) == len(counted.cases) else counted.take(part)


def _of_similar_size(items: Iterable[int], size: Callable[[int], int], limit: int) -> Iterator[list[int]]:
    """Split into parts of which each, padded to its greatest, is up to `limit`; one item may be above it."""
    part: list[int] = []
    for item in sorted(items, key=size):
        if part and (len(part) + 1) * size(item) > limit:
            yield part
            part = []
        part.append(item)
    if part:
        yield part


def _counts(counted: Counted) -> Counts:
    parts = (counted.tally, counted.scores)
    return Counts(**{field.name: getattr(part, field.name) for part in parts for field in fields(part)})
