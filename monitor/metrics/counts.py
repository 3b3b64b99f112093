"""The integers that every metric is computed from."""

from __future__ import annotations

from dataclasses import dataclass

import torch


@dataclass(frozen=True, slots=True)
class Counts:
    """B cases (model version x window x segment) of one model's task: C classes, R scored classes.

    Every tensor is int64 except `exact`. R is 1 (the positive class) in binary tasks and C in
    multiclass ones. Fixed-point sums are in units of 2**-30 (scores, squared errors) and 2**-26
    (log loss).

    Attributes
    ----------
    events : shape (B,)
        All valid events, unlabeled ones included.
    decisions : shape (B, C + 1)
        Events by decided class, unlabeled ones included; the last column is "other".
    confusion : shape (B, C, C + 1)
        Labeled events by true class (rows) and decision (columns; the last is "other").
    score_events : shape (B,)
        Events with scores, unlabeled ones included.
    score_sum : shape (B, R)
        Sum of scores over those.
    squared_error : shape (B, R, 2)
        Sum of (y - p)**2 over labeled, scored events whose true class is not (0) or is (1) this one.
    loss : shape (B, R, 2)
        Sum of the one-vs-rest log loss, split likewise.
    positives, negatives : shape (B, R, G)
        Groups of equal score in descending order: labeled, scored events of this class, and of the
        others. Groups without events may stand anywhere.
    exact : bool, shape (B, R)
        Whether each group is one score; else neighbouring scores were merged and a group is a bin.
    """

    events: torch.Tensor
    decisions: torch.Tensor
    confusion: torch.Tensor
    score_events: torch.Tensor
    score_sum: torch.Tensor
    squared_error: torch.Tensor
    loss: torch.Tensor
    positives: torch.Tensor
    negatives: torch.Tensor
    exact: torch.Tensor
