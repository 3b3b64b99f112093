import csv
import io
from dataclasses import replace

from monitor.report import IntervalValue, WindowReport
from monitor.report_csv import COLUMNS, report_csv
from tests.support.reports import empty_window, example, window_report


def rows(*windows: WindowReport) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(report_csv(windows), newline="")))


def row(window: WindowReport, name: str, **labels: str) -> dict[str, str]:
    (found,) = (
        row for row in rows(window) if row["name"] == name and all(row[k] == v for k, v in labels.items())
    )
    return found


def test_there_is_one_row_a_value():
    windows = example().windows
    found = rows(*windows)
    assert len(found) == sum(len(window.values) for window in windows)
    assert all(tuple(row) == COLUMNS for row in found)
    keys = [tuple(row[column] for column in COLUMNS[: COLUMNS.index("value")]) for row in found]
    assert len(set(keys)) == len(keys)


def test_a_row_has_everything_about_its_value():
    window = window_report()
    value = window.find("classifier_recall", class_="fraud")
    assert row(window, "classifier_recall", **{"class": "fraud"}) == dict.fromkeys(COLUMNS, "") | {
        "name": "classifier_recall",
        "model": "fraud",
        "version": "2026-11-01",
        "window": "last_10k",
        "class": "fraud",
        "value": repr(169 / 202),
        "numerator": "169",
        "denominator": "202",
        "support": "202",
        "low_support": "false",
        "threshold": "0.5",
        "method": "wilson",
        "lower": repr(value.intervals[0].lower),
        "upper": repr(value.intervals[0].upper),
        "standard_error": repr(value.intervals[0].standard_error),
        "start": "2025-11-29T11:00:00.000000Z",
        "end": "2025-11-29T12:00:00.000000Z",
        "complete": "true",
    }


def test_reasons_are_given():
    undefined = row(empty_window(), "classifier_recall", **{"class": "fraud"})
    assert (undefined["value"], undefined["undefined"]) == ("", "no_positives")
    assert (undefined["low_support"], undefined["complete"], undefined["start"]) == ("true", "false", "")
    assert row(window_report(), "classifier_log_loss")["no_interval"] == "no_interval_method"


def test_a_bootstrap_interval_stands_beside_the_analytic_one():
    window = window_report()
    recall = window.find("classifier_recall", class_="fraud")
    bootstrap = IntervalValue("bootstrap", 0.75, 0.875, 0.0625)
    both = replace(window, values=(recall._replace(intervals=(bootstrap, *recall.intervals)),))
    (found,) = rows(both)
    assert found["method"] == "wilson"
    bounds = [found[f"bootstrap_{column}"] for column in ("lower", "upper", "standard_error")]
    assert bounds == ["0.75", "0.875", "0.0625"]
    (alone,) = rows(replace(window, values=(recall._replace(intervals=(bootstrap,)),)))
    assert (alone["method"], alone["lower"], alone["bootstrap_lower"]) == ("bootstrap", "0.75", "")


def test_names_stay_in_their_cell():
    name = 'a,"b"\n\x1b[2J\u202e'
    found = rows(window_report(model=name, classes=("legit", name)))
    escaped = r'a,"b"\n\x1b[2J\u202e'
    assert {row["model"] for row in found} == {escaped}
    assert {row["class"] for row in found} == {"", "legit", escaped}
    lines = report_csv([window_report(model=name)]).split("\r\n")
    assert len(lines) == 2 + len(window_report().values)
