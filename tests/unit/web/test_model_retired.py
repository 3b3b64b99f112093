"""Versions of a model side by side, those that retired included."""

import json
from dataclasses import replace

import pytest

from monitor.errors import MonitorError
from monitor.report import Report
from monitor.report_json import report_object
from monitor.web.model.retired import MAX_READ, NAMES_FOR
from monitor.web.model_view import render_model
from monitor.wording import iso
from tests.support.pages import Document
from tests.support.reports import NOON, example, multilabel_window, report, window_report
from tests.support.shown import shown
from tests.support.shown_alerts import VIEW
from tests.support.web import HOSTILE


class Kept:
    """Reports of versions that retired, in memory; counts what is read."""

    def __init__(self, *windows, problem=None):
        self.reports = {}
        self.read = []
        self.listed = self.written = 0
        self.problem = problem
        for window in windows:
            found = report_object(report(window), [window])
            about = {"model": window.model, "version": window.version, "retired": iso(NOON)}
            self.reports[window.model, window.version] = {**about, **found}

    def names(self):
        self.listed += 1
        if self.problem:
            raise MonitorError(self.problem)
        return list(self.reports)

    def mark(self, model, version):
        return self.written

    def text(self, model, version):
        self.read.append(version)
        if self.problem:
            raise MonitorError(self.problem)
        found = self.reports.get((model, version))
        return None if found is None else json.dumps(found).encode()


OLD = window_report(version="2026-09-01", confusion=((9660, 138, 0), (102, 98, 2)))


def page(retired, at=NOON, **parameters):
    newest: Report = replace(example(), evaluated_at=at)
    found = render_model(shown(report=newest, retired=retired, alerts=VIEW), {"model": "fraud", **parameters})
    return found.status, Document(found)


def test_versions_are_beside_each_other_with_their_differences():
    status, found = page(Kept(OLD), window="last_10k", version="2026-11-01")
    assert status == 200
    assert "2026-12-01" in found.text and "retired 2025-11-29T12:00Z" in found.text
    assert f"{98 / 202 - 169 / 202:+.4f}" in found.text
    assert any("version=2026-09-01" in link for link in found.links())


def test_the_last_report_of_a_version_that_retired_is_a_page():
    status, found = page(Kept(OLD), version="2026-09-01")
    assert status == 200
    assert "This version retired" in found.text and "0.4851" in found.text
    assert "Charts are in the JSON" in found.text
    assert "api/v1/retired?model=fraud&version=2026-09-01" in found.links()
    assert not [link for link in found.links() if link.startswith("charts/")]
    assert found.all("figure") == []


def test_a_model_that_retired_altogether_has_a_page():
    gone = window_report(model="gone", version="7")
    answer = render_model(shown(retired=Kept(gone)), {"model": "gone"})
    assert answer.status == 200
    assert "This version retired" in Document(answer).text
    nothing = render_model(shown(report=report(), retired=Kept(gone)), {"model": "gone", "version": "7"})
    assert nothing.status == 200


def test_a_multilabel_report_is_read_back():
    window = replace(multilabel_window(), model="tags", version="1")
    answer = render_model(shown(retired=Kept(window)), {"model": "tags", "class": "b"})
    assert answer.status == 200
    assert "Threshold of b" in Document(answer).text


@pytest.mark.parametrize(
    "unknown",
    [{"version": "nope"}, {"version": "2026-09-01", "window": "nope"}],
)
def test_what_is_not_kept_either_is_not_found(unknown):
    status, found = page(Kept(OLD), **unknown)
    assert status == 404
    assert "known:" in found.text


def test_few_are_read_and_those_once():
    many = Kept(*(window_report(version=f"old {n}") for n in range(MAX_READ + 3)))
    at = NAMES_FOR * 1_000
    page(many, at)
    page(many, at + NAMES_FOR // 2)
    assert len(many.read) == MAX_READ
    assert many.listed == 1
    _, found = page(many, at + NAMES_FOR)
    assert many.listed == 2
    assert "3 more can be chosen above" in found.text
    assert len(many.read) == MAX_READ
    page(many, at, version="old 7")
    page(many, at, version="old 7")
    assert len(many.read) == MAX_READ + 2  # for its page, and for the table


def test_a_report_that_is_written_anew_is_read_anew():
    kept = Kept(OLD)
    assert "0.4851" in page(kept, version=OLD.version)[1].text
    again = window_report(version=OLD.version, confusion=((9660, 138, 0), (1, 199, 2)))
    kept.reports, kept.written = Kept(again).reports, 1
    for asked in ({"version": OLD.version}, {"window": "last_10k"}):
        found = page(kept, **asked)[1]
        assert "0.4851" not in found.text and "0.9851" in found.text


def test_a_disk_that_could_not_be_read_is_asked_again():
    kept = Kept(OLD)
    page(kept)
    kept.problem = "the disk is away"
    assert page(kept, version=OLD.version)[0] == 404
    kept.problem = None
    assert page(kept, version=OLD.version)[0] == 200


def test_other_windows_and_segments_of_a_version_that_retired_can_be_chosen():
    windows = [replace(OLD, window=window, segment=of) for window in ("a", "b") for of in ("", "r=1", "r=2")]
    kept = Kept(OLD)
    kept.reports["fraud", OLD.version] |= report_object(report(*windows), windows)
    for window in ("a", "b"):
        for segment in ("", "r=1", "r=2"):
            status, found = page(kept, version=OLD.version, window=window, segment=segment)
            assert status == 200
            text = found.text
            assert "Confusion matrix" in text and "9,660" in text and text.count("0.4851") >= 4


def test_the_version_that_is_shown_is_among_them():
    many = Kept(*(window_report(version=f"old {n}") for n in range(MAX_READ + 3)))
    _, found = page(many, version="old 7")
    rows = [a for a in found.all("tr") if a.get("aria-current")]
    assert len(rows) >= 2  # of the class, and of the version


def test_a_disk_that_cannot_be_read_is_said():
    status, found = page(Kept(OLD, problem="the folder cannot be read"))
    assert status == 200
    assert "Kept reports cannot be read: the folder cannot be read" in found.text


@pytest.mark.parametrize("reports", [[], [{}], [{"task": "binary"}], [None], None])
def test_a_report_of_another_form_takes_no_page_with_it(reports):
    kept = Kept(OLD)
    kept.reports["fraud", "2026-09-01"]["reports"] = reports
    assert page(kept)[0] == page(kept)[0] == 200
    assert page(kept, version="2026-09-01")[0] == 404
    assert len(kept.read) == 2  # for the table and for the page


def test_a_version_that_came_back_is_there_once():
    back = window_report(version="2026-11-01")
    _, found = page(Kept(back), window="last_10k")
    options = [option["value"] for option in found.all("option")]
    assert options.count("2026-11-01") == 1
    assert "retired" not in found.text


def test_hostile_names_are_text():
    source = render_model(shown(retired=Kept(window_report(version=HOSTILE))), {"model": "fraud"}).html
    assert "<script>" not in source and "\u202e" not in Document(source).text
