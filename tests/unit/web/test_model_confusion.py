"""Confusion matrices and the worst confusions."""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.web.model.chosen import from_report
from monitor.web.model.confusion import confusion_section, worst
from tests.support.pages import Document
from tests.support.reports import multilabel_window, report, window_report

NAMES = ("a", "b", "c")
SEVERAL = window_report(classes=NAMES, confusion=((90, 8, 2, 0), (1, 45, 0, 4), (0, 30, 20, 0)))


def section(window, **parameters):
    asked = {"model": window.model, **parameters}
    return confusion_section(from_report(report(window), asked))


def cells(html):
    return re.findall(r'<td class="(shade\d+)(?: right)?">([^<]*)</td>', html)


def test_the_worst_come_first_with_their_share_of_the_true_class():
    assert [each.words for each in worst(SEVERAL)[:3]] == [
        "30 of c were decided b: 0.6000 of its 50.",
        "8 of a were decided b: 0.0800 of its 100.",
        "4 of b were decided other: 0.0800 of its 50.",
    ]


def test_of_as_many_events_the_larger_share_is_worse():
    window = window_report(confusion=((90, 5, 0), (5, 5, 0)))
    assert [each.true for each in worst(window)] == ["fraud", "legit"]


def test_multilabel_confusions_are_within_a_class():
    window = multilabel_window()
    words = [each.words for each in worst(window)]
    assert "4 of not b were decided b: 0.5714 of its 7." in words
    text = Document(section(window)).text
    assert "not a" in text and "not decided" in text


@pytest.mark.parametrize(
    "matrix, expected",
    [
        ("counts", [("shade9", "90"), ("shade1", "8"), ("shade0", "2")]),
        ("recall", [("shade9", "0.9000"), ("shade1", "0.0800"), ("shade0", "0.0200")]),
        ("precision", [("shade10", "0.9890"), ("shade1", "0.0964"), ("shade1", "0.0909")]),
    ],
)
def test_cells_show_counts_or_shares(matrix, expected):
    html = section(SEVERAL, matrix=matrix)
    assert cells(html)[:3] == expected
    current = [link for link in Document(html).all("a") if link.get("aria-current")]
    assert len(current) == 1 and (matrix == "counts" or f"matrix={matrix}" in current[0]["href"])


def test_right_decisions_are_framed():
    assert len(re.findall(r'class="shade\d+ right"', section(SEVERAL))) == 3


def test_a_column_for_other_decisions_only_where_there_are_any():
    assert ">other<" in section(SEVERAL)
    assert ">other<" not in section(window_report(confusion=((90, 5, 0), (2, 3, 0))))


def test_a_share_of_nothing_is_none():
    html = section(window_report(confusion=((90, 0, 0), (3, 0, 0))), matrix="precision")
    assert ("shade0", "–") in cells(html)


def test_a_large_matrix_is_left_to_its_worst_pairs():
    classes = tuple(f"c{n}" for n in range(21))
    confusion = tuple((*(9 if a == b else a + b for b in range(21)), 0) for a in range(21))
    html = section(window_report(classes=classes, confusion=confusion))
    assert "too large to be drawn" in html
    assert cells(html) == []
    assert len(re.findall("<tr", html)) == 1 + 30


def test_nothing_is_wrong():
    assert "No wrong decision" in section(window_report(confusion=((9, 0, 0), (0, 3, 0))))
    assert "No labeled event" in section(replace(window_report(confusion=((0, 0, 0), (0, 0, 0))), labeled=0))


@given(st.lists(st.lists(st.integers(0, 99), min_size=4, max_size=4), min_size=3, max_size=3))
def test_all_that_is_off_the_diagonal_is_a_confusion(matrix):
    window = window_report(classes=NAMES, confusion=tuple(map(tuple, matrix)))
    found = worst(window)
    wrong = sum(map(sum, matrix)) - sum(matrix[n][n] for n in range(3))
    assert sum(each.events for each in found) == wrong
    assert [each.events for each in found] == sorted((each.events for each in found), reverse=True)
