import numpy as np
import pytest

from monitor.history import Metric, Track
from monitor.web.charts import Limit, Mark, sparkline, timeline
from tests.support.reports import NOON
from tests.support.svg import described, of_class, parsed, places, points, texts
from tests.support.web import HOSTILE

RECALL = Metric("classifier_recall", (("class", "fraud"),))
MINUTE = 60_000_000
NAN = float("nan")


def track(values, half=0.02, step=MINUTE) -> Track:
    value = np.array(values, float)
    times = NOON + step * np.arange(len(value))
    bounds = np.stack((value, value - half, value + half), axis=-1)[:, None]
    return Track("fraud", "1", "last_10k", (RECALL,), times, times, np.full(len(value), 100), bounds)


def chart(values, limits=(), marks=(), **options):
    svg = timeline(track(values, **options), RECALL, "Recall (fraud)", limits, marks)
    assert svg is not None
    return parsed(svg)


def test_a_timeline_is_a_line_in_its_band():
    root = chart([0.8, 0.9, 0.85])
    (line,), (band,) = of_class(root, "curve", "first"), of_class(root, "area")
    x, y = points(line).T
    assert x == pytest.approx([52, 220, 388])  # evenly from edge to edge
    assert (y[0] - y[2]) / (y[0] - y[1]) == pytest.approx(0.5, abs=0.01)
    upper, lower = points(band)[:3, 1], points(band)[:2:-1, 1]
    assert upper + lower == pytest.approx(2 * y, abs=0.2)
    assert (upper < y).all() and (y < lower).all()
    assert root.find("title").text == "Recall (fraud)"
    assert "last 0.8500, lowest 0.8000, highest 0.9000" in described(root)
    assert "2025-11-29 12:00:00 UTC to 2025-11-29 12:02:00 UTC" in described(root)


def test_what_is_undefined_is_a_gap():
    (line,) = of_class(chart([0.8, 0.9, NAN, 0.7, NAN]), "curve", "first")
    assert line.get("d").count("M") == 2 and "h0" in line.get("d")


def test_a_limit_is_in_the_picture_and_named():
    limits = (Limit("RecallLow", 0.5), Limit("RecallVeryLow", 0.499), Limit("High", 0.95))
    root = chart([0.8, 0.9], limits)
    lines = [points(line)[:, 1] for line in of_class(root, "limit")]
    assert [len(np.unique(y)) for y in lines] == [1, 1, 1]
    assert lines[0][0] > points(of_class(root, "curve", "first")[0])[:, 1].max()
    names = of_class(root, "name")
    assert [name.text for name in names] == ["RecallVeryLow", "RecallLow", "High"]
    heights = [float(name.get("y")) for name in names]
    assert heights[0] - heights[1] >= 12  # no overlap
    assert "limit RecallLow 0.5000" in described(root)


def test_marks_are_where_they_happened_each_kind_with_its_shape():
    kinds = ("alert", "resolved", "action", "version")
    marks = [Mark(NOON + place * MINUTE, kind, f"what {kind}") for place, kind in enumerate(kinds)]
    root = chart([0.8] * 4, marks=marks)
    found = of_class(root, "mark")
    assert [mark.get("class") for mark in found] == [f"mark {kind}" for kind in kinds]
    at = places(of_class(root, "point"))
    assert at[:, 0] == pytest.approx([52, 164, 276, 388])
    assert len({point.get("d") for point in of_class(root, "point")}) == 4
    assert found[0].find("title").text == "alert 2025-11-29 12:00:00 UTC: what alert"
    assert "what version" in described(root)
    assert [text for text in texts(root) if text in kinds] == list(kinds)  # the legend, each once


def test_words_of_marks_do_not_overlap():
    marks = [Mark(NOON + place * MINUTE // 4, "alert", "a long name of an alert") for place in range(40)]
    root = chart([0.8] * 11, marks=marks)
    assert len(of_class(root, "point")) == 40
    written = [mark.find("text") for mark in of_class(root, "mark") if mark.find("text") is not None]
    assert 1 < len(written) < 10
    rows = {y: [float(t.get("x")) for t in written if t.get("y") == y] for y in {t.get("y") for t in written}}
    assert all((np.diff(sorted(x)) > 150).all() for x in rows.values())
    assert max(float(t.get("x")) + 6.7 * len(t.text) for t in written) <= 400


def test_marks_before_and_after_are_left_out():
    marks = [Mark(NOON - 1, "alert", "before"), Mark(NOON + 2 * MINUTE + 1, "alert", "after")]
    assert not of_class(chart([0.8] * 3, marks=marks), "mark")


def test_the_axis_fits_the_values():
    assert "0.0" not in texts(chart([0.93, 0.94]))
    assert len({t for t in texts(chart([1.0, 1.0])) if t.replace(".", "").isdigit()}) > 2
    assert timeline(track([0.0]), RECALL, "Recall") is not None  # one point, no width in time or height


def test_without_a_defined_point_there_is_none():
    assert timeline(track([NAN, NAN]), RECALL, "Recall") is None
    assert timeline(track([]), RECALL, "Recall") is None
    assert timeline(track([0.8]), Metric("classifier_f1"), "F1") is None


def test_bounds_may_be_unknown():
    root = chart([0.8, 0.9], half=NAN)
    assert of_class(root, "area")[0].get("d") == ""


def test_names_cannot_break_out():
    svg = timeline(
        track([0.8, 0.9]), RECALL, HOSTILE, [Limit(HOSTILE, 0.8)], [Mark(NOON, "version", HOSTILE)]
    )
    assert "<script" not in svg and "\x1b" not in svg
    assert "script" in described(parsed(svg))


def test_a_long_past_stays_small():
    values = 0.8 + 0.1 * np.random.default_rng(0).random(10_000)
    assert len(timeline(track(values), RECALL, "Recall")) < 30_000
    assert len(sparkline(track(values), RECALL)) < 2_500


def test_a_sparkline_is_a_small_line():
    root = parsed(sparkline(track([NAN, 0.8, NAN, 0.9, 0.85, NAN]), RECALL))
    assert root.find("title").text == "From 0.8000 to 0.8500, lowest 0.8000, highest 0.9000"
    assert of_class(root, "point")[0].get("cx") == "116"
    assert root.get("viewBox") == "0 0 120 28"


def test_a_sparkline_needs_two_points():
    assert sparkline(track([0.8, NAN]), RECALL) is None
    assert sparkline(track([]), RECALL) is None
    assert sparkline(track([0.8, 0.9]), Metric("classifier_f1")) is None
