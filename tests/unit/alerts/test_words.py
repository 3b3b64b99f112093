"""What an alert says of itself."""

from __future__ import annotations

from dataclasses import replace

import pytest

from monitor.alerts.alert import Alert, Evidence, Key, Moment
from monitor.alerts.rule import CALIBRATION, Limit, Rule
from monitor.alerts.words import duration, lacking, sentence

KEY = Key("Low", "fraud", "1", "", "", "fraud")
RULE = Rule("Low", "fraud", "classifier_recall", class_="fraud", limit=Limit("number", 0.8))
TEN = Moment(1_793_527_200_000_000, 0, 0)
FIRES = Alert(
    KEY, RULE, "firing", since=TEN, started=TEN,
    evidence=Evidence(0.712, 0.69, 0.74, "wilson", 0.8, 1203, beyond=106.4, cost_beyond=212_000.0),
)  # fmt: skip


def test_the_numbers() -> None:
    assert sentence(FIRES) == (
        "recall of fraud is 0.7120 (0.6900 to 0.7400), floor 0.8000, over 1,203 positives since "
        "2026-11-01T10:00Z; 106 misses beyond it (212,000)"
    )


def test_it_goes_on_firing_without_a_value() -> None:
    told = sentence(replace(FIRES, evidence=replace(FIRES.evidence, undefined="no_positives")))
    assert told.endswith("; it has no value now: no labels of class fraud")


def test_a_value_that_is_undefined() -> None:
    key, evidence = KEY._replace(alert="LowUndefined"), Evidence(undefined="no_positives")
    alert = Alert(key, RULE, "firing", started=TEN, evidence=evidence)
    assert sentence(alert) == "recall of fraud has no value: no labels of class fraud"
    told = sentence(replace(alert, reason="no labels of class fraud for 45 min"))
    assert told == "recall of fraud has no value: no labels of class fraud for 45 min"


def test_nothing_is_known_yet() -> None:
    assert sentence(Alert(KEY, RULE)) == "recall of fraud has not been judged yet"
    told = sentence(Alert(KEY, RULE, reason="the champion version is not known"))
    assert told == "recall of fraud has not been judged yet: the champion version is not known"


def test_labels_segments_and_reasons() -> None:
    rule = replace(RULE, metric="classifier_recall_at_fpr", labels={"max_fpr": "0.05", "subset": "all"})
    key = KEY._replace(segment="region=\x1b[2J")
    alert = Alert(key, rule, evidence=Evidence(0.9, support=50), reason="no event for 30 min")
    assert sentence(alert) == (
        "recall at fpr (max_fpr 0.05) of fraud where region=\\x1b[2J is 0.9000, over 50 events; "
        "no event for 30 min"
    )


def test_calibration_names_its_component() -> None:
    rule = replace(RULE, metric=CALIBRATION)
    evidence = Evidence(statistic=123_456.0, threshold=100_000.0, component="overconfident", support=1500)
    assert sentence(replace(FIRES, rule=rule, evidence=evidence)) == (
        "calibration of fraud: probabilities are too extreme (overconfident), evidence 123,456 of 100,000, "
        "over 1,500 events since 2026-11-01T10:00Z"
    )
    assert "within its tolerance" in sentence(Alert(KEY, rule))


@pytest.mark.parametrize(
    "moved, breaches, verb, judged",
    [(True, False, "moved to", "within the limit"), (False, True, "is still at", "beyond the limit too")],
)
def test_prevalence(moved: bool, breaches: bool, verb: str, judged: str) -> None:
    evidence = Evidence(
        0.7, limit=0.8, support=9, prevalence=0.05, reference_prevalence=0.1, prevalence_moved=moved,
        value_at_reference_prevalence=0.85, breaches_at_reference=breaches, cost_beyond=5.0, note="a note",
    )  # fmt: skip
    told = sentence(replace(FIRES, evidence=evidence))
    at_reference = f"at the reference the value would be 0.8500, {judged}"
    assert f"; prevalence {verb} 0.0500 (reference 0.1000), {at_reference}" in told
    assert "; a cost of 5 beyond it;" in told
    assert told.endswith("; a note")


@pytest.mark.parametrize(
    "microseconds, words",
    [
        (0, "0 s"),
        (1_500_000, "1.5 s"),
        (90_000_000, "1.5 min"),
        (7_200_000_000, "2 h"),
        (86_400_000_000, "1 d"),
    ],
)
def test_durations(microseconds: int, words: str) -> None:
    assert duration(microseconds) == words


@pytest.mark.parametrize(
    "metric, class_, code, words",
    [
        ("classifier_recall", "fraud", "no_observations", "no labels of class fraud"),
        ("classifier_specificity", "fraud", "no_observations", "no labels of other classes than class fraud"),
        ("classifier_recall", "*", "no_positives", "no labels of its class"),
        ("classifier_accuracy", "", "no_labels", "no labels"),
        ("classifier_accuracy", "", "no_observations", "no event that its detector looks at yet"),
        ("classifier_precision", "fraud", "never_predicted", "no decision for this class in the window"),
    ],
)
def test_why_there_is_no_value(metric: str, class_: str, code: str, words: str) -> None:
    assert lacking(metric, class_, code) == words
