"""Limits on what is told apart: models, versions of a model, values of a segment key."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from monitor.events.draft import Draft
from monitor.events.message import Rejection, SegmentValue
from monitor.events.values import as_text, packed, shown
from monitor.events.vocabulary import MAX_LENGTH, Vocabulary


class _SegmentCodes(dict[object, int]):
    """Codes by value as sent. Texts alone are kept: as keys 1, 1.0 and True would be one."""

    def __init__(self, vocabulary: Vocabulary, limits_reached: Counter[str]) -> None:
        super().__init__({None: vocabulary.code(None)})
        self._vocabulary = vocabulary
        self._limits_reached = limits_reached

    def __missing__(self, value: str | int | float | bool) -> int:
        overflowed = self._vocabulary.overflowed
        code = self._vocabulary.code(as_text(value))
        if self._vocabulary.overflowed != overflowed:
            self._limits_reached["segment_values"] += 1
        elif isinstance(value, str):
            self[value] = code
        return code


class Admission:
    """Who has a place, in the order of first valid events.

    Parameters
    ----------
    named
        Configured models: each has a place of its own.
    max_models, max_versions, segment_values
        The limits.
    limits_reached
        Counts the events that found no place, by limit.
    """

    def __init__(
        self,
        named: Collection[str],
        max_models: int,
        max_versions: int,
        segment_values: int,
        limits_reached: Counter[str],
    ) -> None:
        self._named = frozenset(named)
        self._unnamed_places = max_models - len(self._named)
        self._max_models = max_models
        self._max_versions = max_versions
        self._segment_values = segment_values
        self._limits_reached = limits_reached
        self._versions: dict[str, set[str]] = {}
        self._vocabularies: dict[str, dict[str, Vocabulary]] = defaultdict(dict)
        self._codes: dict[tuple[str, str], _SegmentCodes] = {}

    def admit(self, model: str, version: str) -> Rejection | None:
        """Take a place, or return why there is none."""
        for what, name in (("model", model), ("version", version)):
            if len(name) > MAX_LENGTH:
                detail = f"{what}: {shown(name)} has {len(name)} characters; send at most {MAX_LENGTH}"
                return Rejection("too_large", detail, model if what == "version" else "")
        versions = self._versions.get(model)
        if versions is None:
            if model not in self._named and len(self._versions.keys() - self._named) >= self._unnamed_places:
                return Rejection(
                    "too_many_models",
                    f"limits.models allows {self._max_models}; {shown(model)} is one more",
                    "",
                )
            versions = self._versions[model] = set()
        if version not in versions:
            if len(versions) >= self._max_versions:
                return Rejection(
                    "too_many_models",
                    f"limits.versions_per_model allows {self._max_versions}; {shown(version)} is one more",
                    model,
                )
            versions.add(version)
        return None

    def forget(self, model: str, version: str) -> None:
        """Free a place."""
        versions = self._versions.get(model, set())
        versions.discard(version)
        if not versions:
            self._versions.pop(model, None)
            for key in self._vocabularies.pop(model, ()):
                self._codes.pop((model, key), None)

    def resume(
        self,
        places: Iterable[tuple[str, str]],
        vocabularies: Mapping[tuple[str, str], tuple[Iterable[str], int]],
    ) -> None:
        """Give back what was taken before, whatever the limits are now.

        Parameters
        ----------
        places
            Models and versions.
        vocabularies
            Of each model and segment key the names in the order of their codes, and how many overflowed.
        """
        for model, version in places:
            self._versions.setdefault(model, set()).add(version)
        for (model, key), (names, overflowed) in vocabularies.items():
            self._vocabularies[model][key] = Vocabulary.of(self._segment_values, names, overflowed)

    def vocabularies(self) -> dict[tuple[str, str], tuple[list[str], int]]:
        """Return copies of all vocabularies as `resume` takes them."""
        return {
            (model, key): (vocabulary.names, vocabulary.overflowed)
            for model, of_model in self._vocabularies.items()
            for key, vocabulary in of_model.items()
        }

    def filter(self, draft: Draft) -> tuple[Draft, list[tuple[int, Rejection]]]:
        """Return the events that have a place, and rejections of the others by row."""
        n = len(draft.rows)
        one = draft.models.count(draft.models[0]) == n and draft.versions.count(draft.versions[0]) == n
        names = (
            [(draft.models[0], draft.versions[0])]
            if one
            else list(zip(draft.models, draft.versions, strict=True))
        )
        refused = {
            name: refusal for name in dict.fromkeys(names) if (refusal := self.admit(*name)) is not None
        }
        if not refused:
            return draft, []
        keep = np.array([name not in refused for name in (names * n if one else names)])
        over = []
        for row, model, version in zip(draft.rows.tolist(), draft.models, draft.versions, strict=True):
            refusal = refused.get((model, version))
            if refusal is not None:
                over.append((row, refusal))
                if refusal.reason == "too_many_models":
                    self._limits_reached["versions_per_model" if refusal.model else "models"] += 1
        return draft.select(keep), over

    def vocabulary(self, model: str, key: str) -> Vocabulary:
        """Return the values of a model's segment key."""
        known = self._vocabularies[model]
        if key not in known:
            known[key] = Vocabulary(self._segment_values)
        return known[key]

    def segment_codes(
        self, models: Sequence[str], key: str, values: Sequence[SegmentValue]
    ) -> NDArray[np.int16]:
        """Return the codes of n values of a segment key, each of the model beside it."""
        if models.count(models[0]) == len(models):
            codes = list(map(self._codes_of(models[0], key).__getitem__, values))
        else:
            code_of = {model: self._codes_of(model, key).__getitem__ for model in set(models)}
            codes = [code_of[model](value) for model, value in zip(models, values, strict=True)]
        return packed(codes, np.int16)

    def _codes_of(self, model: str, key: str) -> _SegmentCodes:
        codes = self._codes.get((model, key))
        if codes is None:
            codes = self._codes[model, key] = _SegmentCodes(self.vocabulary(model, key), self._limits_reached)
        return codes
