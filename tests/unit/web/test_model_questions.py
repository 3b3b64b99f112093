"""The three questions about a model, answered in words."""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.report import WindowReport
from monitor.web.html import Html
from monitor.web.model.answer import answer_card
from monitor.web.model.credibility import credibility
from monitor.web.model.imbalance import imbalance
from monitor.web.model.tolerance import tolerance
from monitor.web.model.values import Values
from tests.support.pages import Document
from tests.support.reports import empty_window, multilabel_window, number, ratio, window_report


def with_values(window: WindowReport, *values) -> Values:
    """Return a window with values in place of those of the same name and labels."""
    new = {(value.name, tuple(value.labels.items())): value for value in values}
    old = {(value.name, tuple(value.labels.items())): value for value in window.values}
    return Values(replace(window, values=tuple((old | new).values())))


def calibrated(positives=200, negatives=9800, class_="fraud", undefined="no_positives", **found) -> Values:
    """Return a window of well calibrated scores, but for what is found otherwise."""
    usual = {
        "calibration_p_value": 0.4,
        "calibration_slope": 1.0,
        "calibration_intercept": 0.0,
        "brier_skill_score": 0.3,
        "brier_uncertainty": 0.0196,
    }
    window = window_report(confusion=((negatives, 0, 0), (0, positives, 0)))
    values = (
        number(f"classifier_{name}", value, positives, undefined, class_=class_)
        for name, value in (usual | found).items()
    )
    return with_values(window, *values)


def decided(recall: tuple[int, int], alarms: tuple[int, int], possible=0.84, partial=0.61) -> Values:
    """Return a window with these decisions, and what the ranking allows."""
    (hits, positives), (false, negatives) = recall, alarms
    window = window_report(confusion=((negatives - false, false, 0), (positives - hits, hits, 0)))
    labels = {"class_": "fraud", "max_fpr": "0.1"}
    return with_values(
        window,
        ratio("classifier_specificity", negatives - false, negatives, "no_negatives", class_="fraud"),
        number("classifier_recall_at_fpr", possible, positives, "too_few_negatives", **labels),
        number("classifier_partial_roc_auc", partial, positives, "too_few_negatives", half=0.05, **labels),
    )


def test_a_rare_class_is_named_with_its_zone():
    answer = imbalance(Values(window_report()), "fraud")
    assert answer.verdict == "1 in 50 events is fraud"
    assert "202 of 10,000 labeled events are fraud" in answer.text
    assert "yellow: less than 1 to 10" in answer.text


def test_a_constant_guess_is_held_against_the_decisions():
    worse = imbalance(Values(window_report(confusion=((900, 60, 0), (30, 10, 0)))), "fraud").text
    assert "Deciding always legit would have an accuracy of 0.9600; the decisions have 0.9100" in worse
    assert "which is less. Accuracy says little here." in worse
    better = imbalance(Values(window_report(confusion=((50, 5, 0), (5, 40, 0)))), "fraud").text
    assert "which is less" not in better and "says little" not in better


@pytest.mark.parametrize(
    "confusion, verdict",
    [
        (((40, 0, 0), (0, 60, 0)), "60% of the events are fraud"),
        (((51, 0, 0), (0, 49, 0)), "49% of the events are fraud"),
        (((2, 0, 0), (0, 998, 0)), "99.8% of the events are fraud"),
        (((1, 0, 0), (0, 9999, 0)), "99.9% of the events are fraud"),
        (((0, 0, 0), (0, 60, 0)), "All 60 labeled events are fraud"),
        (((60, 0, 0), (0, 0, 0)), "No fraud among 60 labeled events"),
        (((70, 0, 0), (0, 30, 0)), "1 in 3.3 events is fraud"),
        (((0, 0, 0), (0, 0, 0)), "Cannot be said: no labeled event in the window"),
    ],
)
def test_shares_of_all_sizes(confusion, verdict):
    assert imbalance(Values(window_report(confusion=confusion)), "fraud").verdict == verdict


def test_a_multilabel_class_is_held_against_never_and_always():
    answer = imbalance(Values(multilabel_window()), "b").text
    assert "Deciding never for b would be right for 0.7000 of the events" in answer


def test_what_decisions_miss_within_the_budget():
    answer = tolerance(decided((100, 200), (98, 9800)), "fraud")
    assert answer.verdict == "0.8400 at FPR 0.1; the decisions catch 0.5000 at FPR 0.0100"
    assert "(100 of 200) at a false-positive rate of 0.0100, within what is tolerable" in answer.text
    assert "0.6100 [0.5600, 0.6600]; chance is 0.05" in answer.text


