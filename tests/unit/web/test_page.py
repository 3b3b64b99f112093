"""What holds of every page, whatever it shows."""

import re
from dataclasses import replace
from itertools import pairwise

import pytest

from monitor.alerts.view import AlertsView
from monitor.web.numbers import labels_text
from tests.support.pages import Document
from tests.support.reports import example, report, window_report
from tests.support.shown_alerts import FIRING, VIEW
from tests.support.web import HOSTILE, client

PAGES = ("/", "/model?model=fraud&window=last_10k", "/alerts")


SCOPE = ("model", "version", "window", "segment")

KNOWN = AlertsView(tuple(a for a in VIEW.alerts if a.key.version != "2026-10-01"), VIEW.transitions)
"""Alerts about versions of the example."""


@pytest.fixture
def served():
    return client(alerts=lambda: KNOWN)


@pytest.fixture(params=PAGES)
def answer(request, served):
    return served.get(request.param)


def test_nothing_is_inline_and_nothing_comes_from_elsewhere(answer):
    assert answer.status_code == 200
    page = Document(answer.text)
    assert page.tags().isdisjoint({"style", "iframe", "object", "embed"})
    assert all(script.get("src") for script in page.all("script"))
    for tag, attributes in page.elements:
        assert "style" not in attributes
        assert not [name for name in attributes if name.startswith("on")]
        for name in ("href", "src", "action"):
            target = attributes.get(name)
            relative = target is None or not re.match("[a-z]+:|/", target.removeprefix("data:,"))
            assert relative or (tag == "a" and target == FIRING.rule.runbook)
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy and "unsafe" not in policy


def test_links_lead_somewhere(answer, served):
    page = Document(answer.text)
    places = {a.get("id") for _, a in page.elements}
    files = [a["href"] for a in page.all("link")] + [a["src"] for a in page.all("script")]
    for link in {*page.links(), *files} - {"data:,"}:
        path, _, place = link.partition("#")
        if path and "://" not in path:
            assert served.get("/" + path.removeprefix("./")).status_code == 200, link
        elif not path:
            assert place in places


def test_headings_begin_with_one_h1_and_skip_no_level(answer):
    levels = [int(tag[1]) for tag, _ in Document(answer.text).elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_columns_and_pictures_are_named(answer):
    page = Document(answer.text)
    assert all("scope" in th for th in page.all("th"))
    assert all(svg.get("role") == "img" or svg.get("aria-hidden") == "true" for svg in page.all("svg"))


@pytest.mark.parametrize("path", ["/?q=2026-11-01", "/model?model=fraud&version=2026-11-01&window=last_10k"])
def test_numbers_are_those_of_the_api(path, served):
    known: dict[tuple[str, str], set[float]] = {}
    for segment in ("", "region%3Deu"):
        found = served.get(f"/api/v1/report?model=fraud&window=last_10k&segment={segment}").json()["reports"]
        for metric in (metric for each in found for metric in each["metrics"]):
            labels = labels_text({k: v for k, v in metric["labels"].items() if k not in SCOPE})
            known.setdefault((metric["name"], labels), set()).add(metric["value"])
            for interval in metric.get("intervals", ()):
                for side in ("lower", "upper"):
                    known.setdefault((f"{metric['name']}_{side}", labels), set()).add(interval[side])
    shown = Document(served.get(path).text).all("data")
    assert len(shown) >= 10
    for data in shown:
        assert float(data["value"]) in known[data["data-family"], data.get("data-labels", "")]


@pytest.mark.parametrize("place", ["model", "version", "window", "segment", "classes"])
@pytest.mark.parametrize("path", ["/", "/model", "/alerts"])
def test_hostile_names_are_text(path, place):
    name = {"classes": ("legit", HOSTILE)}.get(place, HOSTILE)
    hostile = window_report(**{place: name})
    windows = (window_report(), hostile) if place == "segment" else (hostile,)
    key = FIRING.key._replace(model=hostile.model, version=hostile.version, class_=hostile.classes[1])
    view = replace(VIEW, alerts=(replace(FIRING, key=key),))
    served = client(report(*windows), alerts=lambda: view)
    source = served.get(path, params={"model": hostile.model} if path == "/model" else {}).text
    assert "<script>" not in source
    text = Document(source).text
    assert "\x1b" not in text and "\u202e" not in text


@pytest.mark.parametrize(
    "name",
    ["model", "version", "window", "segment", "class", "matrix", "state", "q", "sort", "order", "page"],
)
@pytest.mark.parametrize("path", ["/", "/model", "/alerts"])
def test_hostile_parameters_are_text(path, name):
    source = client(example()).get(path, params={name: HOSTILE, "refresh": HOSTILE}).text
    assert "<script>" not in source
    Document(source)


def test_the_stylesheet_is_one():
    answer = client().get("/style.css")
    assert answer.headers["content-type"].startswith("text/css")
    assert ".overview" in answer.text and ".badge" in answer.text
