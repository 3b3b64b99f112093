from dataclasses import replace
from typing import get_args

import pytest

from monitor.config.models import ModelConfig
from monitor.metrics.catalog import CATALOG
from monitor.presets import HIGH_IS_BAD, PRESETS, RECORDED, Pick, Presets, pick_values
from tests.support.reports import empty_window, number, window_report

THREE = ("setosa", "versicolor", "virginica")
IRIS = {"classes": THREE, "confusion": ((50, 0, 0, 0), (0, 47, 3, 0), (0, 2, 47, 1))}


def names(values):
    return [(value.name.removeprefix("classifier_"), dict(value.labels)) for value in values]


def test_the_configuration_has_the_presets_that_there_are():
    annotation = ModelConfig.model_fields["preset"].annotation
    literal = next(each for each in get_args(annotation) if get_args(each))
    assert set(get_args(literal)) == PRESETS.keys()


def test_every_pick_is_in_the_catalog_with_the_direction_that_it_has_there():
    metrics = {metric.name: metric for metric in CATALOG}
    bad = {pick.family for pick in RECORDED if metrics[pick.family].greater_is_better is False}
    assert bad == HIGH_IS_BAD


def test_a_model_without_a_preset_shows_recall_precision_partial_auc_and_brier_score_first():
    assert names(Presets().first(window_report())) == [
        ("recall", {"class": "fraud"}),
        ("precision", {"class": "fraud"}),
        ("partial_roc_auc", {"class": "fraud", "max_fpr": "0.1"}),
        ("brier_score", {"class": "fraud", "subset": "all"}),
    ]


def test_the_preset_is_that_of_the_configured_name_or_of_the_wildcard():
    presets = Presets({"fraud": "high_cost", "*": "low_cost"}, models=("fraud", "plain", "*"))
    assert [presets.name(model) for model in ("fraud", "plain", "other")] == ["high_cost", None, "low_cost"]
    first = [value.name for value in presets.first(window_report(model="fraud"))]
    assert first == ["classifier_partial_roc_auc"]  # the example has no Brier score of positives


def test_without_a_positive_class_averages_and_the_worst_class_stand_for_all():
    window = window_report(**IRIS)
    worst = replace(
        window,
        values=tuple(
            v._replace(value=0.2) if v.name == "classifier_partial_roc_auc" and v.labels["class"] == THREE[1]
            else v._replace(value=0.9) if v.name == "classifier_brier_score" and v.labels["class"] == THREE[2]
            else v
            for v in window.values
        ),
    )  # fmt: skip
    assert names(Presets().first(worst)) == [
        ("recall_average", {"average": "macro"}),
        ("precision_average", {"average": "macro"}),
        ("partial_roc_auc", {"class": THREE[1], "max_fpr": "0.1"}),
        ("brier_score", {"class": THREE[2], "subset": "all"}),
    ]


def test_of_windows_whose_values_are_called_the_same_each_has_its_own_worst_class():
    for bad in THREE:
        values = [number("classifier_brier_score", 0.1 + (c == bad), 9, class_=c) for c in THREE]
        window = replace(window_report(**IRIS), values=tuple(values))
        assert list(pick_values(window, [Pick("classifier_brier_score")])) == [values[THREE.index(bad)]]


def test_of_windows_whose_values_are_in_another_order_each_shows_its_positive_class():
    for classes in (("legit", "fraud"), ("fraud", "legit")):
        values = [number("classifier_recall", 0.5, 9, class_=c) for c in classes]
        window = replace(window_report(), values=tuple(values))
        assert list(pick_values(window, [Pick("classifier_recall")])) == [values[classes.index("fraud")]]


def test_an_undefined_class_is_shown_only_where_all_are():
    window = window_report(**IRIS)
    values = tuple(
        v._replace(value=None, undefined="no_positives")
        if v.name == "classifier_partial_roc_auc" and v.labels["class"] == THREE[0]
        else v
        for v in window.values
    )
    pick = [Pick("classifier_partial_roc_auc")]
    assert all(v.value is not None for v in pick_values(replace(window, values=values), pick))
    [undefined] = pick_values(empty_window(), pick)
    assert undefined.undefined is not None


@pytest.mark.parametrize(
    ("family", "parameters", "chosen"),
    [
        ("classifier_recall_at_fpr", [{"max_fpr": "1e-05"}, {"max_fpr": "0.2"}, {"max_fpr": "0.1"}], 1),
        ("classifier_precision_at_k", [{"k": "100"}, {"k": "20"}], 0),
    ],
)
def test_of_several_values_the_largest_rate_and_the_first_k_are_chosen(family, parameters, chosen):
    values = tuple(number(family, i / 10, 100, class_="fraud", **which) for i, which in enumerate(parameters))
    assert list(pick_values(replace(window_report(), values=values), [Pick(family)])) == [values[chosen]]


def test_a_binary_model_shows_its_positive_class_where_there_is_a_whole_too():
    values = tuple(number("classifier_brier_score", 0.1, 9, class_=name) for name in ("", "legit", "fraud"))
    window = replace(window_report(), values=values)
    assert list(pick_values(window, [Pick("classifier_brier_score")])) == [values[2]]
    assert list(pick_values(replace(window, values=values[:2]), [Pick("classifier_brier_score")])) == [
        values[0]
    ]
