"""How numbers, times, names and reasons are written for people. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from math import floor

import numpy as np

from monitor.report import IntervalValue, Value, WindowReport

REASONS: Mapping[str, str] = {
    "no_events": "no event in the window",
    "no_labels": "no labeled event in the window",
    "no_scores": "no labeled event with a score in the window",
    "no_positives": "no labeled event of this class in the window",
    "no_negatives": "no labeled event of another class in the window",
    "never_predicted": "no decision for this class in the window",
    "never_rejected": "every decision in the window is for this class",
    "one_class": "labels of one class only in the window",
    "no_decisions_or_positives": "neither a decision for this class nor an event of it in the window",
    "too_few_negatives": "too few events of other classes for this false-positive rate",
    "class_never_predicted": "a class that has events was never predicted",
    "no_class_defined": "the metric is undefined for every class",
    "no_unlabeled_events": "every event in the window has a label",
    "not_for_multilabel": "has no meaning where events have several labels",
    "too_few_events": "fewer than k events in the window",
    "k_not_below_classes": "k is not below the number of classes",
    "equal_scores": "all scores in the window are equal",
    "separated": "scores tell the classes apart completely, so that no finite fit is best",
    "low_support": "too few events for an interval that can be trusted",
    "no_variance": "the events do not vary, so that the interval would have no width",
    "no_interval_method": "no method is known to be right for this metric",
}
"""Why a value or its interval is missing, in words."""

OF_DETECTORS: Mapping[str, str] = {
    "no_observations": "no event that its detector looks at yet",
    "too_few_past_negatives": "fewer than 20,000 earlier events of other classes to rank against",
    "champion_unknown": "the champion version is not known",
    "baseline_without_bound": "the stored reference has no such value",
    "baseline_without_map": "the stored reference has too few scores to calibrate by",
    "limit_out_of_range": "the limit is one that the metric cannot cross",
    "no_costs": "no costs are configured",
    "no_detector": "no detector is known for this metric",
}
"""Why a detector cannot judge, in words."""

DECISIONS: Mapping[str, str] = {
    "classifier_recall": "Recall",
    "classifier_precision": "Precision",
    "classifier_f1": "F1",
    "classifier_prevalence": "Prevalence",
    "classifier_recall_average": "Recall",
    "classifier_precision_average": "Precision",
    "classifier_f1_average": "F1",
    "classifier_accuracy": "Accuracy",
    "classifier_balanced_accuracy": "Balanced accuracy",
    "classifier_matthews_corrcoef": "Matthews correlation",
    "classifier_top_k_accuracy": "Top-{k} accuracy",
    "classifier_expected_cost": "Expected cost per event",
}
"""Headline families about decisions, in the order in which they are shown."""

SCORES: Mapping[str, str] = {
    "classifier_roc_auc": "ROC AUC",
    "classifier_roc_auc_average": "ROC AUC",
    "classifier_average_precision": "Average precision",
    "classifier_average_precision_average": "Average precision",
    "classifier_precision_at_reference_prevalence": "Precision at the reference prevalence",
    "classifier_average_precision_at_reference_prevalence": "Average precision at the reference prevalence",
    "classifier_partial_roc_auc": "Partial ROC AUC up to FPR {max_fpr}",
    "classifier_recall_at_fpr": "Recall at FPR {max_fpr}",
    "classifier_precision_at_k": "Precision at k = {k}",
    "classifier_recall_at_k": "Recall at k = {k}",
    "classifier_brier_score": "Brier score",
    "classifier_brier_skill_score": "Brier skill score",
    "classifier_log_loss": "Log loss",
    "classifier_calibration_slope": "Calibration slope",
    "classifier_calibration_intercept": "Calibration intercept",
    "classifier_best_threshold": "Best threshold by {criterion}",
}
"""Headline families about scores."""

OTHERS: Mapping[str, str] = {
    "classifier_npv": "Negative predictive value",
    "classifier_fbeta": "F-beta {beta}",
    "classifier_score_mean": "Mean score",
    "classifier_partial_roc_auc_mcclish": "Partial ROC AUC up to FPR {max_fpr}, standardized (McClish)",
    "classifier_calibration_error_debiased": "Calibration error, debiased",
    "classifier_calibration_error_expected": "Calibration error expected by chance",
    "classifier_calibration_p_value": "Calibration p-value",
}
"""Further families whose titles are not just their names."""

PER_CLASS = ("classifier_precision", "classifier_recall", "classifier_f1")
"""Families of the table that scikit-learn calls the classification report."""

BALANCE = (
    "classifier_recall",
    "classifier_predicted_rate",
    "classifier_lift",
    "classifier_prevalence",
    "classifier_imbalance_ratio",
)
"""Families that show how rare a class is, and a model that decides always, or never, for it."""

_TITLES = {**DECISIONS, **SCORES, **OTHERS}

METHODS: Mapping[str, str] = {
    "wilson": "Wilson",
    "effective_n": "effective n",
    "logit_t": "logit t",
    "wald_t": "Wald t",
    "bootstrap": "bootstrap",
}
"""Names of the methods of intervals."""


def headline(window: WindowReport, families: Iterable[str]) -> Iterator[Value]:
    """Yield the values of these families to show first, in the order of the families.

    Those are of a binary model the values of its positive class, or those that have no class (a whole that
    repeats the positive class is left out), of any other model the values of the whole and macro averages.
    """
    leading: defaultdict[str, list[Value]] = defaultdict(list)
    for value in window.values:
        if _leads(value, window.positive_class):
            leading[value.name].append(value)
    for family in families:
        yield from [value for value in leading[family] if value.labels.get("class")] or leading[family]


def _leads(value: Value, positive: str | None) -> bool:
    labels = value.labels
    if labels.get("subset", "all") != "all":
        return False
    if positive is None:
        return labels.get("class", "") == "" and labels.get("average", "macro") == "macro"
    return "average" not in labels and labels.get("class", "") in ("", positive)


def title(value: Value) -> str:
    """Return a value's name for people, with what tells it from the others of its family."""
    plain = value.name.removeprefix("classifier_").replace("_", " ").capitalize()
    template = _TITLES.get(value.name, plain)
    labels = dict(value.labels)
    if "beta" in labels:
        labels["beta"] = f"{float(labels['beta']):.3g}"  # a root, in full precision
    name = template.format_map(labels)
    rest = ", ".join(
        printable(text)
        for label, text in value.labels.items()
        if text and f"{{{label}}}" not in template and (label, text) != ("subset", "all")
    )
    return f"{name} ({rest})" if rest else name


