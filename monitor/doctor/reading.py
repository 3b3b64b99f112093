"""One message, as it was sent and what became of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from monitor.events.batch import Columns, Rejected
from monitor.events.decoder import Decoder
from monitor.events.fields import FieldPaths
from monitor.events.parsing import parse_object, value_at
from monitor.events.values import Refused, as_text
from monitor.records import Partition, Record, RecordBatch


@dataclass(frozen=True, slots=True)
class Reading:
    """One message and what became of it: one event, or a rejection.

    Attributes
    ----------
    sent
        What stands at the path of each field; None where there is nothing.
    """

    partition: Partition
    record: Record
    model: str = ""
    version: str = ""
    sent: Mapping[str, Any] = field(default_factory=dict)
    event: Columns | None = None
    rejected: Rejected | None = None

    @property
    def place(self) -> str:
        """Topic, partition and offset."""
        return f"{self.partition.topic}/{self.partition.partition}/{self.record.offset}"


def read(
    reads: Decoder, paths: FieldPaths, batches: Sequence[RecordBatch], default_model: str
) -> Iterator[Reading]:
    """Decode records one by one, so that each keeps its outcome.

    Parameters
    ----------
    reads
        The decoder.
    paths
        Where it finds the fields.
    batches
        Records.
    default_model
        Model of messages that name none.
    """
    for partition, records in batches:
        for record in records:
            decoded = reads.decode([RecordBatch(partition, [record])])
            sent = fields_of(record.value, paths)
            for rejected in decoded.rejected:
                # The rejection itself names configured models alone.
                model = _name(sent.get("model")) or default_model
                yield Reading(partition, record, model, sent=sent, rejected=rejected)
            for (model, version), event in decoded.columns.items():
                yield Reading(partition, record, model, version, sent, event)


def fields_of(value: bytes | None, paths: FieldPaths) -> dict[str, Any]:
    """Return what stands at the path of each field, {} where the message is no JSON object."""
    try:
        message = parse_object(value, len(value or b""))
    except Refused:
        return {}
    sent = {name: _at(message, path) for name, path in paths.fields.items()}
    if paths.scores:
        by_class = {name: _at(message, path) for name, path in paths.scores.items()}
        sent["scores"] = {name: value for name, value in by_class.items() if value is not None} or None
    return sent


def _at(message: dict[str, Any], path: tuple[str, ...]) -> Any:
    try:
        return value_at(message, path)
    except Refused:
        return None


def _name(value: Any) -> str:
    return as_text(value) if isinstance(value, str | int | float) else ""
