"""The fast reading of labels and predictions: a column of class codes, or of sets of classes.

Rows that are not plainly sound are marked, and read by `monitor.events.message`.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from itertools import chain
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from monitor.events.classes import class_codes, vector_order
from monitor.events.decisions import Decisions
from monitor.events.scores import Mask
from monitor.events.spec import OTHER, UNLABELED, ModelSpec
from monitor.events.values import packed

_DOUBTFUL = -2
_ABSENT = -2

_ZERO_ONE = {0: 1, 1: 1}


class TargetReader(Protocol):
    """Reads n labels or predictions as sent. A column is None where no message has one."""

    def labels(self, column: list[Any] | None, versions: list[str]) -> tuple[Decisions, Mask]:
        """Return labels as in `monitor.events.batch.Columns`, and which rows are sound."""

    def predictions(self, column: list[Any], versions: list[str]) -> tuple[Decisions, Mask, Mask]:
        """Return decisions, which rows have one, and which rows are sound."""


def target_reader(spec: ModelSpec) -> TargetReader:
    """Return what reads the labels and predictions of a model."""
    return ClassSets(spec) if spec.task == "multilabel" else ClassCodes(spec)


class _Codes(dict[object, int]):
    """Class codes, with an answer for what is not in the table."""

    def __init__(self, codes: dict[Any, int], unknown: int) -> None:
        super().__init__(codes)
        self._unknown = unknown

    def __missing__(self, key: object) -> int:
        return self._unknown


class ClassCodes:
    """One class an event."""

    def __init__(self, spec: ModelSpec) -> None:
        codes = class_codes(spec)
        self._label_codes = _Codes(codes | {None: UNLABELED}, _DOUBTFUL)
        self._prediction_codes = _Codes(codes | {None: _ABSENT}, OTHER)

    def labels(self, column: list[Any] | None, versions: list[str]) -> tuple[NDArray[np.int16], Mask]:
        """Return class codes, and which rows are sound."""
        if column is None:
            n = len(versions)
            return np.full(n, UNLABELED, dtype=np.int16), np.ones(n, dtype=np.bool_)
        codes, sound = _looked_up(self._label_codes, column)
        return codes, sound & (codes != _DOUBTFUL)

    def predictions(self, column: list[Any], versions: list[str]) -> tuple[NDArray[np.int16], Mask, Mask]:
        """Return class codes, which rows have one, and which rows are sound."""
        codes, sound = _looked_up(self._prediction_codes, column)
        return codes, codes != _ABSENT, sound


class ClassSets:
    """Any number of classes an event."""

    def __init__(self, spec: ModelSpec) -> None:
        codes = class_codes(spec)
        self._size = len(spec.classes)
        self._codes = _Codes(codes, OTHER)
        self._orders = {
            version: np.array(vector_order(spec, codes, version)) for version in spec.version_classes
        }

    def labels(self, column: list[Any] | None, versions: list[str]) -> tuple[NDArray[np.int8], Mask]:
        """Return a 0/1 column for each class, and which rows are sound."""
        n = len(versions)
        if column is None:
            return np.full((n, self._size), UNLABELED, dtype=np.int8), np.ones(n, dtype=np.bool_)
        sets, given, sound = self.predictions(column, versions)
        sound &= sets[:, OTHER] == 0
        labels = np.ascontiguousarray(sets[:, :OTHER])
        labels[~given] = UNLABELED
        return labels, sound

    def predictions(self, column: list[Any], versions: list[str]) -> tuple[NDArray[np.int8], Mask, Mask]:
        """Return a 0/1 column for each class and one for others, which rows have one, which are sound."""
        n = len(column)
        sets = np.zeros((n, self._size + 1), dtype=np.int8)
        given = np.array([value is not None for value in column])
        sound = np.ones(n, dtype=np.bool_)
        rows = np.flatnonzero(given)
        lists = [value if type(value) is list else [value] for value in column if value is not None]
        flat = list(chain.from_iterable(lists))
        length = np.array(list(map(len, lists)))
        vectors = self._vectors(flat) if (length == self._size).all() else None
        if vectors is None:
            sets[rows], sound[rows] = self._named(flat, length)
        else:
            sets[rows, :OTHER] = vectors
            for version in set(versions) & self._orders.keys():
                chosen = given & [v == version for v in versions]
                sets[np.ix_(np.flatnonzero(chosen), self._orders[version])] = sets[chosen, :OTHER]
        return sets, given, sound

    def _vectors(self, flat: Sequence[Any]) -> NDArray[np.float64] | None:
        """Return 0/1 vectors as rows, None where there is anything but 0 and 1."""
        try:
            values = packed(flat, np.float64)
        except struct.error:  # a text
            return None
        return values.reshape(-1, self._size) if ((values == 0) | (values == 1)).all() else None

    def _named(self, flat: Sequence[Any], length: NDArray[np.int64]) -> tuple[NDArray[np.int8], Mask]:
        """Return sets of lists of classes, and which are none of those that may be vectors."""
        row = np.repeat(np.arange(len(length)), length)
        sets = np.zeros((len(length), self._size + 1), dtype=np.int8)
        sets[row, packed(list(map(self._codes.__getitem__, flat)), np.int16)] = 1
        numbers = packed(list(map(_Codes(_ZERO_ONE, 0).__getitem__, flat)), np.int8)
        binary = np.bincount(row, numbers, len(length)) == length
        vector = binary & ((length == self._size) | (sets.sum(axis=1) < length))
        return sets, ~vector


def _looked_up(table: _Codes, column: list[Any]) -> tuple[NDArray[np.int16], Mask]:
    """Return codes, and which values were no lists."""
    sound = np.ones(len(column), dtype=np.bool_)
    try:
        codes = list(map(table.__getitem__, column))
    except TypeError:  # lists come where another model is multilabel
        sound = np.array([type(value) is not list for value in column])
        codes = [table[value] if plain else table[None] for value, plain in zip(column, sound, strict=True)]
    return packed(codes, np.int16), sound