@pytest.mark.parametrize(
    "values, tone, words",
    [
        (decided((100, 200), (1960, 9800)), "warn", "the decisions raise more false alarms than that"),
        (decided((168, 200), (970, 9800)), "good", "the decisions catch as much"),
        (decided((100, 200), (98, 9800), partial=0.06), "bad", "no better than chance as far as can be told"),
        (decided((100, 200), (98, 9800), partial=-0.02), "bad", "worse than chance"),
        (decided((100, 200), (98, 9800), None, None), "none", "too few events of other classes"),
    ],
)
def test_verdicts_about_the_budget(values, tone, words):
    answer = tolerance(values, "fraud")
    assert answer.tone == tone
    assert words in answer.verdict


def test_the_largest_rate_counts():
    values = with_values(
        window_report(), number("classifier_recall_at_fpr", 0.9, 200, class_="fraud", max_fpr="0.2")
    )
    assert tolerance(values, "fraud").verdict.startswith("0.9000 at FPR 0.2")


def test_without_scores_nothing_is_possible():
    window = window_report()
    bare = replace(window, values=tuple(v for v in window.values if v.name == "classifier_recall"))
    assert tolerance(Values(bare), "fraud").verdict.startswith("Cannot be said: no scores")
    assert credibility(Values(bare), "fraud").verdict == "Cannot be said: no probabilities"


@pytest.mark.parametrize(
    "found, tone, verdict",
    [
        ({}, "good", "No evidence against them"),
        ({"calibration_p_value": 1e-9, "calibration_slope": 0.5}, "warn", "No: over-confident"),
        ({"calibration_p_value": 1e-9, "calibration_slope": -1.0}, "warn", "No: the wrong way round"),
        ({"calibration_p_value": 1e-9, "calibration_slope": 2.0}, "warn", "No: under-confident"),
        ({"calibration_p_value": 1e-9, "calibration_intercept": -1.0}, "warn", "No: scores too high"),
        ({"calibration_p_value": 1e-9, "calibration_intercept": 1.0}, "warn", "No: scores too low"),
        (
            {"calibration_p_value": 0.0, "calibration_intercept": -1.0, "calibration_slope": 0.4},
            "warn",
            "No: scores too high and over-confident",
        ),
        # An intercept within its own error is not blamed, and a small deviation not made much of.
        (
            {"calibration_p_value": 1e-9, "calibration_intercept": -0.12, "calibration_slope": 0.5},
            "warn",
            "No: over-confident",
        ),
        ({"calibration_p_value": 1e-9, "calibration_slope": 0.98}, "good", "Nearly: off by little"),
        ({"brier_skill_score": -0.2}, "bad", "No: worse than the prevalence for everyone"),
        (
            {"brier_skill_score": -0.2, "calibration_slope": 0.3, "calibration_p_value": 0.0},
            "bad",
            "No: over-confident",
        ),
        ({"positives": 19}, "none", "Too few events to say: 19 of fraud"),
        ({"negatives": 3}, "none", "Too few events to say: 3 of other classes"),
        (
            {"calibration_p_value": None, "undefined": "equal_scores"},
            "none",
            "Cannot be said: all scores in the window are equal",
        ),
        (
            {"calibration_p_value": 1e-9, "calibration_slope": None, "undefined": "separated"},
            "good",
            "Nearly: off by little",
        ),
    ],
)
def test_verdicts_about_probabilities(found, tone, verdict):
    answer = credibility(calibrated(**found), "fraud")
    assert answer.verdict.startswith(verdict)
    assert answer.tone == tone


def test_a_tiny_p_value_is_not_zero():
    assert (
        "probability below 0.0001 (p value)" in credibility(calibrated(calibration_p_value=0.0), "fraud").text
    )


@pytest.mark.parametrize("question", [imbalance, tolerance, credibility])
def test_an_empty_window_says_why_and_no_number(question):
    answer = question(Values(empty_window()), "fraud")
    assert answer.verdict.startswith("Cannot be said")
    assert answer.tone == "none"
    assert answer.facts == () or "undefined" not in answer.text


@pytest.mark.parametrize("question", [imbalance, tolerance, credibility])
def test_every_class_of_every_task_has_an_answer(question):
    names = ("a", "b", "c")
    several = window_report(classes=names, confusion=((50, 0, 0, 0), (0, 47, 3, 0), (0, 2, 47, 1)))
    for window in (several, multilabel_window()):
        for name in window.scored:
            assert question(Values(window), name).verdict


def test_numbers_are_for_machines_too():
    page = Document(Html(f"<div>{answer_card(tolerance(Values(window_report()), 'fraud'))}</div>"))
    families = {data["data-family"] for data in page.all("data")}
    assert {"classifier_recall", "classifier_recall_lower", "classifier_recall_at_fpr"} <= families


@given(st.lists(st.integers(0, 50), min_size=4, max_size=4))
def test_no_counts_break_an_answer(cells):
    a, b, c, d = cells
    values = Values(window_report(confusion=((a, b, 0), (c, d, 0))))
    for question in (imbalance, tolerance, credibility):
        answer = question(values, "fraud")
        assert answer.verdict
        assert not re.search(r"\bnan\b", answer.text)
