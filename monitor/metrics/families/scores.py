"""Metrics of how scores rank the events."""

from __future__ import annotations

from monitor.metrics import at_k, discrimination, reference_prevalence, score_averages
from monitor.metrics.metric import NO_LABELS, NO_SCORES, Metric

_PREVALENCE = "Windows, segments or models of different prevalence: it falls where the class gets rarer."
_UP_TO_MAX_FPR = (*NO_SCORES, "no_positives", "no_negatives", "too_few_negatives")

FAMILIES: tuple[Metric, ...] = (
    Metric(
        name="classifier_roc_auc",
        help="Area under the ROC curve; 0.5 for a random ranking.",
        use=(
            "Ranking alone, whatever the threshold and the prevalence. Under imbalance it looks good while "
            "most alarms are false: read average precision or a partial area with it."
        ),
        compute=discrimination.roc_auc,
        labels=("class",),
        needs="scores",
        greater_is_better=True,
        interval="effective_n",
        undefined=(*NO_SCORES, "no_positives", "no_negatives"),
    ),
    Metric(
        name="classifier_average_precision",
        help="Mean precision over the recalls that thresholds reach; the prevalence for a random ranking.",
        use=(
            "Ranking of a rare class: unlike ROC AUC it counts how many alarms are false. Where prevalences "
            "differ see classifier_average_precision_at_reference_prevalence."
        ),
        compare=_PREVALENCE,
        compute=discrimination.average_precision,
        labels=("class",),
        needs="scores",
        greater_is_better=True,
        interval="effective_n",
        undefined=(*NO_SCORES, "no_positives"),
    ),
    Metric(
        name="classifier_partial_roc_auc",
        help="Area under the ROC curve up to max_fpr, over max_fpr; max_fpr / 2 for a random ranking.",
        use=(
            "Ranking at the few false alarms that can be afforded. It is the mean recall up to max_fpr, so "
            "that chance is max_fpr / 2, not 0.5: choose a floor on this scale."
        ),
        compare="Values at another max_fpr, and values on McClish's scale, where chance is 0.5.",
        compute=discrimination.partial_roc_auc,
        labels=("class", "max_fpr"),
        needs="scores",
        greater_is_better=True,
        interval="effective_n",
        undefined=_UP_TO_MAX_FPR,
    ),
    Metric(
        name="classifier_partial_roc_auc_mcclish",
        help="Area under the ROC curve up to max_fpr on McClish's scale; 0.5 for a random ranking.",
        use=(
            "The same area as scikit-learn's roc_auc_score(max_fpr=...) gives it. On this scale chance is "
            "0.5 and values lie close together: a floor for the plain area is too low here."
        ),
        compare="Values at another max_fpr, and the plain area, where chance is max_fpr / 2.",
        compute=discrimination.partial_roc_auc_mcclish,
        labels=("class", "max_fpr"),
        needs="scores",
        greater_is_better=True,
        interval="effective_n",
        undefined=_UP_TO_MAX_FPR,
    ),
    Metric(
        name="classifier_recall_at_fpr",
        help="Highest recall of a threshold whose false-positive rate is at most max_fpr.",
        use=(
            "What could be caught within a budget of false alarms per harmless event. That is no review "
            "capacity: how many reviews it takes grows with the events, see recall_at_k for a fixed number."
        ),
        compare="Values at another max_fpr.",
        compute=discrimination.recall_at_fpr,
        labels=("class", "max_fpr"),
        needs="scores",
        greater_is_better=True,
        undefined=_UP_TO_MAX_FPR,
    ),
    Metric(
        name="classifier_precision_at_k",
        help=(
            "Share of the class in the k highest-scored labeled events (k below 1: that share of the "
            "events); ties count by expectation."
        ),
        use="What a review of limited capacity yields: how many of the k were worth it.",
        compare="Values at another k, and windows, segments or models of different prevalence.",
        compute=at_k.precision_at_k,
        labels=("class", "k"),
        needs="scores",
        greater_is_better=True,
        interval="wilson",
        undefined=(*NO_SCORES, "too_few_events"),
    ),
    Metric(
        name="classifier_recall_at_k",
        help=(
            "Share of the class's events that are in the k highest-scored labeled events (k below 1: that "
            "share of the events); ties count by expectation."
        ),
        use=(
            "What a review of limited capacity catches. Recommenders' recall@K is another thing: see "
            "classifier_top_k_accuracy."
        ),
        compare=(
            "Values at another k, and at a fixed k windows of different size: k is then another share of "
            "the events."
        ),
        compute=at_k.recall_at_k,
        labels=("class", "k"),
        needs="scores",
        greater_is_better=True,
        interval="wilson",
        undefined=(*NO_SCORES, "no_positives", "too_few_events"),
    ),
    Metric(
        name="classifier_roc_auc_average",
        help=(
            "ROC AUC, one-vs-rest, averaged over the classes where it is defined; micro: of all pairs of "
            "event and class."
        ),
        use=(
            "One number for the ranking of all classes. Macro where rare classes matter as much as frequent "
            "ones; micro also compares the scores of different classes. It looks good under imbalance."
        ),
        compare="Windows in which other classes have events: see classifier_classes_defined.",
        compute=score_averages.roc_auc_average,
        labels=("average",),
        needs="scores",
        greater_is_better=True,
        undefined=(*NO_SCORES, "no_class_defined", "no_positives", "no_negatives"),
        tasks=("multiclass", "multilabel"),
    ),
    Metric(
        name="classifier_average_precision_average",
        help=(
            "Average precision, one-vs-rest, averaged over the classes where it is defined; micro: of all "
            "pairs of event and class."
        ),
        use=(
            "One number for the ranking of rare classes. Macro where rare classes matter as much as frequent "
            "ones; micro also compares the scores of different classes."
        ),
        compare=f"{_PREVALENCE} Windows in which other classes have events, too.",
        compute=score_averages.average_precision_average,
        labels=("average",),
        needs="scores",
        greater_is_better=True,
        undefined=(*NO_SCORES, "no_class_defined", "no_positives"),
        tasks=("multiclass", "multilabel"),
    ),
    Metric(
        name="classifier_precision_at_reference_prevalence",
        help="Precision that the decisions would have at the configured prevalence of the class.",
        use=(
            "Precision over time or between segments: it changes with the model alone, not with the "
            "prevalence."
        ),
        compare="Models with another reference_prevalence.",
        compute=reference_prevalence.precision_at_reference_prevalence,
        labels=("class",),
        greater_is_better=True,
        undefined=(*NO_LABELS, "no_positives", "no_negatives", "never_predicted"),
    ),
    Metric(
        name="classifier_average_precision_at_reference_prevalence",
        help="Average precision that the scores would have at the configured prevalence of the class.",
        use=(
            "Average precision over time or between segments: it changes with the ranking alone, not with "
            "the prevalence."
        ),
        compare="Models with another reference_prevalence.",
        compute=reference_prevalence.average_precision_at_reference_prevalence,
        labels=("class",),
        needs="scores",
        greater_is_better=True,
        undefined=(*NO_SCORES, "no_positives", "no_negatives"),
    ),
)
