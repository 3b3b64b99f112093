"""A stored reference that tests begin with."""

from __future__ import annotations

import numpy as np

from monitor.baseline import Baseline, Groups, Interval, StoredValue, meaning
from monitor.events.spec import ModelSpec

SPEC = ModelSpec("fraud", "binary", ("legit", "fraud"), positive=1, thresholds=(0.5,))


def stored(family: str, value: float, n: int | None = None, **labels: str) -> StoredValue:
    """Return a value; with n a share of it."""
    name = f"classifier_{family}"
    labels = {label.rstrip("_"): text for label, text in labels.items()}
    if n is None:
        return StoredValue(name, labels, value, 900, None, None, Interval("logit_t", value / 2, value * 1.5))
    return StoredValue(name, labels, value, n, value * n, n, None)


def example() -> Baseline:
    """Return what 3,000 events left, of which 1,200 are positives."""
    return Baseline(
        model="fraud",
        version="2026-11-01",
        meaning=meaning(SPEC),
        events=3010,
        labeled=3000,
        first_event=1_700_000_000_000_000,
        last_event=1_700_000_900_000_000,
        confidence_level=0.95,
        scored={
            "fraud": Groups(
                np.array([0.0, 0.25, 1.0]), np.array([100, 200, 900]), np.array([1500, 500, 1000]), True
            )
        },
        values=(
            stored("recall", 0.75, 1200, class_="fraud"),
            stored("recall", 0.9, 1800, class_="legit"),
            stored("accuracy", 0.84, 3000),
            stored("balanced_accuracy", 0.825),
            stored("roc_auc", 0.875, class_="fraud"),
            stored("partial_roc_auc", 0.5, class_="fraud", max_fpr="0.1"),
            StoredValue("classifier_log_loss", {"class": ""}, 0.4, 3000, None, None, None),
        ),
        made_by="0.1.0",
    )
