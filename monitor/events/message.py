"""The reference reading of one message: slow, complete, and the source of every refusal's text.

`monitor.events.columns` reads the plain case many messages at a time and leaves whatever it doubts to
this module; a property test holds the two together.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from monitor.events.fields import FieldPaths, Path
from monitor.events.identity import identity_of
from monitor.events.meaning import Target, ValueReader
from monitor.events.parsing import parse_object, value_at
from monitor.events.spec import ModelSpec
from monitor.events.times import TimeRules, microseconds
from monitor.events.types import Fields, LogitFields, check_types
from monitor.events.values import Refused, as_text, is_text, shown

SegmentValue = str | int | float | bool | None


class Event(NamedTuple):
    """One valid event.

    Attributes
    ----------
    timestamp
        Microseconds since the epoch.
    label, decision, scores
        Values of a row of the columns of the same name in `monitor.events.batch.Columns`.
    segments
        Value of each kept segment key, None where it is missing.
    identity
        Hash of its id; 0 where it has none, or nobody asked.
    """

    model: str
    version: str
    timestamp: int
    label: Target
    decision: Target
    scores: tuple[float, ...]
    segments: tuple[SegmentValue, ...]
    identity: int


class Rejection(NamedTuple):
    """Why a message is no valid event. `model` is its model's name where it could be read, else empty."""

    reason: str
    detail: str
    model: str


class MessageReader:
    """Reads one message at a time.

    Parameters
    ----------
    paths
        Where the fields stand.
    models
        What is known of each model; "*" for those not named.
    default_model
        Model of messages that name none; None refuses them.
    times
        How timestamps are read.
    event_bytes
        Greatest length of a message.
    """

    def __init__(
        self,
        paths: FieldPaths,
        models: Mapping[str, ModelSpec],
        default_model: str | None,
        times: TimeRules,
        event_bytes: int,
    ) -> None:
        self._paths = paths
        self._models = models
        self._default_model = default_model
        self._times = times
        self._event_bytes = event_bytes
        self._readers = {name: ValueReader(spec) for name, spec in models.items()}

    def read(self, value: bytes | None, record_ms: int) -> Event | Rejection:
        """Return the event in a record's value, or why there is none.

        Parameters
        ----------
        value
            The message; None for a tombstone.
        record_ms
            The record's own time, in milliseconds.
        """
        model = ""
        try:
            message = parse_object(value, self._event_bytes)
            model = self._model_name(message)
            return self._event(message, model, record_ms)
        except Refused as refused:
            return Rejection(refused.reason, refused.detail, model)

    def _model_name(self, message: dict[str, Any]) -> str:
        path = self._paths.fields.get("model")
        name = check_types({"model": value_at(message, path)}, self._paths).model
        text = as_text(name) if name is not None else ""
        if text or self._default_model is not None:
            return text or self._default_model or ""
        raise Refused(
            "missing_field", "no model is named; map events.fields.model, or set events.default_model"
        )

    def _event(self, message: dict[str, Any], model: str, record_ms: int) -> Event:
        name = model if model in self._models else "*"
        if name not in self._models:
            raise Refused(
                "unknown_model", f'{shown(model)} is not configured; add it, or "*" for all others, to models'
            )
        spec = self._models[name]
        fields = self._fields(message, LogitFields if spec.scores == "logit" else Fields)
        version = "" if fields.version is None else as_text(fields.version)
        timestamp = self._timestamp(fields.timestamp, record_ms)
        reader = self._readers[name]
        label = reader.label(fields.label, version)
        prediction = reader.prediction(fields.prediction, version)
        scores = reader.scores(fields, version, prediction)
        if prediction is not None:
            decision = prediction
        elif scores is not None:
            decision = reader.decision(scores)
        else:
            needed = "scores" if spec.positive is None else "score"
            raise Refused(
                "missing_field",
                f"neither {needed} nor prediction is present; map events.fields.{needed} or "
                "events.fields.prediction",
            )
        return Event(
            model,
            version,
            timestamp,
            label,
            decision,
            (math.nan,) * len(spec.scored) if scores is None else tuple(scores[0].tolist()),
            tuple(_carried(message, self._paths.segments.get(key)) for key in spec.segments),
            identity_of(_carried(message, self._paths.identity)),
        )

    def _fields(self, message: dict[str, Any], types: type[Fields]) -> Fields:
        found = {field: value_at(message, path) for field, path in self._paths.fields.items()}
        if found.pop("weight", None) is not None:
            raise Refused(
                "unexpected_weight", "events have no weights; send one message an event, without one"
            )
        if self._paths.scores:
            by_class = {name: value_at(message, path) for name, path in self._paths.scores.items()}
            found["scores"] = {name: value for name, value in by_class.items() if value is not None} or None
        if isinstance(found.get("label"), float) and math.isnan(found["label"]):
            found["label"] = None  # how numpy and pandas write a gap
        return check_types(found, self._paths, types)

    def _timestamp(self, value: float | str | None, record_ms: int) -> int:
        time = record_ms * 1000 if value is None else microseconds(value, self._times.zone)
        what = "the record's own time" if value is None else shown(value)
        if time < self._times.minimum:
            raise Refused(
                "implausible_timestamp",
                f"{what} is before events.min_timestamp; send epoch seconds, milliseconds or ISO 8601",
            )
        latest = self._times.latest(np.array([record_ms]))
        if latest is not None and time > (latest if isinstance(latest, int) else latest[0]):
            since = "its record" if self._times.now is None else "now"
            raise Refused("future_timestamp", f"{what} is later than {since} by more than events.max_future")
        return time


def _carried(message: dict[str, Any], path: Path | None) -> SegmentValue:
    """Return a segment's value, or an id; what is no text, number or boolean counts as missing."""
    try:
        value = value_at(message, path)
    except Refused:
        return None
    if isinstance(value, str):
        return value if is_text(value) else None
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, int | float | bool) else None
