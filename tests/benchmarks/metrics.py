"""Time of all metrics of one binary window beside scikit-learn's for seven of them, in one run.

Run from the repository: python tests/benchmarks/metrics.py [events]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import replace
from statistics import median

import numpy as np
import torch
from sklearn import metrics as sklearn_metrics

from monitor.metrics.catalog import compute_all
from monitor.metrics.groups import group_scores
from tests.support.counts import binary_counts, parameters


def milliseconds(function: Callable[[], object], repeats: int = 15) -> float:
    """Return the median time of a call."""
    function()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return 1000 * median(times)


def main(n: int) -> None:
    """Print both times and their ratio."""
    random = np.random.default_rng(1)
    y_score = random.beta(1, 3, n).astype(np.float32)
    y_true = (random.random(n) < y_score).astype(int)
    y_pred = (y_score >= 0.5).astype(int)
    # Groups are counted in the timed part; everything else is what a window keeps up to date.
    counts = binary_counts(y_true, np.zeros(n), y_pred)
    score, positive = torch.tensor(y_score)[None], torch.tensor(y_true == 1)[None]
    valid = torch.ones_like(positive)

    def group() -> tuple[torch.Tensor, torch.Tensor]:
        return group_scores(score, positive, valid)

    def ours() -> None:
        positives, negatives = (groups[:, None] for groups in group())
        grouped = replace(counts, positives=positives, negatives=negatives)
        for _, outcome in compute_all(grouped, parameters()):
            if isinstance(outcome, Exception):
                raise outcome

    def theirs() -> None:
        sklearn_metrics.roc_auc_score(y_true, y_score)
        sklearn_metrics.average_precision_score(y_true, y_score)
        sklearn_metrics.roc_auc_score(y_true, y_score, max_fpr=0.1)
        sklearn_metrics.brier_score_loss(y_true, y_score)
        sklearn_metrics.log_loss(y_true, y_score)
        sklearn_metrics.recall_score(y_true, y_pred)
        sklearn_metrics.precision_score(y_true, y_pred)

    grouping, all_metrics, reference = milliseconds(group), milliseconds(ours), milliseconds(theirs)
    print(f"{n} events: grouping {grouping:.2f} ms, grouping and all metrics {all_metrics:.2f} ms")
    print(f"scikit-learn, seven metrics: {reference:.2f} ms; ratio {reference / all_metrics:.1f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
