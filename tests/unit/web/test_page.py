import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from tests.support.reports import (
    empty_window,
    example,
    multilabel_window,
    report,
    status,
    window_report,
)
from tests.support.web import HOSTILE, client


class Document(HTMLParser):
    """Collects elements and texts; fails where tags do not nest."""

    void = frozenset({"meta", "link"})

    def __init__(self, source: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(source)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in self.void:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data

    def tags(self) -> set[str]:
        return {tag for tag, _ in self.elements}


def document(*args, path: str = "/", **kwargs) -> Document:
    return Document(client(*args, **kwargs).get(path).text)


def test_headline_numbers_have_intervals_and_counts():
    text = document().text
    for shown in ("0.8366", "0.7795 – 0.8812", "169 of 202", "ROC AUC (fraud)", "95% interval"):
        assert shown in text


def test_the_classification_report_and_the_confusion_matrix_are_shown():
    source = client().get("/").text
    assert "weighted avg" in source
    assert re.search(r'<td class="shade10">9,660</td>', source)
    assert re.search(r'<td class="shade8">169</td>', source)


def test_low_support_is_marked():
    marked = (
        '<td class="value">0.6000<abbr title="low support: too few events to judge by, or a wide interval">'
    )
    assert marked in client(report(window_report(confusion=((90, 5, 0), (2, 3, 0))))).get("/").text
    assert "<abbr" not in client(report(window_report())).get("/").text


def test_a_multilabel_window_has_a_matrix_of_each_class():
    text = document(report(multilabel_window())).text
    for shown in ("not a", "not b", "not decided", "samples avg", "Expected cost per event"):
        assert shown in text
    assert "threshold" not in text


def test_undefined_says_why():
    shown = document(report(empty_window())).text
    assert "undefined" in shown
    assert "no labeled event of this class in the window" in shown
    assert "window not complete" in shown
    assert not re.search(r"\bnan\b", shown.lower())


def test_segments_are_listed():
    assert "region=eu" in document().text


def test_a_window_is_chosen_by_a_link():
    page = document(path="/?window=all&model=fraud")
    links = {
        a["href"]: a.get("aria-current")
        for tag, a in page.elements
        if tag == "a" and "window" in (a["href"] or "")
    }
    assert links["?model=fraud&window=all"] == "true"
    assert links["?model=fraud&window=last_10k"] is None
    assert "100,003 labeled" in page.text
    assert "iris" not in page.text


def test_an_unknown_name_is_404_and_keeps_the_page_usable():
    answer = client().get("/?window=nope")
    assert answer.status_code == 404
    assert "no window 'nope'" in Document(answer.text).text
    assert 'href="?window=last_10k"' in answer.text


def test_the_newest_version_comes_first():
    shown = example()
    since = [replace(v, since=v.since + place) for place, v in enumerate(shown.versions)]
    text = document(replace(shown, versions=tuple(since))).text
    assert text.index("2026-12-01") < text.index("2026-11-01")


def test_many_versions_are_linked():
    text = document(report(*(window_report(version=f"v{n:02}") for n in range(23)))).text
    assert "3 more model versions" in text


def test_a_large_confusion_matrix_is_left_to_the_api():
    classes = tuple(f"c{n}" for n in range(21))
    confusion = tuple((0,) * 22 for _ in classes)
    assert "21 classes" in document(report(window_report(classes=classes, confusion=confusion))).text


@pytest.mark.parametrize("place", ["model", "version", "window", "segment", "classes"])
def test_hostile_names_are_text(place):
    window = window_report()
    name = {"classes": ("legit", HOSTILE)}.get(place, HOSTILE)
    hostile = window_report(**{place: name})
    windows = (window, hostile) if place == "segment" else (hostile,)
    source = client(report(*windows)).get("/").text
    assert "<script" not in source
    assert "\x1b" not in source and "\u202e" not in source
    page = Document(source)
    assert '<script>alert("1")</script>' in page.text
    assert "script" not in page.tags()


@pytest.mark.parametrize("name", ["model", "version", "window", "refresh", "segment", "other"])
def test_hostile_parameters_are_text(name):
    source = client().get("/", params={name: HOSTILE}).text
    assert "<script" not in source
    Document(source)


def test_nothing_is_inline_and_nothing_comes_from_elsewhere():
    answer = client().get("/")
    page = Document(answer.text)
    assert page.tags().isdisjoint({"script", "style", "iframe", "form", "img"})
    for _, attributes in page.elements:
        assert "style" not in attributes
        assert not [name for name in attributes if name.startswith("on")]
        for target in (attributes.get("href"), attributes.get("src")):
            assert target is None or not re.match("[a-z]+:|//", target.removeprefix("data:,"))
    assert "script-src" not in answer.headers["content-security-policy"]
    assert client().get("/style.css").headers["content-type"].startswith("text/css")


def test_links_lead_somewhere():
    served = client()
    page = Document(served.get("/").text)
    links = [a["href"] for tag, a in page.elements if tag in ("a", "link") and a["href"] != "data:,"]
    assert {served.get(f"/{link}").status_code for link in links} == {200}


def test_it_refreshes_until_paused():
    def refresh(path: str) -> list[dict[str, str | None]]:
        page = document(path=path)
        return [a for tag, a in page.elements if tag == "meta" and a.get("http-equiv") == "refresh"]

    assert refresh("/") == [{"http-equiv": "refresh", "content": "10"}]
    assert refresh("/?refresh=off") == []


def test_problems_stand_at_the_top():
    text = document(state=status(broker_error="no broker of kafka:9092 answers")).text
    assert text.index("no broker of kafka:9092 answers") < text.index("Recall")


@pytest.mark.parametrize(
    "changes, words",
    [({"ready": False}, "restoring its state"), ({"owner": False}, "standby: another one")],
)
def test_who_does_not_own_the_partitions_says_so(changes, words):
    text = document(state=status(**changes)).text
    assert words in text
    assert "Recall" not in text


def test_before_the_first_event():
    assert "No event has been evaluated yet" in document(report()).text
