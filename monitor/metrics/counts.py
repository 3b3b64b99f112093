"""The integers that every metric is computed from."""

from __future__ import annotations

from dataclasses import dataclass, fields

import torch

CELLS = 30
"""Equal cells of [0, 1], left-closed, the last one closed: they merge to 15 and to 10."""

SCORE_UNIT = 2.0**-30
"""One unit in the sums of probabilities, of their squares and products, and of shares of events."""

LOSS_UNIT = 2.0**-26
"""One unit in the sums of log losses and of their squares."""


@dataclass(frozen=True, slots=True)
class Counts:
    """B cases (model version x window x segment) of one task: C classes, R scored classes.

    R is 1 (the positive class) in binary tasks, else C. There are T rows of scores: those of the scored
    classes and, in multiclass tasks, one more: the greatest score ("top label", `positives` where it is
    the true class's; ties: the lowest index). All tensors are int64 except `exact`, `threshold` and
    `probability`. Fixed-point sums are in units of 2**-30 (probabilities and their squares) and 2**-26
    (log loss). Scores count where the event is labeled, except in `score_events` and `score_sum`.

    Attributes
    ----------
    events : shape (B,)
        All valid events, unlabeled ones included.
    decisions : shape (B, C + 1)
        Events decided so, unlabeled ones included; the last column is "other", none of the classes. In
        multilabel tasks an event counts in each of its columns.
    confusion : shape (B, C, C + 1); multilabel: (B, C, 2, 2)
        Labeled events by true class (rows) and decision (columns; the last is "other"). Multilabel: for
        each class, by whether it is true (rows) and decided (columns).
    right : shape (B,)
        Labeled events decided rightly; in multilabel tasks those with exactly the true classes.
    samples : shape (B, 3, 2)
        Multilabel, else 0: precision, recall and F1 of single events, as the sum over the events where
        it is defined (2**-30) and the number of those.
    top_k : shape (B, K)
        Multiclass: sum over events of the chance that the true class is among the k greatest scores if
        ties are broken at random (2**-30), for each configured k; else K is 0.
    score_events : shape (B,)
        Events with scores, unlabeled ones included.
    score_sum : shape (B, R)
        Sum of probabilities over those.
    squared_error : shape (B, R, 2)
        Sum of (y - p)**2 over events whose true class is not (0) or is (1) this one.
    loss : shape (B, R, 2)
        Sum of the one-vs-rest log loss, split likewise.
    whole : shape (B, 2, 2)
        Squared error (2**-30) and log loss (2**-26) of whole events: sum, and sum of squares. Of one event
        these are: binary, those of the positive class; multiclass, sum of (y - p)**2 over the classes,
        and -log(probability of the true class); multilabel, the means over the classes.
    cells : shape (B, T, CELLS, 5)
        By cell of the score: events, sum of p, of p**2, of y and of p y.
    positives, negatives : shape (B, T, G)
        Groups of equal score in descending order: events of this class, and of the others. Groups
        without events may stand anywhere.
    older_positives, older_negatives : shape (B, T, G)
        Those of them that are in the older half of a sliding window's events; 0 where there are no halves.
    threshold : float64, shape (B, T, G)
        Least probability that belongs to each group; of any value where it has no events.
    probability : float64, shape (B, T, G)
        The group's probability, or the middle of its bin; in [0, 1] also where it has no events.
    exact : bool, shape (B, T)
        Whether each group is one score; else neighbouring scores were merged and a group is a bin.
    micro_positives, micro_negatives : shape (B, H)
        Groups of the pairs of event and class of all classes together, as above; H is 0 in binary tasks.
    micro_exact : bool, shape (B,)
        Whether those groups are single scores.
    """

    events: torch.Tensor
    decisions: torch.Tensor
    confusion: torch.Tensor
    right: torch.Tensor
    samples: torch.Tensor
    top_k: torch.Tensor
    score_events: torch.Tensor
    score_sum: torch.Tensor
    squared_error: torch.Tensor
    loss: torch.Tensor
    whole: torch.Tensor
    cells: torch.Tensor
    positives: torch.Tensor
    negatives: torch.Tensor
    older_positives: torch.Tensor
    older_negatives: torch.Tensor
    threshold: torch.Tensor
    probability: torch.Tensor
    exact: torch.Tensor
    micro_positives: torch.Tensor
    micro_negatives: torch.Tensor
    micro_exact: torch.Tensor

    def case(self, index: int) -> Counts:
        """Return one case alone, without the groups that others are longer by."""
        parts = {field.name: getattr(self, field.name)[index : index + 1] for field in fields(self)}
        events = parts["positives"] + parts["negatives"]
        size = int(events.sum((0, 1)).nonzero().amax()) + 1 if events.any() else 0
        for name in (
            "positives",
            "negatives",
            "older_positives",
            "older_negatives",
            "threshold",
            "probability",
        ):
            parts[name] = parts[name][..., :size]
        return Counts(**parts)
