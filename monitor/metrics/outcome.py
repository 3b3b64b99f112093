"""What a metric returns for a batch of cases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch

from monitor.metrics.labels import LabelSets

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
    "not_for_multilabel",
    "too_few_events",
    "k_not_below_classes",
    "equal_scores",
    "separated",
    "low_support",
    "no_variance",
    "no_interval_method",
)
"""Why a value or an interval is missing; `Outcome.reason` and `no_interval` hold indices into this."""

Method = Literal["wilson", "effective_n", "logit_t", "wald_t", "bootstrap"]


@dataclass(frozen=True, slots=True)
class Interval:
    """Bounds and the standard error they rest on: float64, shapes as the value; NaN where there is none.

    Attributes
    ----------
    method
        Of all values, or of each of the X label sets.
    """

    method: Method | tuple[Method, ...]
    lower: torch.Tensor
    upper: torch.Tensor
    standard_error: torch.Tensor


@dataclass(frozen=True, slots=True)
class Outcome:
    """Values of one family: B cases x X label sets.

    Attributes
    ----------
    labels
        Where the X label sets come from (`labels.label_sets` gives those of a model).
    value : float64, shape (B, X)
        NaN exactly where `reason` is not 0.
    reason : int64, shape (B, X)
        Index into REASONS.
    support : int64, shape (B, X)
        Events that the value rests on.
    low_support : bool, shape (B, X)
        Whether they are too few to judge by.
    numerator, denominator : int64 or float64, shape (B, X), optional
        Where the value is a ratio of counts (or, with ties broken at random, of expected ones).
    interval, optional
        The analytic one.
    no_interval : int64, shape (B, X)
        Index into REASONS: why a defined value has no interval; 0 where it has one.
    resolution_error : float64, shape (B, X), optional
        Proven bound on the distance from the value that unbinned scores would give.
    """

    labels: LabelSets
    value: torch.Tensor
    reason: torch.Tensor
    support: torch.Tensor
    low_support: torch.Tensor
    no_interval: torch.Tensor
    numerator: torch.Tensor | None = None
    denominator: torch.Tensor | None = None
    interval: Interval | None = None
    resolution_error: torch.Tensor | None = None
