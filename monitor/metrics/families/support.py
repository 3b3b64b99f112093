"""How much data there is, and of what kind."""

from __future__ import annotations

from math import inf

from monitor.metrics import support
from monitor.metrics.metric import NO_LABELS, Metric
from monitor.metrics.statement import MAX_WIDTH, MIN_SUPPORT

FAMILIES: tuple[Metric, ...] = (
    Metric(
        name="classifier_events",
        help="Valid events, unlabeled ones included.",
        use="Look at it first: no other number means much without events.",
        compute=support.events,
        needs="labels",
        range=(0, inf),
    ),
    Metric(
        name="classifier_class_support",
        help="Labeled events of the class.",
        use="Read it beside every number about the class: the rare class decides what can be judged.",
        compute=support.class_support,
        labels=("class",),
        needs="labels",
        range=(0, inf),
        headline=True,
    ),
    Metric(
        name="classifier_prevalence",
        help="Share of the labeled events that are of the class.",
        use="Watch it for a shift in the traffic; precision, F1 and average precision move with it.",
        compare="Models where only some decisions are labeled: there it is not that of the traffic.",
        compute=support.prevalence,
        labels=("class",),
        needs="labels",
        undefined=NO_LABELS,
    ),
    Metric(
        name="classifier_imbalance_ratio",
        help="Labeled events of the class over all others (multilabel: over those without it).",
        use="Below 0.01 never judge by accuracy or ROC AUC alone; below 0.1 add precision and recall.",
        compute=support.imbalance_ratio,
        labels=("class",),
        needs="labels",
        range=(0, inf),
        undefined=(*NO_LABELS, "no_negatives"),
    ),
    Metric(
        name="classifier_predicted_rate",
        help="Share of the events that were decided for the class, unlabeled events included.",
        use="Needs no labels: the earliest sign of a changed input, threshold or model.",
        compare="Windows of different prevalence: a rise can be the world's, not the model's.",
        compute=support.predicted_rate,
        labels=("class",),
        undefined=("no_events",),
    ),
    Metric(
        name="classifier_score_mean",
        help="Mean probability of the class, unlabeled events included.",
        use="Needs no labels; on a calibrated model it estimates the prevalence, before the labels come.",
        compare="Models of different calibration.",
        compute=support.score_mean,
        labels=("class",),
        needs="scores",
        undefined=("no_events", "no_scores"),
    ),
    Metric(
        name="classifier_label_coverage",
        help="Share of the events that have a label, where there are unlabeled ones at all.",
        use=(
            "Low or falling: labels are late or selective; caught positives often come first, and recall "
            "looks too good."
        ),
        compute=support.label_coverage,
        needs="labels",
        greater_is_better=True,
        undefined=("no_events", "no_unlabeled_events"),
    ),
    Metric(
        name="classifier_threshold",
        help="Probability from which on an event is decided for the class, as configured.",
        use=("Read decisions with it; where an event carries its own decision, that one counts instead."),
        compute=support.threshold,
        labels=("class",),
        needs="scores",
        tasks=("binary", "multilabel"),
    ),
    Metric(
        name="classifier_low_support",
        help=(
            f"1 if the class has fewer than {MIN_SUPPORT} labeled events or the interval of its recall is "
            f"wider than {MAX_WIDTH}, else 0."
        ),
        use="Do not act on numbers of the class while it is 1; take a longer window.",
        compute=support.low_support,
        labels=("class",),
        needs="labels",
        greater_is_better=False,
    ),
    Metric(
        name="classifier_classes_defined",
        help="Classes with labeled events: those that averages of recall and of scores are over.",
        use="Read averages with it: they leave out classes without events.",
        compute=support.classes_defined,
        labels=("average",),
        needs="labels",
        greater_is_better=True,
        range=(0, inf),
    ),
    Metric(
        name="classifier_window_confusions",
        help="Labeled events by true class and decision (multilabel: of each class, by 0 and 1).",
        use="Shows which classes are mistaken for which; every other number of decisions follows from it.",
        compare="Windows of different size: these are counts.",
        compute=support.window_confusions,
        labels=("true", "predicted"),
        range=(0, inf),
    ),
)
