"""How soon the page is there in Chromium: ``python -m tests.benchmarks.page``.

Prints milliseconds from the request to the first picture, to the largest part of it, and to the end of
loading, for an overview of 50 and of 1,000 models (two versions and three windows each) and for
the page of one model, and how long the answer takes.
"""

from __future__ import annotations

import statistics
import time
from dataclasses import replace
from itertools import product

from playwright.sync_api import Browser

from monitor.report import Report
from monitor.web.server import Server
from tests.support.browser import launched, opened
from tests.support.reports import report, window_curves, window_report
from tests.support.web import app

ROUNDS = 7
PAINTS = """async () => {
  const largest = await new Promise((done) => new PerformanceObserver(
    (list) => done(list.getEntries().at(-1).startTime)
  ).observe({type: "largest-contentful-paint", buffered: true}));
  const [all] = performance.getEntriesByType("navigation");
  const first = performance.getEntriesByName("first-contentful-paint")[0].startTime;
  return [first, largest, all.loadEventEnd, all.responseEnd - all.requestStart];
}"""


def fleet(models: int) -> Report:
    """Return a report of so many models."""
    window = replace(window_report(), curves=window_curves())
    return report(
        *(
            replace(window, model=f"model-{model:04}", version=version, window=name)
            for model, version, name in product(range(models), ("1", "2"), ("last_10k", "1h", "all"))
        )
    )


def measure(browser: Browser, title: str, of: Report, path: str) -> None:
    """Print the medians of some visits, the first left out."""
    server = Server(app(of), "127.0.0.1", 0)
    server.start()
    try:
        rows = []
        for _ in range(ROUNDS):
            with opened(browser, server.address) as (page, _):
                page.goto(path, wait_until="load")
                time.sleep(0.2)
                rows.append(page.evaluate(PAINTS))
        first, largest, loaded, answered = (
            statistics.median(column) for column in zip(*rows[1:], strict=True)
        )
        print(
            f"{title:<24} first picture {first:5.0f} ms, largest {largest:5.0f} ms, loaded {loaded:5.0f} ms; "
            f"answered in {answered:5.0f} ms"
        )
    finally:
        server.stop()


def main() -> None:
    """Measure all."""
    with launched() as browser:
        measure(browser, "overview, 50 models", fleet(50), "./")
        measure(browser, "overview, 1000 models", fleet(1000), "./")
        measure(browser, "search among 1000", fleet(1000), "./?q=model-09&sort=name")
        measure(browser, "one model of 50", fleet(50), "model?model=model-0007")


if __name__ == "__main__":
    main()
