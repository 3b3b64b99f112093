"""What lies beyond a limit, what it costs, and whether prevalence alone explains it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from monitor.alerts.alert import Evidence, Key
from monitor.alerts.explain import against, unit_cost, with_prevalence
from monitor.alerts.rule import Limit, Rule
from tests.support.reports import window_report

KEY = Key("Low", "fraud", "1", "last_10k", "", "fraud")
WINDOW = replace(window_report(), costs=(2000.0, 5.0))


def rule(family: str, side: str = "floor") -> Rule:
    return Rule("Low", "fraud", f"classifier_{family}", side=side, limit=Limit("number", 0.8))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "family, class_, cost",
    [
        ("recall", "fraud", 2000.0),
        ("recall", "legit", 5.0),
        ("npv", "fraud", 2000.0),
        ("precision", "fraud", 5.0),
        ("specificity", "fraud", 5.0),
        ("accuracy", "", None),
        ("roc_auc", "fraud", None),
    ],
)
def test_wrong_decisions_cost_what_they_are(family: str, class_: str, cost: float | None) -> None:
    assert unit_cost(rule(family), KEY._replace(class_=class_), WINDOW) == cost
    assert unit_cost(rule(family), KEY, replace(WINDOW, costs=None)) is None


def test_misses_and_money_beyond_the_floor() -> None:
    evidence = against(Evidence(0.7, support=1000), rule("recall"), 0.8, 2000.0)
    assert evidence.limit == 0.8
    assert evidence.beyond == pytest.approx(100)
    assert evidence.cost_beyond == pytest.approx(200_000)
    assert against(Evidence(0.9, support=1000), rule("recall"), 0.8, 2000.0).cost_beyond == 0


def test_expected_cost_is_money_alone_and_scores_are_neither() -> None:
    cost = against(Evidence(1.5, support=1000), rule("expected_cost", "ceiling"), 1.2, None)
    assert (cost.beyond, cost.cost_beyond) == (None, pytest.approx(300))
    auc = against(Evidence(0.7, support=1000), rule("roc_auc"), 0.8, None)
    assert (auc.beyond, auc.cost_beyond) == (None, None)
    unknown = against(Evidence(0.7, support=1000), rule("recall"), None, 1.0)
    assert (unknown.beyond, unknown.limit) == (None, None)


def test_a_fall_of_precision_that_prevalence_explains() -> None:
    precision = rule("precision")  # 169 of 307; 202 of 10,000 are fraud
    evidence = with_prevalence(Evidence(0.55, limit=0.8), precision, KEY, WINDOW, {"fraud": 0.1})
    assert evidence.prevalence == pytest.approx(0.0202)
    assert evidence.reference_prevalence == 0.1
    assert evidence.prevalence_moved is True
    tpr, fpr = 169 / 202, 138 / 9798
    assert evidence.value_at_reference_prevalence == pytest.approx(0.1 * tpr / (0.1 * tpr + 0.9 * fpr))
    assert evidence.breaches_at_reference is False
    assert with_prevalence(evidence, precision, KEY, WINDOW, {"fraud": 0.02}).prevalence_moved is False
    worse = replace(evidence, limit=0.99)
    assert with_prevalence(worse, precision, KEY, WINDOW, {"fraud": 0.1}).breaches_at_reference is True
    assert against(evidence, precision, 0.99, None).breaches_at_reference is True


def test_the_reference_of_the_negative_class_is_the_rest() -> None:
    key = KEY._replace(class_="legit")
    evidence = with_prevalence(Evidence(0.9, limit=0.8), rule("precision"), key, WINDOW, {"fraud": 0.1})
    assert evidence.reference_prevalence == pytest.approx(0.9)


def test_what_does_not_move_or_has_no_reference_stays_as_it_is() -> None:
    evidence = Evidence(0.9, limit=0.8)
    assert with_prevalence(evidence, rule("recall"), KEY, WINDOW, {"fraud": 0.1}) == evidence
    several = window_report(classes=("a", "b", "c"), confusion=((5, 0, 0, 0), (0, 5, 0, 0), (0, 0, 5, 0)))
    whole = KEY._replace(class_="")
    assert with_prevalence(evidence, rule("accuracy"), whole, several, {"a": 0.1}) == evidence
    known = with_prevalence(evidence, rule("precision"), KEY, WINDOW, {})
    assert (known.prevalence, known.reference_prevalence) == (pytest.approx(0.0202), None)
    assert known.value_at_reference_prevalence is None
