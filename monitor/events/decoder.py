"""From raw records to an `EventBatch`: every record read ends in a column or is rejected by name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from monitor.events.admission import Admission
from monitor.events.batch import Columns, EventBatch, Marks, Rejected, Span
from monitor.events.columns import ColumnReader, texts
from monitor.events.draft import Draft, empty_draft
from monitor.events.fields import resolve_fields
from monitor.events.layout import MessageLayout, Messages
from monitor.events.message import Event, MessageReader, Rejection
from monitor.events.position import Positions
from monitor.events.spec import ModelSpec
from monitor.events.times import TimeRules, find_zone
from monitor.events.values import packed
from monitor.events.vocabulary import Vocabulary
from monitor.records import RecordBatch

_INVALID = -(2**63)


class Decoder:
    """Decodes micro-batches, and remembers which models, versions and segment values there are.

    Parameters
    ----------
    fields
        Canonical name to dotted path in the user's messages; `segments` a path, or one for each key.
    models
        How the events of each model are read; "*" for models not named.
    positions
        Codes of places in the log.
    default_model
        Model of messages that name none; None: the only named one, if there is exactly one.
    timezone
        IANA name of the zone of timestamps without one; None refuses them.
    max_future_us
        How far an event's time may lie ahead of its record's, in microseconds; None: any distance.
    min_timestamp_us
        Least plausible event time, in microseconds.
    event_bytes
        Greatest length of a message.
    max_models
        How many models may have events; each named one has a place of its own.
    max_versions
        How many versions of a model may have events.
    segment_values
        How many values of a segment key are told apart.
    now
        Clock (microseconds) that stands for the record's time in the rule on the future: for files.
    identities
        Whether the ids of events are read (`Marks.identity`).

    Attributes
    ----------
    limits_reached
        Events for which a limit was reached, by its name in the configuration.
    positions
        Codes of places in the log.

    Raises
    ------
    ConfigurationError
        Where the mapping contradicts itself, or the zone is unknown.
    """

    def __init__(
        self,
        fields: Mapping[str, str | Mapping[str, str]],
        models: Mapping[str, ModelSpec],
        positions: Positions,
        *,
        default_model: str | None = None,
        timezone: str | None = None,
        max_future_us: int | None = 300_000_000,
        min_timestamp_us: int = 946_684_800_000_000,
        event_bytes: int = 1_000_000,
        max_models: int = 1000,
        max_versions: int = 20,
        segment_values: int = 100,
        now: Callable[[], int] | None = None,
        identities: bool = False,
    ) -> None:
        named = [name for name in models if name != "*"]
        if default_model is None and len(named) == 1:
            default_model = named[0]
        keys = {key: None for spec in models.values() for key in spec.segments}
        paths = resolve_fields(fields, keys)
        if not identities:
            paths = replace(paths, identity=None)
        self._identities = identities
        self._from_files = now is not None
        times = TimeRules(find_zone(timezone), min_timestamp_us, max_future_us, now)
        self.limits_reached: Counter[str] = Counter()
        self._models = models
        self.positions = positions
        self._default_model = default_model
        several = any(spec.task == "multilabel" for spec in models.values())
        self._layout = MessageLayout(paths, _rare_fields(models.values()), several, event_bytes)
        self._columns = {
            name: ColumnReader(spec, times, with_identities=identities) for name, spec in models.items()
        }
        self._reference = MessageReader(paths, models, default_model, times, event_bytes)
        self._admission = Admission(named, max_models, max_versions, segment_values, self.limits_reached)

    def vocabulary(self, model: str, key: str) -> Vocabulary:
        """Return the values of a model's segment key, by the codes in `Columns.segments`."""
        return self._admission.vocabulary(model, key)

    def admit(self, model: str, version: str) -> bool:
        """Take a place under the limits, as its first event does; False if there is none left."""
        return self._admission.admit(model, version) is None

    def forget(self, model: str, version: str) -> None:
        """Free the place of a version; with a model's last one, its segment values too."""
        self._admission.forget(model, version)

    def vocabularies(self) -> dict[tuple[str, str], tuple[list[str], int]]:
        """Return the segment values of each (model, segment key): names by code, and how many overflowed."""
        return self._admission.vocabularies()

    def resume(
        self,
        places: Iterable[tuple[str, str]],
        vocabularies: Mapping[tuple[str, str], tuple[Iterable[str], int]],
    ) -> None:
        """Go on with the models and versions that have places, and with the `vocabularies` of before."""
        self._admission.resume(places, vocabularies)

    def decode(self, batches: Sequence[RecordBatch]) -> EventBatch:
        """Decode records; whatever their bytes are, nothing is raised for them.

        Parameters
        ----------
        batches
            At most one a partition.

        Raises
        ------
        SourceError
            If a partition's number is too large to be coded.
        """
        records = list(chain.from_iterable(batch.records for batch in batches))
        if not records:
            return EventBatch({})
        values = [record.value for record in records]
        record_ms = packed([-1 if (t := record.timestamp) is None else t for record in records], np.int64)
        drafts, doubtful = self._read_columns(values, record_ms)

        refused: list[tuple[int, Rejection]] = []
        events: dict[str, tuple[list[int], list[Event]]] = {}
        for row in doubtful:
            outcome = self._reference.read(values[row], int(record_ms[row]))
            if isinstance(outcome, Rejection):
                refused.append((row, outcome))
                self.limits_reached["event_bytes"] += outcome.reason == "too_large"
            else:
                rows, valid = events.setdefault(self._spec_name(outcome.model), ([], []))
                rows.append(row)
                valid.append(outcome)
        for name, (rows, valid) in events.items():
            draft = drafts.get(name) or empty_draft(self._models[name], identities=self._identities)
            drafts[name] = draft.merge(rows, valid)

        position = np.concatenate([self._positions_of(batch) for batch in batches])
        timestamp = np.full(len(records), _INVALID)
        columns: dict[tuple[str, str], Columns] = {}
        marks: dict[tuple[str, str], Marks] = {}
        for name, draft in drafts.items():
            draft, over = self._admission.filter(draft)
            refused += over
            if len(draft.rows):
                timestamp[draft.rows] = draft.timestamp
                recorded = self._recorded(record_ms[draft.rows], draft.timestamp)
                for version, of_version, beside in self._split(self._models[name], draft, position, recorded):
                    columns[version], marks[version] = of_version, beside
        return EventBatch(columns, self._rejected(batches, refused), _spans(batches, timestamp), marks)

    def _recorded(self, record_ms: NDArray[np.int64], timestamp: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the times of the records in microseconds, the events' own where records have none."""
        if self._from_files:
            return timestamp
        return np.where(record_ms < 0, timestamp, record_ms * 1000)

    def _spec_name(self, model: str) -> str:
        return model if model in self._models else "*"

    def _read_columns(
        self, values: list[bytes | None], record_ms: NDArray[np.int64]
    ) -> tuple[dict[str, Draft], list[int]]:
        """Return drafts by the name of their configuration, and the rows that need the reference."""
        drafts: dict[str, Draft] = {}
        messages, doubtful = self._layout.decode(values)
        rows = np.delete(np.arange(len(values)), doubtful)
        for name, group, names in self._by_configuration(messages):
            chosen = rows if group is None else rows[group]
            reader = self._columns.get(name)
            if reader is None:
                doubtful += chosen.tolist()
                continue
            members = messages if group is None else messages.select(group)
            draft, ok = reader.read(members, names, chosen, record_ms[chosen])
            if not ok.all():
                doubtful += chosen[~ok].tolist()
                draft = draft.select(ok)
            if len(draft.rows):
                drafts[name] = draft
        return drafts, sorted(doubtful)

    def _by_configuration(self, messages: Messages) -> Iterator[tuple[str, list[int] | None, list[str]]]:
        """Yield a configured name, which messages (None: all) and their models' names."""
        if not len(messages):
            return
        names = texts(messages.field("model"), len(messages), self._default_model or "")
        configured = {name: self._spec_name(name) if name else "" for name in set(names)}
        if len(set(configured.values())) == 1:
            yield configured[names[0]], None, names
            return
        groups: dict[str, list[int]] = {}
        for i, name in enumerate(names):
            groups.setdefault(configured[name], []).append(i)
        for spec_name, group in groups.items():
            yield spec_name, group, [names[i] for i in group]

    def _positions_of(self, batch: RecordBatch) -> NDArray[np.int64]:
        base = self.positions.base(*batch.partition)
        first, last = batch.records[0].offset, batch.records[-1].offset
        if last - first == len(batch.records) - 1:
            return np.arange(base + first, base + last + 1)
        return np.array([base + record.offset for record in batch.records], dtype=np.int64)

    def _split(
        self, spec: ModelSpec, draft: Draft, position: NDArray[np.int64], recorded: NDArray[np.int64]
    ) -> Iterator[tuple[tuple[str, str], Columns, Marks]]:
        """Tell the events of a draft apart by model and version."""
        n = len(draft.rows)
        segments = np.zeros((n, len(spec.segments)), dtype=np.int16)
        for k, (key, values) in enumerate(zip(spec.segments, draft.segments, strict=True)):
            if values is not None:
                segments[:, k] = self._admission.segment_codes(draft.models, key, values)
        everything = Columns(
            draft.timestamp,
            position[draft.rows],
            draft.label,
            draft.decision,
            draft.score,
            segments,
        )
        first = (draft.models[0], draft.versions[0])
        if draft.models.count(first[0]) == n and draft.versions.count(first[1]) == n:
            yield first, everything, Marks(recorded, draft.identity)
            return
        names = list(zip(draft.models, draft.versions, strict=True))
        numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
        group = packed(list(map(numbers.__getitem__, names)), np.int32)
        order = np.argsort(group, kind="stable")
        ends = np.cumsum(np.bincount(group)).tolist()
        ordered = [getattr(everything, name)[order] for name in Columns.__slots__]
        recorded = recorded[order]
        identity = None if draft.identity is None else draft.identity[order]
        for name, start, end in zip(numbers, [0, *ends], ends, strict=False):
            marks = Marks(recorded[start:end], None if identity is None else identity[start:end])
            yield name, Columns(*(column[start:end] for column in ordered)), marks

    def _rejected(
        self, batches: Sequence[RecordBatch], refused: list[tuple[int, Rejection]]
    ) -> tuple[Rejected, ...]:
        if not refused:
            return ()
        origin = [(batch.partition, record) for batch in batches for record in batch.records]
        return tuple(
            Rejected(*origin[row], self._label_value(r.model), r.reason, r.detail)
            for row, r in sorted(refused, key=lambda pair: pair[0])
        )

    def _label_value(self, model: str) -> str:
        """Return a name that may be a label value: a configured one, whatever else the batch holds."""
        return model if model in self._models else ""


def _rare_fields(specs: Iterable[ModelSpec]) -> set[str]:
    """Return the fields that are seldom sent, given the tasks of all models."""
    usual = {"score" if spec.positive is not None else "scores" for spec in specs}
    return {"score", "scores", "prediction", "confidence"} - usual


def _spans(batches: Sequence[RecordBatch], timestamp: NDArray[np.int64]) -> dict[Any, Span]:
    spans = {}
    start = 0
    for partition, records in batches:
        times = timestamp[start : start + len(records)]
        start += len(records)
        valid = times[times != _INVALID]
        spans[partition] = Span(
            records[0].offset,
            records[-1].offset + 1,
            len(records),
            int(valid[0]) if len(valid) else None,
            int(valid.max()) if len(valid) else None,
        )
    return spans
