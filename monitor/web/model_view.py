"""The page of one model: what is wrong first, then everything there is to know."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from monitor.report import NotInReportError, Report
from monitor.web.html import Html, h
from monitor.web.layout import Page, document
from monitor.web.model.alerts import alerts_section, of_model
from monitor.web.model.answer import answer_card
from monitor.web.model.chosen import Chosen, address_of, from_kept, from_report, live_versions
from monitor.web.model.classification import balance_table, report_table, text_form
from monitor.web.model.confusion import confusion_section
from monitor.web.model.credibility import credibility
from monitor.web.model.downloads import downloads_section, of_kept
from monitor.web.model.figures import figures_section
from monitor.web.model.header import header_section
from monitor.web.model.headline import headline_tiles, other_values, watched
from monitor.web.model.imbalance import imbalance
from monitor.web.model.marks import marks
from monitor.web.model.retired import Known, kept_report, known_versions
from monitor.web.model.segments import segments_section
from monitor.web.model.timelines import timelines_section
from monitor.web.model.tolerance import tolerance
from monitor.web.model.versions import versions_section
from monitor.web.overview_notes import notes
from monitor.web.site import Shown
from monitor.wording import printable

MAX_KNOWN = 200
"""Most names that are listed where a name is unknown."""

_PARAMETERS = ("model", "version", "window", "segment", "class", "matrix", "refresh")


def render_model(shown: Shown, parameters: Mapping[str, str]) -> Page:
    """Return the page for the parameters model, version, window, segment, class, matrix and refresh.

    Without a version it is the newest of the model, without a window the first; without a model the only one.
    """
    asked = {name: parameters[name] for name in _PARAMETERS if name in parameters}
    report = shown.report
    if report is None or not (report.versions or "model" in asked):
        return _page(shown, asked, "Model", 200, h("h1", "Model"), h("p", _nothing(shown)))
    models = sorted({version.model for version in report.versions})
    if "model" not in asked and len(models) == 1:
        asked["model"] = models[0]
    if "model" not in asked:
        return _page(shown, asked, "Models", 200, h("h1", "Models"), _names("model", models, asked))
    known = known_versions(shown.retired, asked["model"], report.evaluated_at)
    try:
        chosen = _choose(shown, report, known, asked)
    except NotInReportError as error:
        main = h("h1", "Not found"), h("p", printable(str(error))), _names(error.what, error.known, asked)
        return _page(shown, asked, "Not found", 404, *main)
    title = printable(" ".join(filter(None, (chosen.model, chosen.version))))
    return _page(shown, asked, title, 200, *_sections(shown, chosen, known))


def _page(shown: Shown, asked: Mapping[str, str], title: str, status: int, *main: Html | None) -> Page:
    return Page(document(shown, "model", title, asked, *main), status)


def _nothing(shown: Shown) -> str:
    return {
        "restoring": "This instance is restoring its state. Numbers follow when it is done.",
        "standby": "This instance is a standby: another one reads the partitions and has the numbers.",
    }.get(shown.status.role, "No event has been evaluated yet.")


def _names(what: str, known: Sequence[str], asked: Mapping[str, str]) -> Html:
    """Return links to what there is of a kind; what depends on it is left out of them."""
    order = _PARAMETERS.index(what) if what in _PARAMETERS else 0
    keep = {
        name: text for name, text in asked.items() if _PARAMETERS.index(name) < order or name == "refresh"
    }

    def link(name: str) -> Html:
        parameters = {**keep, what: name}
        return h("a", printable(name) or "(empty)", href=address_of(parameters.get("model", ""), parameters))

    more = len(known) - MAX_KNOWN
    rest = h("li", f"{more:,} more are in the API") if more > 0 else None
    return h("ul", *(h("li", link(name)) for name in known[:MAX_KNOWN]), rest)


def _choose(shown: Shown, report: Report, known: Known, asked: Mapping[str, str]) -> Chosen:
    """Return what is asked for of the report, or of the kept one of a version that retired."""
    try:
        return from_report(report, asked)
    except NotInReportError as error:
        if error.what not in ("model", "version") or not known.versions:
            raise
        version = asked.get("version", known.versions[0])
        if version not in known.versions:
            raise
        kept = kept_report(shown.retired, asked["model"], version, asked)
        if kept is None:
            raise
        return from_kept(*kept, live_versions(report, asked["model"]), asked)


def _sections(shown: Shown, chosen: Chosen, known: Known) -> Iterator[Html | None]:
    of_this_model = of_model(shown.alerts.alerts, chosen.model)
    alerts = [alert for alert in of_this_model if alert.key.version == chosen.version]
    presets = shown.presets
    headline = presets.first(chosen.whole)
    track = shown.tracks.get((chosen.model, chosen.version, chosen.window.window))
    live = shown.alerts.live.get(chosen.model)
    yield header_section(chosen, known.versions, presets.name(chosen.model), live)
    if shown.status.files and shown.report is not None:  # a file is of one model, as a rule
        yield from notes(shown.report, shown.status)
    yield _retired(chosen)
    yield alerts_section(chosen, of_this_model, presets, shown.status.rejection_error is None)
    yield _questions(chosen)
    yield h(
        "section",
        h("header", h("h2", "Metrics")),
        headline_tiles(chosen, presets, alerts),
        report_table(chosen),
        text_form(chosen),
        balance_table(chosen.values),
        h("details", h("summary", "All other numbers"), other_values(chosen), id="others"),
        class_="card",
        id="metrics",
    )
    yield confusion_section(chosen)
    yield figures_section(chosen)
    if chosen.kept is None:
        timed = [*headline, *presets.second(chosen.whole), *watched(chosen.whole, alerts)]
        happened = marks(shown, chosen.model, chosen.version)
        yield timelines_section(track, timed, alerts, happened)
    yield segments_section(chosen, headline)
    yield versions_section(shown, chosen, known, headline)
    yield downloads_section(chosen)


def _retired(chosen: Chosen) -> Html | None:
    if chosen.kept is None:
        return None
    return h(
        "p",
        "This version retired at ",
        h("time", chosen.kept["retired"], datetime=chosen.kept["retired"]),
        " (event time): this is its last report, without charts. ",
        h("a", "As JSON", href=of_kept(chosen)),
        class_="card",
    )


def _questions(chosen: Chosen) -> Html:
    answers = (answer(chosen.values, chosen.class_) for answer in (imbalance, tolerance, credibility))
    return h(
        "section",
        h("header", h("h2", f"Three questions about {printable(chosen.class_)}")),
        h("div", *map(answer_card, answers), class_="answers"),
        class_="card",
        id="questions",
    )
