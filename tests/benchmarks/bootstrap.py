"""Time of 1000 bootstrap replicates of one window beside resampling with numpy and scikit-learn, in one run.

The metrics are partial ROC AUC (up to .1), Brier score and recall. scikit-learn's time is that of 40
replicates, times 25.

Run from the repository: python -m tests.benchmarks.bootstrap [events]
"""

from __future__ import annotations

import sys
import time

import numpy as np
import torch
from sklearn import metrics as sklearn_metrics

from monitor.metrics.bootstrap import bootstrap
from monitor.metrics.context import Context
from tests.benchmarks.metrics import sample
from tests.support.counts import binary_counts, parameters

NAMES = ("classifier_partial_roc_auc", "classifier_brier_score", "classifier_recall")
REPLICATES, OF_SCIKIT_LEARN = 1000, 40


def by_scikit_learn(y_true: np.ndarray, score: np.ndarray) -> None:
    """Resample events and compute the three metrics of each sample."""
    random = np.random.default_rng(0)
    for _ in range(OF_SCIKIT_LEARN):
        drawn = random.integers(len(y_true), size=len(y_true))
        y, p = y_true[drawn], score[drawn]
        sklearn_metrics.roc_auc_score(y, p, max_fpr=0.1)
        sklearn_metrics.brier_score_loss(y, p)
        sklearn_metrics.recall_score(y, p >= 0.5)


def main(n: int) -> None:
    """Print times and ratios for rare and for frequent positives."""
    torch.set_num_threads(1)
    for prevalence in (0.05, 0.5):
        y_true, score = sample(n, prevalence, 0)
        counts = binary_counts(y_true, score)
        ours, theirs = [], []
        for _ in range(3):
            start = time.perf_counter()
            bootstrap(Context(counts, [parameters()]), NAMES, REPLICATES, seed=1)
            middle = time.perf_counter()
            by_scikit_learn(y_true, score)
            ours.append(middle - start)
            theirs.append((time.perf_counter() - middle) * REPLICATES / OF_SCIKIT_LEARN)
        print(
            f"{n} events, {prevalence:.0%} positive, {REPLICATES} replicates of 3 metrics: "
            f"{sorted(ours)[1]:.2f} s; scikit-learn {sorted(theirs)[1]:.1f} s: "
            f"{sorted(theirs)[1] / sorted(ours)[1]:.1f} times as long"
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
