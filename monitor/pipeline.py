"""Decoder, state and metrics of one configuration: what daemon, replay and doctor have in common."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import torch

from monitor.alert_assembly import Champions, alerting, written_champions
from monitor.assembly import decoder, device, microseconds, parameters, plan, resampling
from monitor.clock import Clock
from monitor.config import Config
from monitor.evaluation import (
    Bounds,
    Evaluation,
    Wanted,
    all_settled,
    evaluate,
    resample,
    with_bounds,
)
from monitor.events.batch import EventBatch
from monitor.events.vocabulary import Vocabulary
from monitor.history import History
from monitor.presets import RECORDED, pick_values
from monitor.records import Partition, RecordBatch
from monitor.state.store import State, View

log = logging.getLogger(__name__)

CPU = torch.device("cpu")


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A consistent look at a pipeline, free to be evaluated while it goes on."""

    view: View
    vocabularies: Mapping[tuple[str, str], Vocabulary]
    """Segment values by model and key; they only grow, so that the codes in the view keep their names."""
    wanted: Wanted | None = None
    """What is to be evaluated of it; None: everything."""

    def on_cpu(self) -> Snapshot:
        """Return the same events and counts in the memory of the CPU."""
        return replace(self, view=_on_cpu(self.view))


def _on_cpu(view: View) -> View:
    return replace(view, versions=tuple(replace(v, base=v.base.to(CPU)) for v in view.versions))


