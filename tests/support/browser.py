"""Real Chromium for tests of pages, and what it notices: errors, foreign requests, shifts, faults for axe."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright

HOW = "needs chromium: apt-get install -y --no-install-recommends chromium"

PHONE = {"width": 390, "height": 844}
DESKTOP = {"width": 1280, "height": 900}

SERIOUS = {"serious", "critical"}

SHIFTS = """
window.layoutShift = 0;
new PerformanceObserver((list) => {
  for (const each of list.getEntries()) if (!each.hadRecentInput) window.layoutShift += each.value;
}).observe({type: "layout-shift", buffered: true});
"""


@dataclass
class Seen:
    """What went wrong in a page.

    Attributes
    ----------
    errors
        Messages of the console at the level of errors (violations of the policy among them), and exceptions.
    foreign
        Addresses of other hosts that were asked.
    asked
        Every request as "METHOD path?query", in order.
    """

    errors: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)


def chromium_path() -> str:
    """Return where Chromium is; tests that need it are skipped where there is none."""
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        if os.environ.get("CI"):
            pytest.fail(HOW)
        pytest.skip(HOW)
    return found


@contextmanager
def launched() -> Iterator[Browser]:
    """Start Chromium, for as many tests as can share it."""
    path = chromium_path()
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
        try:
            yield found
        finally:
            found.close()


@contextmanager
def opened(browser: Browser, base_url: str, **options: Any) -> Iterator[tuple[Page, Seen]]:
    """Open an empty tab of its own.

    Parameters
    ----------
    browser
        From `launched`.
    base_url
        Where paths begin, and the only host that may be asked.
    options
        Of `Browser.new_context`: color_scheme, viewport, timezone_id, java_script_enabled and others.
    """
    context = browser.new_context(base_url=base_url, **{"viewport": DESKTOP, "locale": "en-US", **options})
    context.set_default_timeout(10_000)
    try:
        context.add_init_script(SHIFTS)
        page, seen = context.new_page(), Seen()
        page.on("console", lambda said: seen.errors.append(said.text) if said.type == "error" else None)
        page.on("pageerror", lambda error: seen.errors.append(str(error)))
        page.on("request", lambda request: _note(seen, request.method, request.url, base_url))
        yield page, seen
    finally:
        context.close()


def _note(seen: Seen, method: str, url: str, base_url: str) -> None:
    parts = urlsplit(url)
    if parts.scheme in ("data", "blob"):
        return
    seen.asked.append(f"{method} {parts.path}{'?' * bool(parts.query)}{parts.query}")
    if parts.netloc != urlsplit(base_url).netloc:
        seen.foreign.append(url)


def layout_shift(page: Page) -> float:
    """Return how much of the page moved by itself since it was opened: the sum of all shifts."""
    return float(page.evaluate("window.layoutShift"))


def overflow(page: Page) -> int:
    """Return by how many pixels the page is wider than the window."""
    return int(page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"))


def faults(page: Page) -> list[str]:
    """Return what axe finds that is serious: rule, and where."""
    found = Axe().run(page).response["violations"]
    return [
        f"{each['id']}: {node['html']}: {node.get('failureSummary', '')}"
        for each in found
        if each["impact"] in SERIOUS
        for node in each["nodes"]
    ]
