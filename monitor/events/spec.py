"""What decoding must know about a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

UNLABELED = -1
"""Label code of an event whose true class is not known."""

OTHER = -1
"""Decision code of a prediction that is none of the classes: a miss of the true class."""


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """How the events of one configured model are read.

    Attributes
    ----------
    name
        The model's name, or "*" for models that are not named in the configuration.
    task
        "binary" or "multiclass".
    classes
        Class names; their order is the order of score vectors and of class codes.
    positive
        Index of the positive class in `classes` (binary), else None.
    integers
        What an integer label means: one of the class names, or an index into `classes`.
    aliases
        Further texts for classes: alias to class name.
    threshold
        Binary decision threshold, already rounded to float32; score >= threshold is positive.
    segments
        Segment keys that are kept.
    version_classes
        Order of the score vector where a version's differs: version to a permutation of `classes`.
    """

    name: str
    task: Literal["binary", "multiclass"]
    classes: tuple[str, ...]
    positive: int | None = None
    integers: Literal["names", "indices"] = "indices"
    aliases: Mapping[str, str] = field(default_factory=dict)
    threshold: float = 0.5
    segments: tuple[str, ...] = ()
    version_classes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def scored(self) -> tuple[int, ...]:
        """Classes that have a score column: the positive one (binary), or all."""
        return tuple(range(len(self.classes))) if self.positive is None else (self.positive,)
