"""Charts of a window against the numbers of its report."""

import re
from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.metrics.context import Context
from monitor.metrics.curves import COST_RATIOS, CRITERIA, Curves, curves
from monitor.report import WindowCurves, WindowReport
from monitor.web.charts import CHARTS, draw
from monitor.web.charts.axes import Panel
from monitor.web.charts.figure import LOWER, UPPER, across, unit, upwards
from monitor.web.charts.subject import subject
from tests.support.counts import binary_counts, parameters
from tests.support.drawn import drawn, window_of
from tests.support.reports import window_curves, window_report
from tests.support.svg import area, described, of_class, parsed, places, points, texts, values
from tests.support.web import HOSTILE

UNIT = unit("", "")
PIXEL = 1 / 250
"""Of an axis from 0 to 1."""


def chart(name, window, class_=None):
    svg = draw(name, window, window.scored[0] if class_ is None else class_)
    assert svg is not None
    return parsed(svg)


@pytest.mark.parametrize("task", ["binary", "plain", "multiclass", "multilabel"])
@pytest.mark.parametrize("name", CHARTS)
def test_every_chart_is_named_described_and_small(name, task):
    window = drawn(task)
    class_ = "" if (name, task) == ("confidence_decay", "multiclass") else window.scored[0]
    svg = draw(name, window, class_)
    assert svg is not None and len(svg) < 15_000
    root = parsed(svg)
    assert root.get("role") == "img"
    assert [child.tag for child in root][:2] == ["title", "desc"]
    assert len(described(root)) > 20
    assert "style" not in svg  # the pages' policy forbids it


@pytest.mark.parametrize("task", ["binary", "multiclass", "multilabel"])
def test_the_shaded_band_is_the_partial_area(task):
    window = drawn(task)
    root = chart("roc", window)
    value = window.find("classifier_partial_roc_auc", class_=window.scored[0], max_fpr="0.1")
    (band,) = of_class(root, "area")
    corners = values(UNIT, points(band))
    assert area(corners) / 0.1 == pytest.approx(value.value, abs=0.01)
    assert corners[:, 0].max() == pytest.approx(0.1, abs=PIXEL)
    assert f"up to FPR 0.1: {value.value:.4f}" in described(root)


def test_the_widest_band_is_shaded():
    window = drawn("binary")
    rates = {v.labels["max_fpr"] for v in window.values if v.name == "classifier_partial_roc_auc"}
    assert len(rates) > 1 and max(rates, key=float) == "0.1"


def test_the_band_ends_between_two_points():
    window = replace(window_report(), curves=window_curves())  # points at FPR 0, 1/3 and 1
    (band,) = of_class(chart("roc", window), "area")
    corners = values(UNIT, points(band))
    assert corners[1] == pytest.approx([0.1, 0.75 * 0.3], abs=PIXEL)


def test_the_operating_point_is_that_of_the_matrix():
    window = drawn("binary")
    (_, false_alarms, _), (_, hits, _) = window.confusions[0]
    negatives, positives = window.support
    (point,) = of_class(chart("roc", window), "point", "now")
    assert values(UNIT, places([point]))[0] == pytest.approx(
        [false_alarms / negatives, hits / positives], abs=1e-4
    )
    (point,) = of_class(chart("precision_recall", window), "point", "now")
    assert values(UNIT, places([point]))[0] == pytest.approx(
        [hits / positives, hits / (hits + false_alarms)], abs=1e-4
    )


@pytest.mark.parametrize("task", ["multiclass", "multilabel"])
def test_the_operating_point_of_one_class_against_the_others(task):
    window = drawn(task)
    for name in window.scored:
        decided = subject(window, name).decided()
        found = {
            family: window.find(f"classifier_{family}", class_=name).value
            for family in ("recall", "precision")
        }
        assert found == pytest.approx({"recall": decided.recall, "precision": decided.precision})
        assert sum((decided.hits, decided.misses, decided.false_alarms, decided.rest)) == window.labeled


def test_recall_at_the_largest_rate_is_marked():
    window = drawn("binary")
    recall = window.find("classifier_recall_at_fpr", class_="fraud", max_fpr="0.1").value
    (point,) = of_class(chart("roc", window), "point", "best")
    assert values(UNIT, places([point]))[0] == pytest.approx([0.1, recall], abs=1e-4)


def test_the_roc_curve_goes_through_its_points():
    window = drawn("binary")
    curves = window.curves
    (line,) = of_class(chart("roc", window), "curve", "first")
    expected = np.column_stack(
        (curves.false_positives[0] / curves.negatives[0], curves.true_positives[0] / curves.positives[0])
    )
    assert values(UNIT, points(line)) == pytest.approx(expected, abs=PIXEL)


