"""Everything that a page shows, as files. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from monitor.web.charts import CHARTS
from monitor.web.html import Html, h
from monitor.web.links import address, of_chart, of_report
from monitor.web.model.chosen import Chosen


def downloads_section(chosen: Chosen) -> Html:
    """Return links to the report and the charts."""
    return h(
        "section",
        h("header", h("h2", "Downloads")),
        h("ul", *(h("li", link) for link in _links(chosen)), class_="downloads"),
        class_="card",
        id="downloads",
    )


def of_kept(chosen: Chosen) -> str:
    """Return where the last report of a version that retired is."""
    return address("api/v1/retired", {"model": chosen.model, "version": chosen.version})


def _links(chosen: Chosen) -> Iterator[Html]:
    if chosen.kept is not None:
        yield h("a", "Last report as JSON", href=of_kept(chosen))
        return
    yield h("a", "Report as CSV", href=of_report(chosen.window, "csv"))
    yield h("a", "Report as JSON, with curves", href=of_report(chosen.window, "json"))
    if chosen.whole.curves is not None:
        for name, chart in CHARTS.items():
            yield h("a", f"{chart.title} as SVG", href=of_chart(name, chosen.whole, chosen.class_))