class Pipeline:
    """Events in, reports out, without I/O. Not thread-safe.

    Parameters
    ----------
    config
        The configuration.
    topics
        Every topic that records can come from.
    clock
        For the times of reports and, with `from_files`, for what counts as the future.
    from_files
        Whether records come from files, whose record times say nothing.
    champions
        The champion of each model at present; those that stand in the configuration by default.

    Attributes
    ----------
    clock
        As given.
    decoder, state, alerting
        What it is made of; `alerting` is None where no rule is configured.
    consumed
        Records so far by topic, valid or not.
    rejected
        Rejected records so far by (model, reason).
    history
        How the reports went; whoever evaluates adds to it.
    """

    def __init__(
        self,
        config: Config,
        topics: Iterable[str],
        clock: Clock,
        *,
        from_files: bool = False,
        champions: Champions | None = None,
    ) -> None:
        # The arrays are small: a second thread costs more than it brings, and where cores are busy the
        # threads of torch wait for each other in loops (an evaluation took 8 times as long).
        torch.set_num_threads(1)
        self.clock = clock
        self._max_skew = microseconds(config.events.max_skew)
        self.decoder = decoder(config, topics, clock, from_files=from_files)
        self.state = State(
            {name: plan(name, model, config) for name, model in config.models.items()},
            allowed_lateness=microseconds(config.events.allowed_lateness),
            retire_after=microseconds(config.limits.retire_after),
            device=device(config.evaluation.device),
        )
        self._parameters = {name: parameters(model, config) for name, model in config.models.items()}
        self._resampling = resampling(config)
        self._device_is_full = False
        self.alerting = alerting(config, self.decoder, champions or written_champions(config))
        self.consumed: Counter[str] = Counter()
        self.rejected: Counter[tuple[str, str]] = Counter()
        self.history = History(partial(pick_values, picks=RECORDED), config.limits.history_bytes or 0)

    def decode(self, batches: Sequence[RecordBatch]) -> EventBatch:
        """Decode what was not consumed before; the state does not change."""
        fresh = (self._fenced(batch) for batch in batches)
        return self.decoder.decode([batch for batch in fresh if batch.records])

    def _fenced(self, batch: RecordBatch) -> RecordBatch:
        start = self.state.next_offsets.get(batch.partition, 0)
        if not batch.records or batch.records[0].offset >= start:
            return batch
        return RecordBatch(batch.partition, [r for r in batch.records if r.offset >= start])

    def apply(self, batch: EventBatch) -> None:
        """Take in a decoded batch."""
        if self._device_is_full:
            self.state.move(CPU)
        if self.alerting is not None:
            self.alerting.read(batch, self.state.clocks.frontier)
            # Before anything is let go: the windows that are still to be looked at must not lose an event.
            self.state.look_back = self.alerting.looks_back
        try:
            self.state.apply(batch)
        except torch.OutOfMemoryError as error:
            # The batch is in the state: only bringing it into its final form has failed.
            self._fall_back(error)
            self.state.move(CPU)
        for partition, span in batch.spans.items():
            self.consumed[partition.topic] += span.records
        self.rejected.update((r.model, r.reason) for r in batch.rejected)

    def advance(self, lagging: Collection[Partition]) -> Snapshot:
        """Move the frontier, given the partitions not caught up; return the versions that retired.

        None retires before all was decided that its events say.
        """
        return self._without(
            self.state.advance(lagging, None if self.alerting is None else self.alerting.decided)
        )

    def forget(self, model: str) -> int:
        """Let all versions of a model go as if they had retired; return how many."""
        return len(self._without(self.state.forget(model)).view.versions)

    def _without(self, gone: View) -> Snapshot:
        """Free the places of versions that are no longer in the state; return their last look."""
        last = self._snapshot(gone)
        for version in gone.versions:
            self.decoder.forget(version.model, version.version)
            if self.alerting is not None:
                self.alerting.forget(version.model, version.version)
        return last

    def rewind(self, truncated: Mapping[Partition, int]) -> None:
        """Let records in again from these offsets on: the log ended there, and others take their places."""
        self.state.next_offsets.update(truncated)

    def move_on(self, positions: Mapping[Partition, int]) -> None:
        """Note that nothing will come before these offsets: transaction markers, say, are no records."""
        known = self.state.next_offsets
        known.update({p: max(offset, known.get(p, offset)) for p, offset in positions.items()})

    def ahead(self, lagging: Collection[Partition]) -> frozenset[Partition]:
        """Return the partitions that must wait, so that catching up stays aligned in event time."""
        return self.state.clocks.ahead(lagging, self._max_skew)

    def snapshot(self) -> Snapshot:
        """Return a consistent look at everything, without copying an event."""
        return self._snapshot(self.state.view())

    def snapshot_at(self, mark: int) -> Snapshot | None:
        """Return the windows that alerts look at as they were when `mark` was the watermark.

        None where there are none. The frontier must have crossed the mark, and `State.look_back` not.
        """
        assert self.alerting is not None
        self.state.settle()
        view = self.state.view()
        versions = []
        for version in view.versions:
            names = self.alerting.wants(version.model)
            if names:
                plan = version.base.plan
                windows = tuple(window for window in plan.windows if window.name in names)
                base = replace(version.base, plan=replace(plan, windows=windows))
                versions.append(replace(version, base=base))
        if not versions:
            return None
        # What lags has been read up to the frontier, hence to the mark.
        at_mark = replace(view, watermark=mark, trim_at=mark, caught_up=True, versions=tuple(versions))
        return replace(self._snapshot(at_mark), wanted=self.alerting.wanted)

    def _snapshot(self, view: View) -> Snapshot:
        keys = {(v.model, key) for v in view.versions for key in v.base.plan.spec.segments}
        return Snapshot(view, {key: self.decoder.vocabulary(*key) for key in keys})

    def evaluate(self, snapshot: Snapshot) -> Evaluation:
        """Compute the report of a snapshot; needs no lock."""
        try:
            found = self._evaluate(snapshot)
        except torch.OutOfMemoryError as error:
            self._fall_back(error)
            found = self._evaluate(snapshot.on_cpu())
        if snapshot.wanted is None or not snapshot.wanted.resampled:
            return found
        bounds = self.resample(all_settled(snapshot.view, found.settled), lambda: False)
        return found if bounds is None else replace(found, report=with_bounds(found.report, bounds))

    def adopt(self, evaluation: Evaluation) -> None:
        """Take over what an evaluation has settled anyway, of versions that did not go on meanwhile."""
        for version, settled in evaluation.settled:
            self.state.adopt(version, settled)

    @property
    def resamples(self) -> bool:
        """Whether bootstrap intervals are asked for."""
        return self._resampling is not None

    def resample(self, view: View, stop: Callable[[], bool]) -> Bounds | None:
        """Return bootstrap intervals of a settled view, None if `stop` said so meanwhile."""
        assert self._resampling is not None
        try:
            return resample(view, self._parameters, self._resampling, stop)
        except torch.OutOfMemoryError as error:
            self._fall_back(error)
            return resample(_on_cpu(view), self._parameters, self._resampling, stop)

    def _evaluate(self, snapshot: Snapshot) -> Evaluation:
        def vocabulary(model: str, key: str) -> Vocabulary:
            return snapshot.vocabularies[model, key]

        return evaluate(snapshot.view, self._parameters, vocabulary, self.clock.now(), snapshot.wanted)

    def _fall_back(self, error: torch.OutOfMemoryError) -> None:
        """Go on without the GPU, the state from the next batch on."""
        if not self._device_is_full:
            self._device_is_full = True
            log.warning(
                "the GPU's memory is full: computing on the CPU from now on; lower limits.held_events or set "
                "evaluation.device: cpu",
                extra={"error": str(error).partition("\n")[0]},
            )

    def limits_reached(self) -> Counter[str]:
        """Return how often each limit cut something off."""
        reached = Counter(self.decoder.limits_reached)
        reached["held_events"] += self.state.over_held_limit
        reached["held_events"] += 0 if self.alerting is None else self.alerting.dropped
        return +reached


def start_of_reading(config: Config, now: int) -> int:
    """Return the event time, in microseconds, from which on the log fills every window at `now`."""
    return now - microseconds(config.lookback)