def test_the_line_of_a_random_ranking_is_the_prevalence():
    window = drawn("binary")
    (line,) = of_class(chart("precision_recall", window), "curve", "reference")
    prevalence = window.support[1] / window.labeled
    assert values(UNIT, points(line))[:, 1] == pytest.approx(prevalence, abs=PIXEL)


def test_reliability_shows_bins_that_have_events_with_their_intervals():
    window = drawn("binary")
    table = window.curves.reliability[0]
    table = table[table[:, 0] > 0]
    panel = Panel(across(0, 1, ""), upwards(0, 1, "", *UPPER))
    root = chart("reliability", window)
    found = values(panel, places(of_class(root, "point")))
    assert found[found[:, 0].argsort()] == pytest.approx(table[:, 1:3], abs=1e-3)
    (bars,) = of_class(root, "interval")
    ends = np.array(re.findall(r"M(\S+) (\S+)V([\d.]+)", bars.get("d")), float)
    for column, bound in ((1, 3), (2, 4)):
        assert values(panel, ends[:, [0, column]])[:, 1] == pytest.approx(table[:, bound], abs=1.5 * PIXEL)
    (histogram,) = of_class(root, "histogram")
    assert [bar.find("title").text.split(": ")[1] for bar in histogram] == [
        f"{count:,.0f} events" for count in table[:, 0]
    ]


def test_bins_off_the_diagonal_have_another_shape():
    curves = window_curves()
    curves.reliability[0, 3] = (10, 0.25, 0.4, 0.3, 0.687)
    curves.reliability[0, 5] = (10, 0.35, 0.4, 0.3, 0.687)
    root = chart("reliability", replace(window_report(), curves=curves))
    fine, off = of_class(root, "point", "first"), of_class(root, "point", "alarm")
    assert len(fine) == len(off) == 1
    assert fine[0].get("d") != off[0].get("d")
    assert "of 0.2500 came true 0.4000 [0.3000, 0.6870] (10 events)" in described(root)


def test_thresholds_mark_the_current_and_the_cheapest():
    window = drawn("binary")
    root = chart("thresholds", window)
    cheapest = window.curves.best[0, 0, 0]
    scale = across(0, 1, "").scale
    for look, value in (("now", window.thresholds[0]), ("best", cheapest)):
        lines = of_class(root, "curve", look)
        assert len(lines) == 2  # in both panels
        for line in lines:
            assert float(line.get("d")[1:].split()[0]) == pytest.approx(float(scale(value)), abs=0.06)
    [shown] = re.findall(r"cheapest (\d\.\d{6})", described(root))
    assert np.float32(shown) <= np.float32(cheapest) == pytest.approx(float(shown), abs=1e-6)
    assert {"precision", "recall"} <= set(texts(root))


def test_the_cost_panel_ends_where_no_model_is_cheaper():
    window = drawn("binary")
    root = chart("thresholds", window)
    curves, (miss, alarm) = window.curves, window.costs
    without = min(miss * curves.positives[0], alarm * curves.negatives[0]) / window.labeled
    panel = Panel(across(0, 1, ""), upwards(0, 1.25 * without, "", *LOWER))
    level = values(panel, points(of_class(root, "curve", "reference")[0]))
    assert level[:, 1] == pytest.approx(without, abs=without / 50)
    drawn_costs = values(panel, points(of_class(root, "curve", "fourth")[0]))[:, 1]
    assert drawn_costs.min() == pytest.approx(window.curves.best[0, 0, 1], abs=without / 50)


def test_without_costs_thresholds_are_judged_by_f1():
    root = chart("thresholds", drawn("plain"))
    assert not of_class(root, "fourth")
    assert "best F1" in described(root)


def test_thresholds_of_low_scores_fill_the_picture():
    curves = replace(window_curves(), threshold=np.array([[0.031, 0.02, 0.0]]))
    curves.best[:] = np.nan
    window = replace(window_report(), curves=curves, thresholds=(0.03,))
    assert "0.04" in texts(chart("thresholds", window)) and "1.0" in texts(chart("thresholds", window))
    line = points(of_class(chart("thresholds", window), "curve", "second")[0])
    assert line[:, 0].max() > 300


def test_decay_is_flagged_where_it_falls():
    curves = window_curves()
    curves.decay[0] = [0.9, 0.8, 0.7, *[0.4] * 97]
    assert not of_class(chart("confidence_decay", replace(window_report(), curves=curves)), "point")
    curves.decay_falls[0] = 4
    root = chart("confidence_decay", replace(window_report(), curves=curves))
    panel = Panel(across(0, 100, ""), upwards(0, 1, ""))
    assert values(panel, places(of_class(root, "point")))[0] == pytest.approx([4, 0.4], abs=0.01)
    assert "falls to half at 4%" in described(root)


