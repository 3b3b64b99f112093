"""Metrics of decisions."""

from __future__ import annotations

from math import inf

from monitor.metrics import averages, confusion, f_score, top_k
from monitor.metrics.metric import NO_LABELS, NO_SCORES, Metric

_PREVALENCE = "Windows, segments or models of different prevalence: it falls where the class gets rarer."
_THRESHOLDS = "Models at different thresholds."

_AVERAGE = (
    "Macro where rare classes matter as much as frequent ones; in single-label tasks micro precision, "
    "recall and F1 all equal the accuracy (while every decision is one of the classes)."
)

FAMILIES: tuple[Metric, ...] = (
    Metric(
        name="classifier_accuracy",
        help="Share of the labeled events that were decided rightly (multilabel: in every label).",
        use="Only where classes are about equally frequent: else, never predicting the rare one scores high.",
        compare="Windows of different class shares; subset accuracy also across numbers of labels.",
        compute=confusion.accuracy,
        greater_is_better=True,
        interval="wilson",
        undefined=NO_LABELS,
    ),
    Metric(
        name="classifier_balanced_accuracy",
        help="Mean recall of the classes that have labeled events; not in multilabel tasks.",
        use="One number for all classes under imbalance; it does not show how many alarms are false.",
        compare="Windows in which other classes have events.",
        compute=confusion.balanced_accuracy,
        greater_is_better=True,
        undefined=(*NO_LABELS, "not_for_multilabel"),
    ),
    Metric(
        name="classifier_matthews_corrcoef",
        help="Correlation of true and decided classes, 0 for random decisions; not in multilabel tasks.",
        use="One number that needs all four cells of the matrix to be good; sound under moderate imbalance.",
        compare=_PREVALENCE,
        compute=confusion.matthews_corrcoef,
        greater_is_better=True,
        range=(-1, 1),
        undefined=(*NO_LABELS, "one_class", "not_for_multilabel"),
    ),
    Metric(
        name="classifier_precision",
        help="Share of the decisions for the class that were right.",
        use="How far an alarm can be trusted; read it with recall and prevalence.",
        compare=_PREVALENCE,
        compute=confusion.precision,
        labels=("class",),
        greater_is_better=True,
        interval="wilson",
        undefined=(*NO_LABELS, "never_predicted"),
        headline=True,
    ),
    Metric(
        name="classifier_recall",
        help="Share of the class's events that were decided so.",
        use="How much of a rare class is caught; does not depend on prevalence, but read it with precision.",
        compare=_THRESHOLDS,
        compute=confusion.recall,
        labels=("class",),
        greater_is_better=True,
        interval="wilson",
        undefined=(*NO_LABELS, "no_positives"),
        headline=True,
    ),
    Metric(
        name="classifier_specificity",
        help="Share of the other classes' events that were not decided as the class.",
        use=(
            "1 minus the false-positive rate; under imbalance 0.99 can mean more false alarms than hits: "
            "read it with precision."
        ),
        compare=_THRESHOLDS,
        compute=confusion.specificity,
        labels=("class",),
        greater_is_better=True,
        interval="wilson",
        undefined=(*NO_LABELS, "no_negatives"),
    ),
    Metric(
        name="classifier_npv",
        help="Share of the decisions against the class that were right.",
        use="How far an all-clear can be trusted; for a rare class it is near 1 whatever the model does.",
        compare="Windows, segments or models of different prevalence: it rises where the class gets rarer.",
        compute=confusion.npv,
        labels=("class",),
        greater_is_better=True,
        interval="wilson",
        undefined=(*NO_LABELS, "never_rejected"),
    ),
    Metric(
        name="classifier_f1",
        help="Harmonic mean of precision and recall; 0 with false alarms and no events of the class.",
        use="One number for a rare class at its threshold; keep precision and prevalence beside it.",
        compare=_PREVALENCE,
        compute=f_score.f1,
        labels=("class",),
        greater_is_better=True,
        interval="effective_n",
        undefined=(*NO_LABELS, "no_decisions_or_positives"),
    ),
    Metric(
        name="classifier_fbeta",
        help="F-beta, beta = sqrt(cost of a false negative / cost of a false positive).",
        use="F1 where a miss and a false alarm cost differently; keep precision and prevalence beside it.",
        compare="Models of different beta, and windows, segments or models of different prevalence.",
        compute=f_score.fbeta,
        labels=("class", "beta"),
        greater_is_better=True,
        interval="effective_n",
        undefined=(*NO_LABELS, "no_decisions_or_positives"),
        tasks=("binary", "multilabel"),
    ),
    Metric(
        name="classifier_lift",
        help="Recall over the share of labeled events decided for the class: precision over prevalence.",
        use="How many times richer in the class the events decided for it are than all events; 1 is chance.",
        compare="Windows of different prevalence: it is at most 1 / prevalence.",
        compute=confusion.lift,
        labels=("class",),
        greater_is_better=True,
        range=(0, inf),
        undefined=(*NO_LABELS, "no_positives", "never_predicted"),
    ),
    Metric(
        name="classifier_top_k_accuracy",
        help="Share of the events whose true class is among the k greatest scores; ties by their chance.",
        use="Where k proposals are shown or tried; like accuracy, it is about the frequent classes.",
        compare="Different k, and models with different numbers of classes.",
        compute=top_k.top_k_accuracy,
        labels=("k",),
        needs="scores",
        greater_is_better=True,
        interval="wilson",
        undefined=(*NO_SCORES, "k_not_below_classes"),
        tasks=("multiclass",),
    ),
    Metric(
        name="classifier_precision_average",
        help="Precision averaged over the classes where it is defined; samples: over events (multilabel).",
        use=_AVERAGE,
        compare=_PREVALENCE,
        compute=averages.precision_average,
        labels=("average",),
        greater_is_better=True,
        undefined=(*NO_LABELS, "class_never_predicted", "no_positives", "never_predicted"),
    ),
    Metric(
        name="classifier_recall_average",
        help="Recall averaged over the classes where it is defined; samples: over events (multilabel).",
        use=_AVERAGE,
        compare="Windows in which other classes have events; weighted and micro also across class shares.",
        compute=averages.recall_average,
        labels=("average",),
        greater_is_better=True,
        undefined=(*NO_LABELS, "no_positives"),
    ),
    Metric(
        name="classifier_f1_average",
        help="F1 averaged over the classes where it is defined; samples: over events (multilabel).",
        use=_AVERAGE,
        compare=_PREVALENCE,
        compute=averages.f1_average,
        labels=("average",),
        greater_is_better=True,
        undefined=(*NO_LABELS, "no_positives", "no_decisions_or_positives"),
    ),
)
