"""What a breach amounts to, and whether prevalence alone explains it: evidence is completed here. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

from monitor.alerts import prevalence
from monitor.alerts.alert import Evidence, Key
from monitor.alerts.rule import Rule
from monitor.report import WindowReport

_WRONG: Mapping[str, Literal["miss", "false_alarm", "either"]] = {
    "classifier_recall": "miss",
    "classifier_npv": "miss",
    "classifier_precision": "false_alarm",
    "classifier_specificity": "false_alarm",
    "classifier_accuracy": "either",
}
"""Shares of right decisions, and what their wrong ones are; the support of these is the denominator."""


def is_beyond(rule: Rule, value: float | None, limit: float | None) -> bool:
    """Return whether a value is on the bad side of a limit, if both are known."""
    if value is None or limit is None:
        return False
    return value < limit if rule.side == "floor" else value > limit


def unit_cost(rule: Rule, key: Key, window: WindowReport) -> float | None:
    """Return what one more wrong decision of the metric's kind costs, None where that is not one number."""
    return wrong_decision_cost(rule.metric, key.class_, window.costs, window.positive_class)


def wrong_decision_cost(
    metric: str, class_: str, costs: tuple[float, float] | None, positive_class: str | None
) -> float | None:
    """Return what one wrong decision of a metric's kind costs, None where that is not one number.

    Parameters
    ----------
    metric, class_
        Family and class of the value.
    costs
        Of a false negative and of a false positive; None without, and where there is a matrix of costs.
    positive_class
        Of a binary model, which those costs are about; None: they are about each class.
    """
    wrong = _WRONG.get(metric)
    if costs is None or wrong in (None, "either"):
        return None
    false_negative, false_positive = costs
    if positive_class is not None and class_ != positive_class:
        false_negative, false_positive = false_positive, false_negative
    return false_negative if wrong == "miss" else false_positive


def against(evidence: Evidence, rule: Rule, limit: float | None, cost: float | None) -> Evidence:
    """Return evidence that is held against a limit: what lies beyond it, and what that costs.

    Parameters
    ----------
    evidence
        With value and support.
    rule
        Says on which side is bad.
    limit
        None where it is not known.
    cost
        Of one wrong decision (`unit_cost`).
    """
    beyond = cost_beyond = None
    if evidence.value is not None and limit is not None:
        if rule.metric in _WRONG and rule.side == "floor":
            beyond = max(0.0, (limit - evidence.value) * evidence.support)
            cost_beyond = None if cost is None else beyond * cost
        elif rule.metric == "classifier_expected_cost" and rule.side == "ceiling":
            cost_beyond = max(0.0, (evidence.value - limit) * evidence.support)
    return replace(
        evidence,
        limit=limit,
        beyond=beyond,
        cost_beyond=cost_beyond,
        breaches_at_reference=_breaches_at_reference(rule, evidence.value_at_reference_prevalence, limit),
    )


def with_prevalence(
    evidence: Evidence, rule: Rule, key: Key, window: WindowReport, references: Mapping[str, float]
) -> Evidence:
    """Return evidence that says whether prevalence moved, and what the value would be if it had not.

    Unchanged for metrics that do not move with prevalence, and where no class is meant.

    Parameters
    ----------
    evidence
        With its limit.
    rule, key
        Which metric, of which class (none: the positive one of a binary model).
    window
        A window of the same version and segment: for sequential alerts one that shows the present.
    references
        Configured prevalence by class, of scored classes.
    """
    class_ = key.class_ or window.positive_class
    if rule.metric not in prevalence.MOVING or not class_ or not window.labeled:
        return evidence
    cells = prevalence.cells(window, class_)
    evidence = replace(evidence, prevalence=cells.positives / window.labeled)
    reference = _reference(window, class_, references)
    if reference is None:
        return evidence
    lower, upper = prevalence.wilson(cells.positives, window.labeled)
    value = prevalence.value_at(rule, window, class_, reference)
    return replace(
        evidence,
        reference_prevalence=reference,
        prevalence_moved=not lower <= reference <= upper,
        value_at_reference_prevalence=value,
        breaches_at_reference=_breaches_at_reference(rule, value, evidence.limit),
    )


def _reference(window: WindowReport, class_: str, references: Mapping[str, float]) -> float | None:
    positive = window.positive_class
    if positive is None or class_ == positive:
        return references.get(class_)
    return 1 - references[positive] if positive in references else None


def _breaches_at_reference(rule: Rule, value: float | None, limit: float | None) -> bool | None:
    return None if value is None or limit is None else is_beyond(rule, value, limit)