def test_cost_sensitivity_has_a_band_and_the_configured_ratio():
    root = chart("cost_sensitivity", drawn("binary"))
    assert of_class(root, "area") and of_class(root, "curve", "best")
    assert "configured cost ratio 20" in described(root)
    assert not of_class(chart("cost_sensitivity", drawn("plain")), "curve", "best")


def test_the_top_label_has_reliability_and_decay():
    window = drawn("multiclass")
    found = {name for name in CHARTS if draw(name, window, "") is not None}
    assert found == {"reliability", "confidence_decay"}
    table = window.curves.reliability[len(window.scored)]
    assert f"{table[:, 0].sum():,.0f} events in all" in described(chart("reliability", window, ""))


@pytest.mark.parametrize("name", CHARTS)
def test_nothing_is_drawn_of_a_class_that_has_no_scores(name):
    assert draw(name, drawn("binary"), "legit") is None
    assert draw(name, window_report(), "fraud") is None  # no curves


def of_binary(labels: list[str], scores: list[float]) -> WindowReport:
    return window_of("fraud", [{"label": y, "score": p} for y, p in zip(labels, scores, strict=True)])


def test_one_class_has_no_roc_curve():
    negatives = of_binary(["legit"] * 30, [place / 30 for place in range(30)])
    found = {name for name in CHARTS if draw(name, negatives, "fraud") is not None}
    assert "roc" not in found and "precision_recall" not in found
    assert {"reliability", "thresholds"} <= found
    positives = of_binary(["fraud"] * 30, [place / 30 for place in range(30)])
    assert draw("roc", positives, "fraud") is None
    assert draw("precision_recall", positives, "fraud") is not None
    for window in (negatives, positives):
        for name in CHARTS:
            svg = draw(name, window, "fraud")
            assert svg is None or parsed(svg) is not None


@pytest.mark.parametrize("score", [0.0, 0.5, 1.0])
def test_equal_scores(score):
    window = of_binary(["legit"] * 20 + ["fraud"] * 10, [score] * 30)
    for name in CHARTS:
        assert chart(name, window) is not None


@pytest.mark.parametrize("name", CHARTS)
def test_nothing_is_drawn_without_events(name):
    curves = window_curves()
    for counts in (curves.positives, curves.negatives, curves.true_positives, curves.false_positives):
        counts[:] = 0
    for column in (curves.threshold, curves.cost_threshold, curves.decay, curves.best):
        column[:] = np.nan
    curves.reliability[:] = np.nan
    curves.reliability[:, :, 0] = 0
    assert draw(name, replace(window_report(), curves=curves), "fraud") is None


@pytest.mark.parametrize("name", CHARTS)
def test_names_cannot_break_out(name):
    window = replace(
        window_report(), classes=("legit", HOSTILE), positive_class=HOSTILE, curves=window_curves()
    )
    svg = draw(name, window, HOSTILE)
    assert "<script" not in svg and "\x1b" not in svg
    assert "script" in parsed(svg).find("title").text


scores = st.floats(0, 1, width=32) | st.sampled_from([0.0, 0.5, 1.0])


@settings(max_examples=40)
@given(st.lists(st.tuples(st.booleans(), scores), min_size=1, max_size=40), st.sampled_from([0.0, 0.5, 1.0]))
def test_all_curves_can_be_drawn(events, threshold):
    y_true, y_score = (np.array(column, float) for column in zip(*events, strict=True))
    found = curves(Context(binary_counts(y_true.astype(int), y_score), [parameters()]))
    arrays = {field.name: getattr(found, field.name)[0].numpy() for field in fields(Curves)}
    decided = y_score >= threshold
    cells = [[int(((y_true == y) & (decided == d)).sum()) for d in (0, 1)] for y in (0, 1)]
    window = replace(
        window_report(confusion=tuple((*row, 0) for row in cells)),
        thresholds=(threshold,),
        costs=(5.0, 1.0),
        curves=WindowCurves(**arrays, cost_ratios=COST_RATIOS, criteria=CRITERIA),
    )
    drawn_of = {name: draw(name, window, "fraud") for name in CHARTS}
    assert all(svg is None or parsed(svg) is not None for svg in drawn_of.values())
    assert drawn_of["reliability"] is not None and drawn_of["thresholds"] is not None
    assert (drawn_of["roc"] is None) == (len(set(y_true)) == 1)
