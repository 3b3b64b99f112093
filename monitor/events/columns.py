"""The fast reading: plain messages of one configured model into columns.

Every row that is not plainly a valid event is marked, and read by `monitor.events.message`.
"""

from __future__ import annotations

import struct
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from monitor.events.classes import class_codes, vector_order
from monitor.events.decisions import DecisionRule, Decisions
from monitor.events.draft import Draft
from monitor.events.identity import identities
from monitor.events.layout import Messages
from monitor.events.scores import Floats, Mask, read_score, read_vectors, rounded
from monitor.events.spec import ModelSpec
from monitor.events.targets import target_reader
from monitor.events.times import REFUSED, TimeRules, epoch_microseconds, microseconds
from monitor.events.values import Refused, as_text, packed


class ColumnReader:
    """Reads messages of one configured model, or of all that share the entry "*".

    Parameters
    ----------
    spec
        The model.
    times
        How timestamps are read.
    with_identities
        Whether ids are read.
    """

    def __init__(self, spec: ModelSpec, times: TimeRules, *, with_identities: bool) -> None:
        self._spec = spec
        self._times = times
        self._with_identities = with_identities
        self._targets = target_reader(spec)
        self._decide = DecisionRule(spec)
        self._codes = class_codes(spec)
        self._places = {
            version: np.argsort(vector_order(spec, self._codes, version)).tolist()
            for version in spec.version_classes
        }

    def read(
        self, messages: Messages, models: list[str], rows: NDArray[np.int64], record_ms: NDArray[np.int64]
    ) -> tuple[Draft, Mask]:
        """Return columns of all messages, and which rows of them are valid events.

        Parameters
        ----------
        messages
            n plain messages.
        models
            Their models' names.
        rows : int64, shape (n,)
            Where they stand in the batch.
        record_ms : int64, shape (n,)
            Their records' own times.
        """
        n = len(messages)
        ok = np.ones(n, dtype=np.bool_)
        versions = texts(messages.field("version"), n)
        timestamp = self._timestamps(messages, record_ms, ok)
        label, sound = self._targets.labels(messages.field("label"), versions)
        ok &= sound
        prediction = messages.field("prediction")
        if prediction is None:
            decided, given = None, np.zeros(n, dtype=np.bool_)
        else:
            decided, given, sound = self._targets.predictions(prediction, versions)
            ok &= sound
        score = rounded(self._scores(messages, versions, decided, ok))
        ok &= given | ~np.isnan(score[:, 0])
        decision = self._decide(score)
        if decided is not None:
            decision[given] = decided[given]
        segments = tuple(messages.segment(key) for key in self._spec.segments)
        identity = identities(messages.identity(), n) if self._with_identities else None
        return Draft(rows, models, versions, timestamp, label, decision, score, segments, identity), ok

    def _timestamps(self, messages: Messages, record_ms: NDArray[np.int64], ok: Mask) -> NDArray[np.int64]:
        column = messages.field("timestamp")
        if column is None:
            time = record_ms * 1000
        else:
            try:
                time = epoch_microseconds(packed(column, np.float64))
            except struct.error:  # texts, or gaps
                zone = self._times.zone
                time = np.array(
                    [
                        ms * 1000 if v is None else _time(v, zone)
                        for v, ms in zip(column, record_ms.tolist(), strict=True)
                    ]
                )
        ok &= time >= max(self._times.minimum, REFUSED + 1)
        latest = self._times.latest(record_ms)
        if latest is not None:
            ok &= time <= latest
        return time

    def _scores(self, messages: Messages, versions: list[str], decided: Decisions | None, ok: Mask) -> Floats:
        """Return the scores of the scored classes, NaN in rows without."""
        positive = self._spec.positive
        vectors = messages.field("scores")
        if positive is None:
            return self._vectors(vectors, versions, ok)
        column = messages.field("score")
        score = np.full(len(messages), np.nan) if column is None else _optional_floats(column)
        confidence = messages.field("confidence") if self._spec.scores == "probability" else None
        if decided is not None and confidence is not None:
            unscored = np.isnan(score) if vectors is None else np.isnan(score) & [v is None for v in vectors]
            c = _optional_floats(confidence)
            c = np.where(decided == positive, c, np.where(decided >= 0, 1.0 - c, np.nan))
            score = np.where(unscored, c, score)
        absent = np.isnan(score)
        score, sound = read_score(self._spec, score)
        ok &= sound | absent
        if vectors is not None:
            needed = [v if none else None for v, none in zip(vectors, absent.tolist(), strict=True)]
            score = np.where(absent, self._vectors(needed, versions, ok)[:, 0], score)
        return score[:, None]

    def _vectors(self, column: list[Any] | None, versions: list[str], ok: Mask) -> Floats:
        """Return the scores of the scored classes, rows of NaN where there are none."""
        n, width = len(ok), len(self._spec.classes)
        scores = np.full((n, len(self._spec.scored)), np.nan)
        if column is None:
            return scores
        try:
            plain = not self._places and list(map(len, column)).count(width) == n
            flat = packed(list(chain.from_iterable(column)), np.float64) if plain else None
        except (TypeError, struct.error):  # a gap, or an object of class: value
            flat = None
        if flat is not None:
            scores, sound = read_vectors(self._spec, flat.reshape(n, width))
            ok &= sound
            return scores
        ordered = [self._ordered(v, version) for v, version in zip(column, versions, strict=True)]
        absent = np.array([v is None for v in column])
        usable = np.array([v is not None for v in ordered])
        ok &= usable | absent
        given = np.flatnonzero(usable)
        if len(given):
            scores[given], sound = read_vectors(self._spec, np.array([v for v in ordered if v is not None]))
            ok[given] &= sound
        return scores

    def _ordered(self, scores: list[float] | dict[str, float] | None, version: str) -> list[float] | None:
        if scores is None or len(scores) != len(self._spec.classes):
            return None
        if isinstance(scores, dict):
            by_class = {self._codes.get(name): value for name, value in scores.items()}
            try:
                return [by_class[i] for i in range(len(self._spec.classes))]
            except KeyError:
                return None
        places = self._places.get(version)
        return scores if places is None else [scores[i] for i in places]


def texts(column: list[Any] | None, n: int, absent: str = "") -> list[str]:
    """Return names and versions as texts, `absent` where there is none."""
    if column is None:
        return [absent] * n
    first = column[0]
    if type(first) is str and column.count(first) == n:
        return [first or absent] * n  # one object: what compares these later compares pointers
    return [(v if type(v) is str else "" if v is None else as_text(v)) or absent for v in column]


def _optional_floats(column: list[float | None]) -> Floats:
    try:
        return packed(column, np.float64)
    except struct.error:
        return np.array(column, dtype=np.float64)


def _time(value: float | str, zone: Any) -> int:
    try:
        return microseconds(value, zone)
    except Refused:
        return REFUSED
