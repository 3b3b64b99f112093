"""Every view of the page in real Chromium, over a demo in which a version went wrong and was rolled back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx
import pytest
from playwright.sync_api import Browser
from prometheus_client.parser import text_string_to_metric_families

from monitor.demo.configuration import ALERT, BAD_VERSION, GOOD_VERSION, MODEL, WINDOW
from tests.support.browser import DESKTOP, PHONE, Seen, faults, launched, layout_shift, opened, overflow
from tests.support.demo import Demo

pytestmark = pytest.mark.filterwarnings("ignore:unclosed <s:ResourceWarning")

PICTURES = Path(__file__).parents[2] / "build" / "screenshots"
"""Where screenshots stay, for people to look at."""

VIEWS = {
    "overview": "./",
    "search": "./?q=digits&sort=name",
    "model": f"model?model={MODEL}&version={GOOD_VERSION}",
    "bad-version": f"model?model={MODEL}&version={BAD_VERSION}&window={WINDOW}&matrix=recall",
    "segment": f"model?model={MODEL}&version={BAD_VERSION}&segment=site%3Dsouth",
    "multiclass": "model?model=digits&class=3&matrix=precision",
    "alerts": "alerts",
}
LOOKS: Mapping[str, dict[str, Any]] = {
    "light": {"color_scheme": "light", "viewport": DESKTOP},
    "dark": {"color_scheme": "dark", "viewport": DESKTOP},
    "phone": {"color_scheme": "light", "viewport": PHONE, "has_touch": True},
}

TOLD_APART = ("overview", "bad-version", "multiclass", "alerts")
"""Views of which every look is seen each time; the others are made of the same parts."""

SEEN = [
    pytest.param(view, look, marks=() if look == "light" or view in TOLD_APART else pytest.mark.slow)
    for look in LOOKS
    for view in VIEWS
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with launched() as found:
        yield found


@pytest.fixture(scope="module")
def address(demo: Demo) -> str:
    """The page of a demo after its story: drop, alert, rollback."""
    demo.go_wrong()
    return f"{demo.parts.api.address}/"


def check(seen: Seen) -> None:
    assert seen.errors == []
    assert seen.foreign == []


@pytest.mark.parametrize(("view", "look"), SEEN)
def test_every_view_has_data_and_no_fault(browser: Browser, address: str, view: str, look: str) -> None:
    with opened(browser, address, **LOOKS[look]) as (page, seen):
        page.goto(VIEWS[view], wait_until="networkidle")
        PICTURES.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=PICTURES / f"{view}-{look}.png", full_page=True)
        check(seen)
        assert layout_shift(page) < 0.1
        assert overflow(page) <= 0
        assert page.locator("h1").count() == 1
        assert page.locator("main data.metric, main li, main tbody tr").count() > 0
        assert faults(page) == []


@pytest.mark.parametrize("view", ["overview", "bad-version", "alerts"])
def test_without_a_script_there_is_the_same_to_read(browser: Browser, address: str, view: str) -> None:
    options = {"java_script_enabled": False}
    with opened(browser, address, **options) as (page, seen):
        page.goto(VIEWS[view])
        assert ALERT in (page.locator("main").text_content() or "")
        if view == "bad-version":
            assert page.locator("figure svg").count() >= 6
        check(seen)


def test_what_a_new_evaluation_brings_comes_without_a_shift(browser: Browser, address: str) -> None:
    with opened(browser, address) as (page, seen):
        page.goto(VIEWS["model"], wait_until="networkidle")
        before = page.locator("main").inner_html()
        page.wait_for_function(
            "before => document.querySelector('main').innerHTML !== before", arg=before, timeout=30_000
        )
        page.wait_for_timeout(500)
        assert layout_shift(page) < 0.1
        check(seen)


def test_every_chart_is_a_picture_of_its_own(browser: Browser, address: str) -> None:
    with opened(browser, address) as (page, seen):
        page.goto(VIEWS["bad-version"])
        links = page.locator("a[href*='charts/']").evaluate_all("all => all.map(a => a.getAttribute('href'))")
        assert len(links) >= 5
        for link in links:
            answer = page.goto(link)
            assert answer is not None and answer.status == 200
            assert answer.headers["content-type"].startswith("image/svg+xml")
            assert page.locator("svg").count() >= 1
        check(seen)


def test_page_api_and_metrics_have_the_same_numbers(address: str) -> None:
    """Of one evaluation: the next one may add in another order."""
    scope = {"model": MODEL, "version": BAD_VERSION, "window": WINDOW, "segment": ""}
    with httpx.Client(base_url=address) as client:
        for _ in range(50):
            before = client.get("api/v1/report", params=scope).json()
            html, text = client.get(VIEWS["bad-version"]).text, client.get("metrics").text
            if client.get("api/v1/report", params=scope).json()["evaluated_at"] == before["evaluated_at"]:
                break
        else:
            pytest.fail("no evaluation lasted for four requests")
    api = {(m["name"], own_labels(m["labels"], scope)): m["value"] for m in before["reports"][0]["metrics"]}
    scraped = {
        (sample.name, own_labels(sample.labels, scope)): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if scope.items() <= sample.labels.items()
    }
    compared = 0
    for family, labels, value in shown_values(html):
        key = family, labels
        if key in api:
            assert value == repr(float(api[key])), key
        if key in scraped:
            assert float(value) == scraped[key], key
            compared += 1
    assert compared > 10


def shown_values(html: str) -> list[tuple[str, str, str]]:
    """Return family, labels and value of each number that the page shows of the chosen version."""
    found: list[tuple[str, str, str]] = []
    sections: list[bool] = []

    class Numbers(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            of = dict(attrs)
            if tag == "section":
                sections.append(of.get("id") in ("versions", "segments"))
            if tag == "data" and "data-family" in of and not any(sections):
                found.append((of["data-family"] or "", of.get("data-labels") or "", of["value"] or ""))

        def handle_endtag(self, tag: str) -> None:
            if tag == "section":
                sections.pop()

    Numbers().feed(html)
    return found


def own_labels(labels: Mapping[str, str], scope: Mapping[str, str]) -> str:
    """Write the labels beyond the window's as the page does."""
    return urlencode(sorted((name, text) for name, text in labels.items() if name not in scope))


def test_nobody_else_can_read_the_secrets_of_the_demo(demo: Demo) -> None:
    assert demo.parts.act_token_file.stat().st_mode & 0o077 == 0
    assert "can be read by every user" not in demo.parts.daemon.log.read_text()
