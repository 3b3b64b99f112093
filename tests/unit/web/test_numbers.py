from urllib.parse import parse_qsl

import pytest

from monitor.report import IntervalValue, Value
from monitor.web.numbers import LOW_SUPPORT, labels_text, shown_interval, shown_value, value_bar
from tests.support.pages import Document
from tests.support.reports import number, ratio
from tests.support.web import HOSTILE

RECALL = ratio("classifier_recall", 169, 202, class_="fraud")


def test_a_value_has_its_full_precision_and_its_series():
    [data] = Document(shown_value(RECALL)).all("data")
    assert float(data["value"]) == 169 / 202
    assert (data["data-family"], data["data-labels"]) == ("classifier_recall", "class=fraud")
    assert Document(shown_value(RECALL)).text == "0.8366"


def test_an_interval_has_both_bounds_and_the_method():
    page = Document(shown_interval(RECALL))
    lower, upper = page.all("data")
    bounds = RECALL.intervals[0]
    assert (float(lower["value"]), float(upper["value"])) == (bounds.lower, bounds.upper)
    assert lower["data-family"] == "classifier_recall_lower"
    assert lower["data-method"] == upper["data-method"] == "wilson"
    assert page.text == "[0.7795, 0.8812]"
    assert page.all("span")[0]["title"] == "Wilson interval"


def test_undefined_says_why_and_has_no_interval():
    value = ratio("classifier_recall", 0, 0)
    assert Document(shown_value(value)).text == "undefined: no labeled event of this class in the window"
    assert shown_interval(value) is None and value_bar(value) is None
    assert "data" not in Document(shown_value(value)).tags()


def test_low_support_is_marked():
    assert LOW_SUPPORT in shown_value(RECALL._replace(low_support=True))
    assert LOW_SUPPORT not in shown_value(RECALL)


@pytest.mark.parametrize(
    "half, text, bounds",
    [(0.006, "0.664", "[0.658, 0.670]"), (0.003, "0.6640", "[0.6610, 0.6670]")],
)
def test_brief_leaves_out_what_the_interval_makes_noise(half, text, bounds):
    value = number("classifier_f1", 0.664, 300, half=half)
    assert Document(shown_value(value, brief=True)).text == text
    assert Document(shown_interval(value, brief=True)).text == bounds


def test_brief_keeps_small_numbers_without_an_interval():
    assert Document(shown_value(number("classifier_brier_score", 0.0131, 9), brief=True)).text == "0.0131"


def test_a_bar_is_drawn_between_0_and_1_only():
    beyond = RECALL._replace(value=1.5, intervals=(IntervalValue("wald_t", 0.9, 2.1),))
    assert value_bar(beyond) is None
    assert value_bar(RECALL) is not None


def test_labels_are_sorted_and_hostile_ones_are_text():
    assert labels_text({"max_fpr": "0.1", "class": "a"}) == "class=a&max_fpr=0.1"
    value: Value = RECALL._replace(labels={"class": f"a,b=c&{HOSTILE}", "k": "1"})
    page = Document(shown_value(value))
    assert page.tags() == {"data"}
    assert dict(parse_qsl(page.all("data")[0]["data-labels"])) == value.labels
