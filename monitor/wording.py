"""How numbers, times, names and reasons are written for people. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta

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
}
"""Why a value is undefined, in words."""

DECISIONS: Mapping[str, str] = {
    "classifier_recall": "Recall",
    "classifier_precision": "Precision",
    "classifier_f1": "F1",
    "classifier_recall_average": "Recall",
    "classifier_precision_average": "Precision",
    "classifier_f1_average": "F1",
    "classifier_accuracy": "Accuracy",
    "classifier_balanced_accuracy": "Balanced accuracy",
    "classifier_matthews_corrcoef": "Matthews correlation",
    "classifier_expected_cost": "Expected cost",
}
"""Headline families that are counted from decisions, in the order in which they are shown."""

SCORES: Mapping[str, str] = {
    "classifier_roc_auc": "ROC AUC",
    "classifier_roc_auc_average": "ROC AUC",
    "classifier_average_precision": "Average precision",
    "classifier_average_precision_average": "Average precision",
    "classifier_partial_roc_auc": "Partial ROC AUC",
    "classifier_recall_at_fpr": "Recall at FPR",
    "classifier_brier_score": "Brier score",
    "classifier_log_loss": "Log loss",
}
"""Headline families that are computed from scores."""


def headline(window: WindowReport, families: Iterable[str]) -> Iterator[Value]:
    """Yield the values of these families to show first, in the order of the families.

    Those are of a binary model the values of its positive class and those that have no class (a whole that
    repeats the positive class is left out), of any other model the values of the whole and macro averages.
    """
    leading: defaultdict[str, list[Value]] = defaultdict(list)
    for value in window.values:
        if _leads(value, window.positive_class):
            leading[value.name].append(value)
    for family in families:
        yield from leading[family]


def _leads(value: Value, positive: str | None) -> bool:
    labels = value.labels
    if labels.get("subset", "all") != "all":
        return False
    if positive is None:
        return labels.get("class", "") == "" and labels.get("average", "macro") == "macro"
    return "average" not in labels and labels.get("class", positive) == positive


def title(value: Value) -> str:
    """Return a value's name for people, with what tells it from the others of its family."""
    labels = dict(value.labels)
    name = {**DECISIONS, **SCORES}.get(value.name, value.name.removeprefix("classifier_").replace("_", " "))
    if "max_fpr" in labels:
        at = labels.pop("max_fpr")
        name += f" {at}" if name.endswith("FPR") else f" up to FPR {at}"
    if labels.get("subset") == "all":
        del labels["subset"]
    rest = ", ".join(printable(label) for label in labels.values() if label)
    return f"{name} ({rest})" if rest else name


def explain(reason: str) -> str:
    """Return a reason in words."""
    return REASONS.get(reason, reason.replace("_", " "))


def number(value: float) -> str:
    """Write with four decimals, numbers too small for those with two digits."""
    return f"{value:.4f}" if value == 0 or abs(value) >= 0.001 else f"{value:.1e}"


def interval_of(value: Value) -> IntervalValue | None:
    """Return the interval to show: an analytic one, where there is one, as alerts use it."""
    return next((i for i in value.intervals if i.method != "bootstrap"), next(iter(value.intervals), None))


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
