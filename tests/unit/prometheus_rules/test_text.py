"""Texts for Prometheus: what is literal stays so."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.prometheus_rules.rule import promtime, series
from monitor.prometheus_rules.text import Firing, Label, Value, Windows, literal, quote, shown, template

OPEN = '{{"{"}}'


@given(st.text())
def test_a_literal_never_begins_a_template(text: str) -> None:
    assert "{" not in literal(text).replace(OPEN, "")
    assert literal(text).replace(OPEN, "{") == text
    assert shown([text], Firing()) == text


@given(st.text(st.characters(exclude_categories=["C"])))
def test_a_quoted_text_is_read_back(text: str) -> None:
    assert json.loads(quote(text)) == text  # JSON escapes these characters as Go does
    assert "\n" not in quote(text + "\n")


def test_a_label_that_is_missing_takes_what_surrounds_it_along() -> None:
    text = ("of ", Label("model"), Label("class", ", class ", "!"))
    assert shown(text, Firing({"model": "m", "class": "c"})) == "of m, class c!"
    assert shown(text, Firing({"model": "m"})) == "of m"
    assert template(text) == (
        "of {{ with $labels.model }}{{ . }}{{ end }}{{ with $labels.class }}, class {{ . }}!{{ end }}"
    )


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.123456, "number", "0.1235"),
        (0.123456, "ratio", "12.35%"),
        (0.25, "seconds", "250ms"),
        (59.5, "seconds", "59.5s"),
        (61, "seconds", "1m 1s"),
        (3600, "seconds", "1h 0m 0s"),
        (90061, "seconds", "1d 1h 1m 1s"),
    ],
)
def test_values_are_shown_as_prometheus_shows_them(value: float, unit: str, text: str) -> None:
    assert Value(unit).shown(Firing(value=value)) == text  # type: ignore[arg-type]


def test_windows_are_shown_where_there_are_any() -> None:
    piece = Windows("classifier_recall", {"max_fpr": "0.1"})
    found = Firing(windows={"classifier_recall": {"last": 0.5, "all": 0.75}})
    assert piece.shown(found) == " Recall is now 0.75 (all), 0.5 (last)."
    assert piece.shown(Firing()) == ""


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.5, "500ms"), (1, "1s"), (90, "90s"), (300, "5m"), (7200, "2h"), (86400, "1d")]
)
def test_durations_are_in_the_largest_whole_unit(seconds: float, text: str) -> None:
    assert promtime(seconds) == text


def test_a_series_has_its_labels_quoted() -> None:
    assert series("up") == "up{}"
    assert series("x", model='a"b', class_="c") == r'x{model="a\"b",class="c"}'
