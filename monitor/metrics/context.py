"""What the metrics of one batch of counts share, computed once."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import torch

from monitor.metrics.counts import Counts
from monitor.metrics.outcome import Outcome, Parameters
from monitor.metrics.ranking import Curve
from monitor.metrics.statement import undefined


class Context:
    """Counts and parameters with the intermediates that several metrics use.

    B cases, C classes, R scored classes, M false-positive rates. Wherever a shape is (B, ...) the
    batch is the leading dimension.

    Attributes
    ----------
    counts
        The integers.
    parameters
        Of the model that all B cases are versions, windows and segments of.
    classes
        Names of all classes.
    scored
        Names of the classes that have scores: the positive one (binary), or all.
    """

    def __init__(self, counts: Counts, parameters: Parameters) -> None:
        self.counts = counts
        self.parameters = parameters
        self.classes = parameters.classes
        positive = parameters.positive
        self.scored = self.classes if positive is None else (self.classes[positive],)
        self._outcomes: dict[Compute, Outcome] = {}

    def shared(self, compute: Compute) -> Outcome:
        """Return what `compute` gives for this context, computed once."""
        if compute not in self._outcomes:
            self._outcomes[compute] = compute(self)
        return self._outcomes[compute]

    @cached_property
    def labeled(self) -> torch.Tensor:
        """Labeled events, int64 (B,)."""
        return self.counts.confusion.sum((1, 2))

    @cached_property
    def support(self) -> torch.Tensor:
        """Labeled events of each class, int64 (B, C)."""
        return self.counts.confusion.sum(2)

    @cached_property
    def predicted(self) -> torch.Tensor:
        """Labeled events by decision, int64 (B, C + 1); the last column is "other"."""
        return self.counts.confusion.sum(1)

    @cached_property
    def correct(self) -> torch.Tensor:
        """Labeled events of each class that were decided so, int64 (B, C)."""
        return self.counts.confusion[..., :-1].diagonal(dim1=1, dim2=2)

    @cached_property
    def curve(self) -> Curve:
        """ROC curves of the scored classes, (B, R, G)."""
        return Curve.from_groups(self.counts.positives, self.counts.negatives)

    @cached_property
    def ranked(self) -> torch.Tensor:
        """Labeled events of a scored class (1) and of the others (0) that have scores: (B, R, 2)."""
        return torch.stack([self.counts.negatives.sum(-1), self.counts.positives.sum(-1)], dim=-1)

    @cached_property
    def max_fpr(self) -> torch.Tensor:
        """False-positive rates, float64 (M,)."""
        return torch.tensor(self.parameters.max_fpr, dtype=torch.float64, device=self.counts.events.device)

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


Compute = Callable[[Context], Outcome]
"""A metric: states the outcome of every case."""
