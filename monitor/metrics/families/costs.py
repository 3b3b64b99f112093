"""Costs and thresholds."""

from __future__ import annotations

from math import inf

from monitor.metrics import costs, thresholds
from monitor.metrics.metric import NO_LABELS, NO_SCORES, Metric

FAMILIES: tuple[Metric, ...] = (
    Metric(
        name="classifier_expected_cost",
        help=(
            "Mean cost of an event by the configured costs of wrong decisions; class empty: of the whole "
            "(multiclass, and the sum over the labels of multilabel)."
        ),
        use="Where misses and false alarms have a price: one number that weighs both as they occur.",
        compare="Models of different costs, and windows of different prevalence.",
        compute=costs.expected_cost,
        labels=("class",),
        greater_is_better=False,
        range=(0, inf),
        undefined=NO_LABELS,
    ),
    Metric(
        name="classifier_best_threshold",
        help=(
            "Greatest threshold that is best on the events by a criterion: the least cost, the greatest F1, "
            "or the least false-positive rate at the recall asked for; a probability for logits, too."
        ),
        use=(
            "To see whether the threshold in force still suits the scores, after a shift of scores or "
            "prevalence; by cost where misses and false alarms have a price."
        ),
        compare=(
            "A threshold in force on the same events: one that is chosen on them flatters itself. The report "
            "has what it would have brought, chosen on the older half and judged on the newer."
        ),
        compute=thresholds.best_threshold,
        labels=("class", "criterion"),
        needs="scores",
        range=(0, 1 + 2.0**-23),  # the float32 above 1 decides for nothing
        undefined=(*NO_SCORES, "no_positives"),
    ),
)
