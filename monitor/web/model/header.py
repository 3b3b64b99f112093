"""Which model this is, how much of it there is, and what else could be chosen. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from monitor.web.alert_parts.names import live_mark, not_live
from monitor.web.html import Html, h
from monitor.web.model.chosen import Chosen
from monitor.web.moments import moment
from monitor.wording import number, printable

Option = tuple[str, str]
"""Value and text."""


def header_section(chosen: Chosen, retired: Sequence[str], preset: str | None, live: str | None) -> Html:
    """Return name, extent and choices.

    Parameters
    ----------
    chosen
        What is shown.
    retired
        Versions of the model of which a last report is kept.
    preset
        Name of the model's preset, None where it has none.
    live
        The version that the model's traffic comes from, None where that is not known.
    """
    window = chosen.window
    state = h("span", "complete", class_="badge good")
    if not window.complete:
        state = h("span", "window not complete", class_="badge warn")
    return h(
        "section",
        h(
            "header",
            h("h1", printable(chosen.model), " ", h("small", printable(chosen.version) or "no version")),
            state,
            h("span", "retired", class_="badge warn") if chosen.kept is not None else None,
            live_mark() if len(chosen.versions) > 1 and chosen.version == live else None,
            not_live(chosen.version, live, _other(chosen, live)),
        ),
        _windows(chosen),
        _form(chosen, retired),
        h("dl", *_facts(chosen), _fact("Preset", preset) if preset is not None else None, class_="facts"),
        class_="card",
        id="model",
    )


def _other(chosen: Chosen, live: str | None) -> str | None:
    """Return where to see the live version, None where there is no report of it."""
    known = any(version.version == live for version in chosen.versions)
    return chosen.link(version=live, window=None, segment=None) if known else None


def _windows(chosen: Chosen) -> Html:
    segment = chosen.parameters.get("segment")
    links = (
        h(
            "a",
            printable(name),
            href=chosen.link(window=name, segment=segment if segment in segments else None),
            aria_current="true" if name == chosen.window.window else None,
        )
        for name, segments in chosen.windows.items()
    )
    return h("nav", h("span", "Window"), *links, class_="tabs", aria_label="Window")


def _form(chosen: Chosen, retired: Sequence[str]) -> Html:
    """Return what there is more of than fits beside each other."""
    versions = [*(version.version for version in chosen.versions), *retired]
    selects = (
        _select("version", "Version", chosen.version, _versions(chosen, versions)),
        _select("segment", "Segment", chosen.window.segment, _segments(chosen)),
        _select("class", "Class", chosen.class_, [(name, printable(name)) for name in chosen.window.scored]),
    )
    keep = {"model": chosen.model, "window": chosen.window.window, **_given(chosen, "matrix", "refresh")}
    return h(
        "form",
        *(h("input", type="hidden", name=name, value=text) for name, text in keep.items()),
        *selects,
        h("button", "Show", type="submit"),
        method="get",
        action="model",
        class_="choices",
        id="choices",
    )


def _given(chosen: Chosen, *names: str) -> dict[str, str]:
    return {name: chosen.parameters[name] for name in names if name in chosen.parameters}


def _versions(chosen: Chosen, names: Iterable[str]) -> Iterator[Option]:
    live = {version.version for version in chosen.versions}
    for name in dict.fromkeys(names):
        yield name, f"{printable(name) or 'no version'}{'' if name in live else ' (retired)'}"


def _segments(chosen: Chosen) -> Iterator[Option]:
    yield "", "all events"
    for window in chosen.segments:
        yield window.segment, printable(window.segment)


def _select(name: str, label: str, current: str, options: Iterable[Option]) -> Html:
    return h(
        "label",
        label,
        " ",
        h(
            "select",
            *(
                h("option", text, value=value, selected="" if value == current else None)
                for value, text in options
            ),
            name=name,
            id=f"choose-{name}",
        ),
    )


def _facts(chosen: Chosen) -> Iterator[Html]:
    window = chosen.window
    yield _fact("Labeled", f"{window.labeled:,} of {window.events:,} events")
    if window.start is not None:
        yield _fact("From", moment(window.start))
        yield _fact("To", moment(window.end))
    name = printable(chosen.class_)
    support = window.support[window.classes.index(chosen.class_)]
    yield _fact(f"Events of {name}", f"{support:,}")
    threshold = window.threshold({"class": chosen.class_})
    if threshold is not None:
        yield _fact(f"Threshold of {name}", number(threshold))
    for version in chosen.versions:
        if version.version == chosen.version:
            yield _fact("Last event", moment(version.last_event))
            yield _fact("Since", moment(version.since))


def _fact(name: str, text: str) -> Html:
    return h("div", h("dt", name), h("dd", text))
