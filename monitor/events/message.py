"""The reference reading of one message: slow, complete, and the source of every refusal's text.

`monitor.events.columns` reads the plain case many messages at a time and leaves whatever it doubts to
this module; a property test holds the two together.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from monitor.events.classes import class_code, class_codes
from monitor.events.fields import FieldPaths, Path
from monitor.events.parsing import parse_object, value_at
from monitor.events.scores import clip, normalise
from monitor.events.spec import OTHER, UNLABELED, ModelSpec
from monitor.events.times import TimeRules, microseconds
from monitor.events.types import Fields, check_types
from monitor.events.values import Refused, as_text, is_text, shown

SegmentValue = str | int | float | bool | None


class Event(NamedTuple):
    """One valid event.

    Attributes
    ----------
    timestamp
        Microseconds since the epoch.
    label, decision
        Class indices, UNLABELED, OTHER.
    scores
        Probability of each scored class; NaN without scores.
    segments
        Value of each kept segment key, None where it is missing.
    """

    model: str
    version: str
    timestamp: int
    label: int
    decision: int
    scores: tuple[float, ...]
    segments: tuple[SegmentValue, ...]


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
        self._codes = {name: class_codes(spec) for name, spec in models.items()}

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
        fields = self._fields(message)
        version = "" if fields.version is None else as_text(fields.version)
        timestamp = self._timestamp(fields.timestamp, record_ms)
        codes = self._codes[name]
        label = UNLABELED if fields.label is None else class_code(spec, codes, fields.label)
        prediction = None if fields.prediction is None else _prediction(spec, codes, fields.prediction)
        if spec.positive is None:
            scores = None if fields.scores is None else _vector(spec, codes, fields.scores, version)
        else:
            score = _binary_score(spec, spec.positive, codes, fields, version, prediction)
            scores = None if score is None else [score]
        if prediction is not None:
            decision = prediction
        elif scores is not None:
            decision = _decide(spec, scores)
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
            tuple(scores) if scores is not None else (float("nan"),) * len(spec.scored),
            tuple(_segment(message, self._paths.segments.get(key)) for key in spec.segments),
        )

    def _fields(self, message: dict[str, Any]) -> Fields:
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
        return check_types(found, self._paths)

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


def _prediction(spec: ModelSpec, codes: dict[object, int], value: Any) -> int:
    try:
        return class_code(spec, codes, value)
    except Refused:  # abstained, or a class we do not know: refusing the event would raise recall
        return OTHER


def _vector(
    spec: ModelSpec, codes: dict[object, int], scores: list[float] | dict[str, float], version: str
) -> list[float]:
    """Return probabilities in the order of `spec.classes`."""
    if isinstance(scores, list):
        order = spec.version_classes.get(version, spec.classes)
        by_class = dict(zip((spec.classes.index(name) for name in order), scores, strict=False))
    else:
        by_class = {class_code(spec, codes, name): value for name, value in scores.items()}
    if len(scores) != len(spec.classes) or len(by_class) != len(scores):
        raise Refused(
            "wrong_length",
            f"scores: expected one number for each of {len(spec.classes)} classes, got {len(scores)}",
        )
    p = np.array([[by_class[i] for i in range(len(spec.classes))]], dtype=np.float64)
    clipped, inside = clip(p)
    if not inside.all():
        raise _out_of_range("scores", p[~inside][0])
    normalised, close, total = normalise(clipped)
    if not close[0]:
        raise Refused(
            "not_normalised",
            f"scores: their sum is {float(total[0]):.6g}, not 1; if these are logits set scores: logit",
        )
    return [float(x) for x in normalised[0]]


def _binary_score(
    spec: ModelSpec,
    positive: int,
    codes: dict[object, int],
    fields: Fields,
    version: str,
    prediction: int | None,
) -> float | None:
    """Return the probability of the positive class: from score, else scores, else confidence."""
    if fields.score is not None:
        field, score = "score", fields.score
    elif fields.scores is not None:
        return _vector(spec, codes, fields.scores, version)[positive]
    elif fields.confidence is not None and prediction is not None and prediction != OTHER:
        field, score = "confidence", fields.confidence if prediction == positive else 1.0 - fields.confidence
    else:
        return None
    clipped, inside = clip(np.array([score], dtype=np.float64))
    if not inside[0]:
        raise _out_of_range(field, score)
    return float(clipped[0])


def _out_of_range(field: str, value: float) -> Refused:
    return Refused(
        "out_of_range",
        f"{field}: {float(value):.6g} is no probability in [0, 1]; if these are logits set scores: logit",
    )


def _decide(spec: ModelSpec, scores: list[float]) -> int:
    rounded = np.array(scores, dtype=np.float32)
    if spec.positive is None:
        return int(np.argmax(rounded))
    return spec.positive if rounded[0] >= np.float32(spec.threshold) else 1 - spec.positive


def _segment(message: dict[str, Any], path: Path | None) -> SegmentValue:
    """Return a segment's value; what is no text, number or boolean counts as missing."""
    try:
        value = value_at(message, path)
    except Refused:
        return None
    if isinstance(value, str):
        return value if is_text(value) else None
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, int | float | bool) else None
