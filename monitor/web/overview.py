"""The first page: every model version, and what needs attention. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from monitor.alerts.alert import Alert
from monitor.report import Report
from monitor.web.alert_parts.names import counted, state_of
from monitor.web.fleet import Model, in_order, models_of, window_names
from monitor.web.html import Html, h, join
from monitor.web.layout import Page, document
from monitor.web.links import address
from monitor.web.overview_controls import Asked, asked_by, heads, search_form
from monitor.web.overview_notes import note, notes, nothing
from monitor.web.overview_rows import model_body
from monitor.web.paging import paged
from monitor.web.site import Shown
from monitor.wording import printable


def render_overview(shown: Shown, parameters: Mapping[str, str]) -> Page:
    """Return the page for the parameters q, sort, order, page, window and refresh.

    Its status is 404 where no model has such a window.
    """
    asked, report = asked_by(parameters), shown.report
    if report is None or not report.windows:
        found = [h("h1", "Models"), nothing(report, shown.status)]
        return Page(document(shown, "overview", "Models", asked.parameters, *found))
    windows = window_names(report)
    missing = []
    if asked.window is not None and asked.window not in windows:
        missing = [note(f"No model has a window {printable(asked.window)}: these are the first of each.")]
        asked = asked._replace(window=None)
    models = models_of(report, shown.alerts.alerts, asked.window, asked.query)
    main = [
        h(
            "div",
            h("h1", "Models"),
            _counts(models, report, shown.alerts.alerts, asked),
            search_form(asked, windows),
            class_="overview-top",
        ),
        *missing,
        *notes(report, shown.status),
        *(_table(shown, report, models, asked) if models else [_no_match(asked)]),
    ]
    page = document(shown, "overview", "Models", asked.parameters, *main)
    return Page(page, 404 if missing else 200)


def _counts(models: Sequence[Model], report: Report, alerts: Iterable[Alert], asked: Asked) -> Html:
    known = len({version.model for version in report.versions})
    versions = sum(len(model.rows) for model in models)
    found = f"{len(models):,} of {known:,}" if asked.query else f"{known:,}"
    words = f"{found} {'model' if known == 1 else 'models'}, {versions:,} version{'s' * (versions != 1)}"

    def href(state: str) -> str:
        return address("alerts", {"state": state, "refresh": asked.parameters.get("refresh")})

    badges = (join(" ", badge) for badge in counted(map(state_of, alerts), href))
    return h("p", words, *badges, class_="quiet")


def _no_match(asked: Asked) -> Html:
    everything = h("a", "Show all models", href=asked.link(q=None, page=None))
    return h("p", "No name of a model or version contains these words. ", everything)


def _table(shown: Shown, report: Report, models: Sequence[Model], asked: Asked) -> Iterator[Html | None]:
    ordered = in_order(models, asked.order, asked.descending, shown.presets)
    here, links = paged(ordered, asked.parameters, lambda page: asked.link(page=page), "models")
    newest = max(version.last_event for version in report.versions)
    refresh = asked.parameters.get("refresh")
    bodies = (model_body(shown, model, newest, refresh) for model in here)
    head = h("thead", h("tr", *heads(asked)))
    yield h("div", h("table", head, *bodies, class_="overview"), class_="card fleet")
    yield links
