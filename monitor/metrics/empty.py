"""The counts of no event."""

from __future__ import annotations

import torch

from monitor.metrics.counts import CELLS, Counts
from monitor.metrics.parameters import Parameters


def empty_counts(parameters: Parameters) -> Counts:
    """Return one case of a model without an event."""
    classes, scored = len(parameters.classes), len(parameters.scored)
    rows = scored + (parameters.task == "multiclass")

    def zeros(*shape: int) -> torch.Tensor:
        return torch.zeros((1, *shape), dtype=torch.int64)

    of_multilabel = (classes, 2, 2)
    return Counts(
        events=zeros(),
        decisions=zeros(classes + 1),
        confusion=zeros(*(of_multilabel if parameters.task == "multilabel" else (classes, classes + 1))),
        right=zeros(),
        samples=zeros(3, 2),
        top_k=zeros(len(parameters.top_k)),
        score_events=zeros(),
        score_sum=zeros(scored),
        squared_error=zeros(scored, 2),
        loss=zeros(scored, 2),
        whole=zeros(2, 2),
        cells=zeros(rows, CELLS, 5),
        positives=zeros(rows, 0),
        negatives=zeros(rows, 0),
        older_positives=zeros(rows, 0),
        older_negatives=zeros(rows, 0),
        threshold=zeros(rows, 0).double(),
        probability=zeros(rows, 0).double(),
        exact=torch.ones((1, rows), dtype=torch.bool),
        micro_positives=zeros(0),
        micro_negatives=zeros(0),
        micro_exact=torch.ones(1, dtype=torch.bool),
    )
