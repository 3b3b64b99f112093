"""What the metrics need to know of a model's configuration."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Literal

Task = Literal["binary", "multiclass", "multilabel"]


@dataclass(frozen=True)
class Parameters:
    """Of one model.

    Attributes
    ----------
    task
        What the labels of an event are.
    classes
        Class names in the order of the counts.
    positive
        Index of the positive class (binary), else None.
    thresholds
        Probability from which on a scored class is decided; empty in multiclass tasks.
    max_fpr
        False-positive rates of partial AUC and recall at FPR.
    at_k
        How many of the highest-scored events precision and recall at k are about: an int, or a share
        of the events as a float below 1.
    top_k
        Numbers of greatest scores for top-k accuracy (multiclass).
    costs
        Of a false negative and of a false positive (binary; multilabel: of each label), or the matrix of
        costs by true class (rows) and decision (multiclass); None without.
    min_recall
        Recall that `best_threshold{criterion="min_fpr_at_recall"}` must reach; None without.
    reference_prevalence
        Of each scored class; None without.
    confidence_level
        Of the intervals.
    """

    task: Task
    classes: tuple[str, ...]
    positive: int | None = None
    thresholds: tuple[float, ...] = ()
    max_fpr: tuple[float, ...] = ()
    at_k: tuple[int | float, ...] = ()
    top_k: tuple[int, ...] = ()
    costs: tuple[float, float] | tuple[tuple[float, ...], ...] | None = None
    min_recall: float | None = None
    reference_prevalence: tuple[float, ...] | None = None
    confidence_level: float = 0.95

    def __hash__(self) -> int:
        """Return a hash that is computed once: labels are looked up for every family of every window."""
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash(tuple(getattr(self, field.name) for field in fields(self)))

    @property
    def scored(self) -> tuple[str, ...]:
        """Names of the classes that have scores: the positive one (binary), or all."""
        return self.classes if self.positive is None else (self.classes[self.positive],)

    @property
    def pair_costs(self) -> tuple[float, float] | None:
        """Cost of a false negative and of a false positive, where one class is decided at a time."""
        if self.costs is None or self.task == "multiclass":
            return None
        false_negative, false_positive = self.costs
        assert not isinstance(false_negative, tuple)
        assert not isinstance(false_positive, tuple)
        return false_negative, false_positive

    @property
    def beta(self) -> float | None:
        """sqrt(cost of a false negative / cost of a false positive), None without such costs."""
        costs = self.pair_costs
        return None if costs is None else float((costs[0] / costs[1]) ** 0.5)

    @property
    def shape(self) -> tuple[object, ...]:
        """What models must have in common to be computed in one batch; all else may differ."""
        return (
            self.task,
            len(self.classes),
            len(self.max_fpr),
            len(self.at_k),
            len(self.top_k),
            self.costs is None,
            self.min_recall is None,
            self.reference_prevalence is None,
            self.confidence_level,
        )