def imbalance_zone(ratio: float) -> str:
    """Say how far from balance a class is, from its events over those of the others."""
    rarer = min(ratio, 1 / ratio) if ratio else 0.0
    if rarer < 0.01:
        return "red: less than 1 to 100"
    if rarer < 0.1:
        return "yellow: less than 1 to 10"
    return "green: at least 1 to 10"


def explain(reason: str) -> str:
    """Return a reason, for a missing value or interval, in words."""
    return REASONS.get(reason) or OF_DETECTORS.get(reason, reason.replace("_", " "))


def number(value: float) -> str:
    """Write with four decimals, numbers too small for those with two digits."""
    return f"{value:.4f}" if value == 0 or abs(value) >= 0.001 else f"{value:.1e}"


def written(value: Value) -> str:
    """Write a value that is defined; a threshold that no probability reaches is not shown as 1."""
    assert value.value is not None
    return threshold(value.value) if value.name == "classifier_best_threshold" else number(value.value)


def threshold(value: float) -> str:
    """Write a threshold so that whoever sets what is printed decides for the event at it, too."""
    if value > 1:
        return "above 1"
    nearest = round(value, 6)
    # Thresholds are those of scores, as float32: 0.76 is the same one as 0.7599999904632568.
    return f"{nearest if np.float32(nearest) <= np.float32(value) else floor(value * 1e6) / 1e6:.6f}"


def interval_of(value: Value) -> IntervalValue | None:
    """Return the interval to show: an analytic one, where there is one, as alerts use it."""
    for interval in value.intervals:
        if interval.method != "bootstrap":
            return interval
    return value.intervals[0] if value.intervals else None


def bounds(interval: IntervalValue) -> str:
    """Write an interval."""
    return f"[{number(interval.lower)}, {number(interval.upper)}]"


def utc(microseconds: int | None) -> str:
    """Write a time to the second, "-" for none."""
    return "-" if microseconds is None else f"{_datetime(microseconds):%Y-%m-%d %H:%M:%S} UTC"


def iso(microseconds: int | None) -> str | None:
    """Write a time for machines: ISO 8601 to the microsecond."""
    return None if microseconds is None else f"{_datetime(microseconds):%Y-%m-%dT%H:%M:%S.%fZ}"


def _datetime(microseconds: int) -> datetime:
    return datetime.fromtimestamp(0, UTC) + timedelta(microseconds=microseconds)


def printable(text: str) -> str:
    """Escape what would move a cursor, break a line or reorder text: names come from messages."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def message(value: bytes | None, width: int = 160) -> str:
    """Return the beginning of a message as one printable line."""
    if value is None:
        return "(no value)"
    text = printable(value[: 4 * width].decode(errors="replace"))
    return text if len(text) <= width else text[: width - 1] + "…"
