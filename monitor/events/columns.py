"""The fast reading: plain messages of one configured model into columns.

Every row that is not plainly a valid event is marked, and read by `monitor.events.message`.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from monitor.events.classes import class_codes
from monitor.events.draft import Draft
from monitor.events.layout import Messages
from monitor.events.scores import Floats, clip, normalise
from monitor.events.spec import OTHER, UNLABELED, ModelSpec
from monitor.events.times import REFUSED, TimeRules, epoch_microseconds, microseconds
from monitor.events.values import Refused, as_text, packed

Mask = NDArray[np.bool_]

_DOUBTFUL = -2
_ABSENT = -2


class _Codes(dict[object, int]):
    """Class codes, with an answer for what is not in the table."""

    def __init__(self, codes: dict[object, int], absent: int, unknown: int) -> None:
        super().__init__(codes)
        self[None] = absent
        self._unknown = unknown

    def __missing__(self, key: object) -> int:
        return self._unknown


class ColumnReader:
    """Reads messages of one configured model, or of all that share the entry "*".

    Parameters
    ----------
    spec
        The model.
    times
        How timestamps are read.
    """

    def __init__(self, spec: ModelSpec, times: TimeRules) -> None:
        self._spec = spec
        self._times = times
        codes = class_codes(spec)
        self._class_of = codes
        self._label_codes = _Codes(codes, absent=UNLABELED, unknown=_DOUBTFUL)
        self._prediction_codes = _Codes(codes, absent=_ABSENT, unknown=OTHER)
        self._orders = {
            version: [order.index(name) for name in spec.classes]
            for version, order in spec.version_classes.items()
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
        label = _codes(self._label_codes, messages.field("label"), n)
        ok &= label != _DOUBTFUL
        prediction = messages.field("prediction")
        decided = None if prediction is None else _codes(self._prediction_codes, prediction, n)
        if self._spec.positive is None:
            scores = self._vectors(messages.field("scores"), versions, ok)
            score = scores.astype(np.float32)
            decision = np.argmax(score, axis=1).astype(np.int16)
        else:
            p = self._binary(messages, versions, decided, self._spec.positive, ok)
            score = p.astype(np.float32)[:, None]
            chosen = score[:, 0] >= np.float32(self._spec.threshold)
            decision = np.where(chosen, self._spec.positive, 1 - self._spec.positive).astype(np.int16)
        if decided is not None:
            decision = np.where(decided == _ABSENT, decision, decided)
            ok &= (decided != _ABSENT) | ~np.isnan(score[:, 0])
        else:
            ok &= ~np.isnan(score[:, 0])
        segments = tuple(messages.segment(key) for key in self._spec.segments)
        return Draft(rows, models, versions, timestamp, label, decision, score, segments), ok

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

    def _binary(
        self,
        messages: Messages,
        versions: list[str],
        decided: NDArray[np.int16] | None,
        positive: int,
        ok: Mask,
    ) -> Floats:
        """Return the positive class's probability, NaN where there is none."""
        n = len(messages)
        column = messages.field("score")
        p = np.full(n, np.nan) if column is None else _optional_floats(column)
        vectors = messages.field("scores")
        if vectors is not None:
            unscored = np.isnan(p)
            vectors = [v if needed else None for v, needed in zip(vectors, unscored.tolist(), strict=True)]
            p = np.where(unscored, self._vectors(vectors, versions, ok)[:, positive], p)
        confidence = None if decided is None else messages.field("confidence")
        if decided is not None and confidence is not None:
            c = _optional_floats(confidence)
            c = np.where(decided == positive, c, np.where(decided >= 0, 1.0 - c, np.nan))
            p = np.where(np.isnan(p), c, p)
        clipped, inside = clip(p)
        ok &= inside | np.isnan(p)
        return clipped

    def _vectors(self, column: list[Any] | None, versions: list[str], ok: Mask) -> Floats:
        """Return probabilities in the order of the classes, rows of NaN where there are none."""
        n, width = len(ok), len(self._spec.classes)
        p = np.full((n, width), np.nan)
        if column is None:
            return p
        try:
            plain = not self._orders and list(map(len, column)).count(width) == n
            flat = packed(list(chain.from_iterable(column)), np.float64) if plain else None
        except (TypeError, struct.error):  # a gap, or an object of class: value
            flat = None
        if flat is not None:
            p = flat.reshape(n, width)
            given = np.arange(n)
        else:
            ordered = [self._ordered(v, version) for v, version in zip(column, versions, strict=True)]
            absent = np.array([v is None for v in column])
            usable = np.array([v is not None for v in ordered])
            ok &= usable | absent
            given = np.flatnonzero(usable)
            if not len(given):
                return p
            p[given] = [v for v in ordered if v is not None]
        clipped, inside = clip(p[given])
        normalised, close, _ = normalise(clipped)
        ok[given] &= inside.all(axis=1) & close
        p[given] = normalised
        return p

    def _ordered(self, scores: list[float] | dict[str, float] | None, version: str) -> list[float] | None:
        if scores is None or len(scores) != len(self._spec.classes):
            return None
        if isinstance(scores, dict):
            by_class = {self._class_of.get(name): value for name, value in scores.items()}
            try:
                return [by_class[i] for i in range(len(self._spec.classes))]
            except KeyError:
                return None
        order = self._orders.get(version)
        return scores if order is None else [scores[i] for i in order]


def texts(column: list[Any] | None, n: int, absent: str = "") -> list[str]:
    """Return names and versions as texts, `absent` where there is none."""
    if column is None:
        return [absent] * n
    first = column[0]
    if type(first) is str and column.count(first) == n:
        return [first or absent] * n  # one object: what compares these later compares pointers
    return [(v if type(v) is str else "" if v is None else as_text(v)) or absent for v in column]


def _codes(table: _Codes, column: Iterable[object] | None, n: int) -> NDArray[np.int16]:
    if column is None:
        return np.full(n, table[None], dtype=np.int16)
    return packed(list(map(table.__getitem__, column)), np.int16)


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
