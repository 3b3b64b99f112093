"""Adding the events that wait to the states of many versions at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

import torch

from monitor.events.batch import Columns
from monitor.state import histogram, tally
from monitor.state.columns import Events, concatenate, insert, upload
from monitor.state.grouping import Group, group_events
from monitor.state.tally import score_rows
from monitor.state.tallying import count_events
from monitor.state.version import Version

WORK_AT_ONCE = 1 << 18
"""Events and keys of histograms up to which more versions in one step are faster."""

_CPU = torch.device("cpu")


def settle_all(bases: Sequence[Version], arrived: Sequence[Columns], watermark: int) -> list[Version]:
    """Return the states with further events, and without those that no window needs.

    Parameters
    ----------
    bases
        States on one device.
    arrived
        Events of each, in any order.
    watermark
        Greatest event time consumed by the daemon, in microseconds.
    """
    settled = list(bases)
    for chosen in _steps(bases, arrived):
        grown = _add([bases[i] for i in chosen], [arrived[i] for i in chosen])
        for i, version in zip(chosen, grown, strict=True):
            settled[i] = version
    return [version.trimmed(watermark) for version in settled]


def _steps(bases: Sequence[Version], arrived: Sequence[Columns]) -> Iterator[list[int]]:
    """Split the versions with new events into steps of one kind and limited work."""
    by_kind = defaultdict(list)
    for i, events in enumerate(arrived):
        if len(events):
            by_kind[bases[i].plan.spec.kind].append(i)
    for same in by_kind.values():
        step: list[int] = []
        work = 0
        for i in same:
            more = len(arrived[i]) + len(bases[i].histogram.key)
            if step and work + more > WORK_AT_ONCE:
                yield step
                step, work = [], 0
            step.append(i)
            work += more
        yield step


def _add(bases: Sequence[Version], arrived: Sequence[Columns]) -> list[Version]:
    """Add events, some for each version; all versions are of one kind."""
    kind, device = bases[0].plan.spec.kind, bases[0].device
    parts = [upload(events, _CPU) for events in arrived]
    events = concatenate(parts).to(device)
    lengths = [len(part) for part in parts]
    part = torch.arange(len(parts), device=device).repeat_interleave(torch.tensor(lengths, device=device))
    cases, grouping = group_events(events.segments, part, len(parts))

    # Number the groups of all versions, those known before and the new ones, one version after the other.
    numbers: list[dict[Group, int]] = [{g: i for i, g in enumerate(base.groups)} for base in bases]
    within = [numbers[version].setdefault(group, len(numbers[version])) for version, group in cases]
    sizes = [len(groups) for groups in numbers]
    first = [0, *torch.tensor(sizes).cumsum(0).tolist()]
    grouping = grouping.numbered([first[v] + i for (v, _), i in zip(cases, within, strict=True)], first[-1])

    new, scores, _ = count_events(kind, events, grouping, halves=False)
    rows = score_rows(kind)
    counts = tally.joined([base.counts.grown(size) for base, size in zip(bases, sizes, strict=True)]) + new
    scored = histogram.joined(
        [base.histogram.grown(rows * size) for base, size in zip(bases, sizes, strict=True)]
    ).add(scores.key, scores.counts(halves=False))
    return [
        replace(
            base,
            held=insert(base.held, _of_version(base, events, start, length)),
            groups=tuple(groups),
            counts=of_counts,
            histogram=of_scores,
        )
        for base, start, length, groups, of_counts, of_scores in zip(
            bases,
            torch.tensor([0, *lengths]).cumsum(0).tolist(),
            lengths,
            numbers,
            counts.split(sizes),
            scored.split([rows * size for size in sizes]),
            strict=False,
        )
    ]


def _of_version(base: Version, events: Events, start: int, length: int) -> Events:
    """Copy a version's own events out of those of all."""
    own = events[start : start + length]
    return Events(
        *(
            (column[:, : base.held.segments.shape[1]] if column is own.segments else column).clone()
            for column in own.tensors()
        )
    )
