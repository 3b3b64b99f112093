"""What a metric returns for a batch of cases."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import torch

REASONS = (
    "",
    "no_events",
    "no_labels",
    "no_scores",
    "no_positives",
    "no_negatives",
    "never_predicted",
    "never_rejected",
    "one_class",
    "no_decisions_or_positives",
    "too_few_negatives",
    "class_never_predicted",
    "no_class_defined",
    "no_unlabeled_events",
)
"""Why a value is undefined; `Outcome.reason` holds indices into this, 0 where it is defined."""


@dataclass(frozen=True, slots=True)
class Parameters:
    """What of a model's configuration the metrics need.

    Attributes
    ----------
    classes
        Class names in the order of the counts.
    positive
        Index of the positive class (binary), else None (multiclass).
    threshold
        Decision threshold (binary).
    max_fpr
        False-positive rates of partial AUC and recall at FPR.
    beta
        sqrt(cost of a false negative / cost of a false positive), None without costs.
    confidence_level
        Of the intervals.
    """

    classes: tuple[str, ...]
    positive: int | None
    threshold: float
    max_fpr: tuple[float, ...]
    beta: float | None
    confidence_level: float


@dataclass(frozen=True, slots=True)
class Interval:
    """Bounds of one method, shapes as the value; NaN where there is none."""

    method: Literal["wilson", "effective_n", "logit_t", "wald_t", "bootstrap"]
    lower: torch.Tensor
    upper: torch.Tensor


@dataclass(frozen=True, slots=True)
class Outcome:
    """Values of one family: B cases x X label sets.

    Attributes
    ----------
    labels
        X label sets of the family beyond model, version, window and segment, as ((name, value), ...)
        with every value a str.
    value : float64, shape (B, X)
        NaN exactly where `reason` is not 0.
    reason : int64, shape (B, X)
        Index into REASONS.
    support : int64, shape (B, X)
        Events that the value rests on.
    numerator, denominator : int64, shape (B, X), optional
        Where the value is a ratio of counts.
    intervals
        One entry a method.
    resolution_error : float64, shape (B, X), optional
        Proven bound on the distance from the value that unbinned scores would give.
    """

    labels: tuple[tuple[tuple[str, str], ...], ...]
    value: torch.Tensor
    reason: torch.Tensor
    support: torch.Tensor
    numerator: torch.Tensor | None = None
    denominator: torch.Tensor | None = None
    intervals: tuple[Interval, ...] = field(default_factory=tuple)
    resolution_error: torch.Tensor | None = None
