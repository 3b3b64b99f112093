"""The one table of metrics: every family with its meaning and the function that computes it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf
from typing import Literal

from monitor.metrics import averages, calibration, confusion, discrimination, support
from monitor.metrics.context import Compute, Context
from monitor.metrics.counts import Counts
from monitor.metrics.outcome import Outcome, Parameters

Needs = Literal["labels", "decisions", "scores", "probabilities"]
Task = Literal["binary", "multiclass"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """One family.

    Attributes
    ----------
    name
        Of the exported family.
    help
        One sentence: HELP of the exposition, and the meaning in docs/metrics.md.
    compute
        The function, batched over cases.
    labels
        Label names beyond model, version, window and segment.
    needs
        The least that events must carry; metrics of decisions, scores and probabilities need labels
        too, except where `help` says otherwise.
    greater_is_better
        None where neither direction is good in itself.
    range
        Least and greatest possible value.
    interval
        Method of the analytic interval.
    undefined
        Reasons (`outcome.REASONS`) that it may give instead of a value.
    tasks
        Where it exists.
    headline
        Whether segments export it by default.
    """

    name: str
    help: str
    compute: Compute
    labels: tuple[str, ...] = ()
    needs: Needs = "decisions"
    greater_is_better: bool | None = None
    range: tuple[float, float] = (0, 1)
    interval: Literal["wilson"] | None = None
    undefined: tuple[str, ...] = ()
    tasks: tuple[Task, ...] = ("binary", "multiclass")
    headline: bool = False


_NO_LABELS = ("no_events", "no_labels")
_NO_SCORES = (*_NO_LABELS, "no_scores")

CATALOG: tuple[Metric, ...] = (
    # How much data, and of what kind
    Metric(
        name="classifier_events",
        help="Valid events, unlabeled ones included.",
        compute=support.events,
        needs="labels",
        range=(0, inf),
    ),
    Metric(
        name="classifier_class_support",
        help="Labeled events of the class.",
        compute=support.class_support,
        labels=("class",),
        needs="labels",
        range=(0, inf),
        headline=True,
    ),
    Metric(
        name="classifier_prevalence",
        help="Share of the class in the labeled events.",
        compute=support.prevalence,
        labels=("class",),
        needs="labels",
        undefined=_NO_LABELS,
    ),
    Metric(
        name="classifier_imbalance_ratio",
        help="Labeled events of the class over those of all other classes.",
        compute=support.imbalance_ratio,
        labels=("class",),
        needs="labels",
        range=(0, inf),
        undefined=(*_NO_LABELS, "no_negatives"),
    ),
    Metric(
        name="classifier_predicted_rate",
        help="Share of the class in the decisions, unlabeled events included.",
        compute=support.predicted_rate,
        labels=("class",),
        undefined=("no_events",),
    ),
    Metric(
        name="classifier_score_mean",
        help="Mean score of the class, unlabeled events included.",
        compute=support.score_mean,
        labels=("class",),
        needs="scores",
        undefined=("no_events", "no_scores"),
    ),
    Metric(
        name="classifier_label_coverage",
        help="Share of labeled events, where unlabeled ones are seen at all.",
        compute=support.label_coverage,
        needs="labels",
        greater_is_better=True,
        undefined=("no_events", "no_unlabeled_events"),
    ),
    Metric(
        name="classifier_threshold",
        help="Score from which on an event is decided as positive.",
        compute=support.threshold,
        labels=("class",),
        needs="scores",
        tasks=("binary",),
    ),
    Metric(
        name="classifier_low_support",
        help=(
            f"1 if the class has fewer than {support.MIN_POSITIVES} labeled events or the interval of its "
            f"recall is wider than {support.MAX_WIDTH}, else 0."
        ),
        compute=support.low_support,
        labels=("class",),
        needs="labels",
        greater_is_better=False,
    ),
    Metric(
        name="classifier_classes_defined",
        help="Classes with labeled events: those that averages of recall and of scores are over.",
        compute=support.classes_defined,
        labels=("average",),
        needs="labels",
        greater_is_better=True,
        range=(0, inf),
    ),
    Metric(
        name="classifier_window_confusions",
        help="Labeled events by true class and decision.",
        compute=support.window_confusions,
        labels=("true", "predicted"),
        range=(0, inf),
    ),
    # Decisions
    Metric(
        name="classifier_accuracy",
        help="Share of the labeled events that were decided rightly.",
        compute=confusion.accuracy,
        greater_is_better=True,
        interval="wilson",
        undefined=_NO_LABELS,
    ),
    Metric(
        name="classifier_balanced_accuracy",
        help="Mean recall of the classes that have labeled events.",
        compute=confusion.balanced_accuracy,
        greater_is_better=True,
        undefined=_NO_LABELS,
    ),
    Metric(
        name="classifier_matthews_corrcoef",
        help="Correlation of true and decided classes; 0 for random decisions.",
        compute=confusion.matthews_corrcoef,
        greater_is_better=True,
        range=(-1, 1),
        undefined=(*_NO_LABELS, "one_class"),
    ),
    Metric(
        name="classifier_precision",
        help="Share of the decisions for the class that were right.",
        compute=confusion.precision,
        labels=("class",),
        greater_is_better=True,
        interval="wilson",
        undefined=(*_NO_LABELS, "never_predicted"),
        headline=True,
    ),
    Metric(
        name="classifier_recall",
        help="Share of the class's events that were decided so.",
        compute=confusion.recall,
        labels=("class",),
        greater_is_better=True,
        interval="wilson",
        undefined=(*_NO_LABELS, "no_positives"),
        headline=True,
    ),
    Metric(
        name="classifier_specificity",
        help="Share of the other classes' events that were not decided as the class.",
        compute=confusion.specificity,
        labels=("class",),
        greater_is_better=True,
        interval="wilson",
        undefined=(*_NO_LABELS, "no_negatives"),
    ),
    Metric(
        name="classifier_npv",
        help="Share of the decisions against the class that were right.",
        compute=confusion.npv,
        labels=("class",),
        greater_is_better=True,
        interval="wilson",
        undefined=(*_NO_LABELS, "never_rejected"),
    ),
    Metric(
        name="classifier_f1",
        help="Harmonic mean of precision and recall; 0 with false alarms and no events of the class.",
        compute=confusion.f1,
        labels=("class",),
        greater_is_better=True,
        undefined=(*_NO_LABELS, "no_decisions_or_positives"),
    ),
    Metric(
        name="classifier_fbeta",
        help="F-beta, beta = sqrt(cost of a false negative / cost of a false positive).",
        compute=confusion.fbeta,
        labels=("class", "beta"),
        greater_is_better=True,
        undefined=(*_NO_LABELS, "no_decisions_or_positives"),
    ),
    Metric(
        name="classifier_precision_average",
        help="Precision averaged over the classes where it is defined.",
        compute=averages.precision_average,
        labels=("average",),
        greater_is_better=True,
        undefined=(*_NO_LABELS, "class_never_predicted", "never_predicted"),
    ),
    Metric(
        name="classifier_recall_average",
        help="Recall averaged over the classes where it is defined.",
        compute=averages.recall_average,
        labels=("average",),
        greater_is_better=True,
        undefined=_NO_LABELS,
    ),
    Metric(
        name="classifier_f1_average",
        help="F1 averaged over the classes where it is defined.",
        compute=averages.f1_average,
        labels=("average",),
        greater_is_better=True,
        undefined=_NO_LABELS,
    ),
    # Scores
    Metric(
        name="classifier_roc_auc_average",
        help="ROC AUC, one-vs-rest, averaged over the classes where it is defined.",
        compute=averages.roc_auc_average,
        labels=("average",),
        needs="scores",
        greater_is_better=True,
        undefined=(*_NO_SCORES, "no_class_defined"),
        tasks=("multiclass",),
    ),
    Metric(
        name="classifier_average_precision_average",
        help="Average precision, one-vs-rest, averaged over the classes where it is defined.",
        compute=averages.average_precision_average,
        labels=("average",),
        needs="scores",
        greater_is_better=True,
        undefined=_NO_SCORES,
        tasks=("multiclass",),
    ),
    Metric(
        name="classifier_roc_auc",
        help="Area under the ROC curve; 0.5 for a random ranking.",
        compute=discrimination.roc_auc,
        labels=("class",),
        needs="scores",
        greater_is_better=True,
        undefined=(*_NO_SCORES, "no_positives", "no_negatives"),
    ),
    Metric(
        name="classifier_average_precision",
        help="Average precision; the prevalence for a random ranking.",
        compute=discrimination.average_precision,
        labels=("class",),
        needs="scores",
        greater_is_better=True,
        undefined=(*_NO_SCORES, "no_positives"),
    ),
    Metric(
        name="classifier_partial_roc_auc",
        help="Area under the ROC curve up to max_fpr, over max_fpr; max_fpr / 2 for a random ranking.",
        compute=discrimination.partial_roc_auc,
        labels=("class", "max_fpr"),
        needs="scores",
        greater_is_better=True,
        undefined=(*_NO_SCORES, "no_positives", "no_negatives", "too_few_negatives"),
    ),
    Metric(
        name="classifier_partial_roc_auc_mcclish",
        help="Area under the ROC curve up to max_fpr on McClish's scale; 0.5 for a random ranking.",
        compute=discrimination.partial_roc_auc_mcclish,
        labels=("class", "max_fpr"),
        needs="scores",
        greater_is_better=True,
        undefined=(*_NO_SCORES, "no_positives", "no_negatives", "too_few_negatives"),
    ),
    Metric(
        name="classifier_recall_at_fpr",
        help="Highest recall of a threshold whose false-positive rate is at most max_fpr.",
        compute=discrimination.recall_at_fpr,
        labels=("class", "max_fpr"),
        needs="scores",
        greater_is_better=True,
        undefined=(*_NO_SCORES, "no_positives", "no_negatives", "too_few_negatives"),
    ),
    # Probabilities
    Metric(
        name="classifier_brier_score",
        help="Mean squared error of the probability of the class; the whole is the sum over classes.",
        compute=calibration.brier_score,
        labels=("class", "subset"),
        needs="probabilities",
        greater_is_better=False,
        range=(0, 2),
        undefined=(*_NO_SCORES, "no_positives", "no_negatives"),
    ),
    Metric(
        name="classifier_log_loss",
        help="Mean of -log(probability of the true class); of a class: one-vs-rest.",
        compute=calibration.log_loss,
        labels=("class",),
        needs="probabilities",
        greater_is_better=False,
        range=(0, inf),
        undefined=_NO_SCORES,
    ),
)
"""Every family, in the order in which they are shown."""


def compute_all(counts: Counts, parameters: Parameters) -> Iterator[tuple[Metric, Outcome | Exception]]:
    """Yield every metric of the task with its outcome, or with the error that computing it raised.

    One metric that fails does not take the others with it.
    """
    task = "multiclass" if parameters.positive is None else "binary"
    context = Context(counts, parameters)
    for metric in CATALOG:
        if task not in metric.tasks:
            continue
        outcome: Outcome | Exception
        try:
            outcome = context.shared(metric.compute)
        except Exception as error:
            outcome = error
        yield metric, outcome
