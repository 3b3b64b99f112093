"""What the metrics of one batch of counts share, computed once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, TypeVar

import torch

from monitor.metrics.counts import Counts
from monitor.metrics.outcome import Outcome
from monitor.metrics.parameters import Parameters
from monitor.metrics.ranked import ranked
from monitor.metrics.ranking import Curve
from monitor.metrics.statement import undefined

T = TypeVar("T")


class Context:
    """Counts and parameters with the intermediates that several metrics use.

    B cases, C classes, R scored classes, M false-positive rates. Wherever a shape is (B, ...) the
    batch is the leading dimension.

    Attributes
    ----------
    counts
        The integers.
    parameters
        Of the model of each case; all have the same `Parameters.shape`.
    task, classes, scored, confidence_level
        What the models have in common: the task, C, R, and the level of intervals.
    """

    def __init__(self, counts: Counts, parameters: Sequence[Parameters]) -> None:
        self.counts = counts
        self.parameters = tuple(parameters)
        any_model = self.parameters[0]
        self.task = any_model.task
        self.classes = len(any_model.classes)
        self.scored = len(any_model.scored)
        self.confidence_level = any_model.confidence_level
        self._shared: dict[Callable[[Context], Any], Any] = {}

    def shared(self, function: Callable[[Context], T]) -> T:
        """Return what a function gives for this context, computed once."""
        if function not in self._shared:
            self._shared[function] = function(self)
        found: T = self._shared[function]
        return found

    def column(self, value: Callable[[Parameters], Any]) -> torch.Tensor:
        """Return a number, or a nested sequence of numbers, of every case's model: float64, (B, ...)."""
        return torch.tensor(
            [value(p) for p in self.parameters], dtype=torch.float64, device=self.counts.events.device
        )

    @property
    def has_costs(self) -> bool:
        """Whether the models have costs."""
        return self.parameters[0].costs is not None

    @cached_property
    def labeled(self) -> torch.Tensor:
        """Labeled events, int64 (B,)."""
        if self.task == "multilabel":
            return self.counts.confusion[:, 0].sum((1, 2))
        return self.counts.confusion.sum((1, 2))

    @cached_property
    def support(self) -> torch.Tensor:
        """Labeled events of each class, int64 (B, C)."""
        if self.task == "multilabel":
            return self.counts.confusion[:, :, 1].sum(-1)
        return self.counts.confusion.sum(2)

    @cached_property
    def predicted(self) -> torch.Tensor:
        """Labeled events decided for each class, int64 (B, C)."""
        if self.task == "multilabel":
            return self.counts.confusion[..., 1].sum(-1)
        return self.counts.confusion.sum(1)[:, :-1]

    @cached_property
    def correct(self) -> torch.Tensor:
        """Labeled events of each class that were decided so, int64 (B, C)."""
        if self.task == "multilabel":
            return self.counts.confusion[..., 1, 1]
        return self.counts.confusion[..., :-1].diagonal(dim1=1, dim2=2)

    @cached_property
    def curve(self) -> Curve:
        """ROC curves of the scored classes, (B, R, G), groups merged as in `Ranked`."""
        groups = self.shared(ranked)
        return Curve.from_groups(groups.positives, groups.negatives)

    @cached_property
    def ranked(self) -> torch.Tensor:
        """Labeled events of a scored class (1) and of the others (0) that have scores: (B, R, 2)."""
        groups = self.shared(ranked)
        return torch.stack([side.sum(-1) for side in (groups.negatives, groups.positives)], dim=-1)

    @cached_property
    def max_fpr(self) -> torch.Tensor:
        """False-positive rates, float64 (B, 1, M): for each scored class the same."""
        return self.column(lambda p: p.max_fpr)[:, None]

    @cached_property
    def without_events(self) -> torch.Tensor:
        """Reason for everything that needs an event, int64 (B,)."""
        return undefined(torch.zeros_like(self.counts.events), no_events=self.counts.events == 0)

    @cached_property
    def without_labels(self) -> torch.Tensor:
        """Reason for everything that needs a labeled event, int64 (B,)."""
        return undefined(self.without_events, no_labels=self.labeled == 0)

    @cached_property
    def without_scores(self) -> torch.Tensor:
        """Reason for everything that needs a labeled event with scores, int64 (B, R)."""
        return undefined(self.without_labels[:, None], no_scores=self.ranked.sum(-1) == 0)

    @cached_property
    def without_positives(self) -> torch.Tensor:
        """Reason for everything that needs a scored event of the class, int64 (B, R)."""
        return undefined(self.without_scores, no_positives=self.ranked[..., 1] == 0)

    @cached_property
    def without_one_side(self) -> torch.Tensor:
        """Reason for everything that needs scored events of the class and of others, int64 (B, R)."""
        return undefined(self.without_positives, no_negatives=self.ranked[..., 0] == 0)


Compute = Callable[[Context], Outcome]
"""A metric: states the outcome of every case."""
