"""What decoding and counting must know about a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

UNLABELED = -1
"""Label code of an event whose true class is not known."""

OTHER = -1
"""Decision code of a prediction that is none of the classes: a miss of the true class."""

Task = Literal["binary", "multiclass", "multilabel"]


class Kind(NamedTuple):
    """How events are counted: events of models of one kind can be counted together.

    `scored` are the codes of the classes with score columns, `temperature` divides raw logits (None:
    scores are probabilities).
    """

    task: Task
    classes: int
    scored: tuple[int, ...]
    top_k: tuple[int, ...]
    temperature: float | None


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """How the events of one configured model are read.

    Attributes
    ----------
    name
        The model's name, or "*" for models that are not named in the configuration.
    task
        "binary", "multiclass" or "multilabel".
    classes
        Class names; their order is the order of score vectors and of class codes.
    positive
        Index of the positive class in `classes` (binary), else None.
    integers
        What an integer label means: one of the class names, or an index into `classes`.
    aliases
        Further texts for classes: alias to class name.
    thresholds
        Probability from which on each scored class is decided, ties included; empty in multiclass tasks.
    scores
        What the scores of messages are.
    temperature
        Divides logits before they become probabilities.
    top_k
        For which k the true class is looked for among the k greatest scores (multiclass).
    segments
        Segment keys that are kept.
    version_classes
        Order of the score vector where a version's differs: version to a permutation of `classes`.
    """

    name: str
    task: Task
    classes: tuple[str, ...]
    positive: int | None = None
    integers: Literal["names", "indices"] = "indices"
    aliases: Mapping[str, str] = field(default_factory=dict)
    thresholds: tuple[float, ...] = ()
    scores: Literal["probability", "logit"] = "probability"
    temperature: float = 1.0
    top_k: tuple[int, ...] = ()
    segments: tuple[str, ...] = ()
    version_classes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def scored(self) -> tuple[int, ...]:
        """Classes that have a score column: the positive one (binary), or all."""
        return tuple(range(len(self.classes))) if self.positive is None else (self.positive,)

    @property
    def raw_logits(self) -> bool:
        """Whether scores are kept as they were sent, as logits (multiclass ones become probabilities)."""
        return self.scores == "logit" and self.task != "multiclass"

    @property
    def kind(self) -> Kind:
        """How its events are counted."""
        temperature = self.temperature if self.raw_logits else None
        return Kind(self.task, len(self.classes), self.scored, self.top_k, temperature)
