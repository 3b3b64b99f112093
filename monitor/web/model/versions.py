"""The versions of a model side by side. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from monitor.alerts.alert import Alert
from monitor.report import Value, WindowReport
from monitor.web.alert_parts.names import counted, live_mark, state_of
from monitor.web.html import Html, h, join
from monitor.web.model.alerts import of_model
from monitor.web.model.chosen import Chosen
from monitor.web.model.retired import MAX_READ, Known, last
from monitor.web.model.values import Values
from monitor.web.moments import moment
from monitor.web.numbers import with_interval
from monitor.web.site import Shown
from monitor.web.tables import row, table
from monitor.wording import printable, title


class Version(NamedTuple):
    """One version in the window that is shown.

    Attributes
    ----------
    name
        Empty where versions have none.
    window
        Over all events; None where the version does not have it.
    when
        Since when it is seen, or when it retired.
    segment
        The one that is shown, where this version has it in this window, too; else "".
    """

    name: str
    window: WindowReport | None
    when: Html
    segment: str = ""


def versions_section(shown: Shown, chosen: Chosen, known: Known, headline: Sequence[Value]) -> Html | None:
    """Return the headline metrics of each version, with their difference to the one that is shown.

    None where there is no other.

    Parameters
    ----------
    shown
        Everything at one moment.
    chosen
        What is shown.
    known
        Which versions have retired.
    headline
        Values over all events of the version that is shown.
    """
    versions = [*_live(shown, chosen), *_retired(shown, chosen, known)]
    if len(versions) < 2 and known.problem is None:
        return None
    alerts = of_model(shown.alerts.alerts, chosen.model)
    live = shown.alerts.live.get(chosen.model)
    more = len(known.versions) - MAX_READ
    notes = (
        f"Of versions that retired, the last report; {more:,} more can be chosen above."
        if more > 0
        else None,
        known.problem and f"Kept reports cannot be read: {printable(known.problem)}",
    )
    return h(
        "section",
        h("header", h("h2", "Versions")),
        table(
            f"In {printable(chosen.window.window)}, with the difference to {_name(chosen.version)}",
            ("Version", "Seen", "Alerts", "Labeled", *map(title, headline)),
            [_row(chosen, version, headline, alerts, live) for version in versions],
            " ".join(filter(None, notes)) or None,
        ),
        class_="card",
        id="versions",
    )


def _live(shown: Shown, chosen: Chosen) -> Iterator[Version]:
    windows = {
        (found.version, found.segment): found
        for found in (shown.report.windows if shown.report is not None else ())
        if (found.model, found.window) == (chosen.model, chosen.window.window)
    }
    segment = chosen.window.segment
    for version in chosen.versions:
        name, when = version.version, join("since ", moment(version.since))
        yield Version(name, windows.get((name, "")), when, segment if (name, segment) in windows else "")


def _retired(shown: Shown, chosen: Chosen, known: Known) -> Iterator[Version]:
    live = {version.version for version in chosen.versions}
    gone = [name for name in known.versions if name not in live]
    listed = gone[:MAX_READ] + [name for name in gone[MAX_READ:] if name == chosen.version]
    for name in listed:
        found = last(shown.retired, chosen.model, name, chosen.window.window)
        if found is not None:
            when = join("retired ", h("time", f"{found.retired[:16]}Z", datetime=found.retired))
            yield Version(name, found.window, when)


def _row(
    chosen: Chosen,
    version: Version,
    headline: Sequence[Value],
    alerts: Iterable[Alert],
    live: str | None,
) -> Html:
    current = version.name == chosen.version
    other = {} if version.window is not None else {"window": None}
    href = chosen.link(version=version.name, segment=version.segment or None, **other)
    name = h("a", _name(version.name), href=href)
    states = [state_of(alert) for alert in alerts if alert.key.version == version.name]
    values = None if version.window is None else Values(version.window)
    cells: Iterator[str | None]
    if values is None or version.window is None:
        cells = iter(["–"] * (1 + len(headline)))
    else:
        compared = (_cell(values.like(of.name, of.labels), None if current else of) for of in headline)
        cells = iter([f"{version.window.labeled:,}", *compared])
    return row(
        join(name, " ", live_mark()) if version.name == live else name,
        version.when,
        _alerts(states),
        *cells,
        current=current,
        data_version=printable(version.name),
        data_segment="",
    )


def _cell(value: Value | None, than: Value | None) -> Html | None:
    if value is None:
        return None
    text = with_interval(value)
    if value.value is None or than is None or than.value is None:
        return text
    return join(text, h("span", f"{value.value - than.value:+.4f}", class_="difference"))


def _alerts(states: Sequence[str]) -> Html | None:
    """Return the most urgent state that an alert is in, and how many are."""
    if not states:
        return h("span", "not watched", class_="quiet")
    return next(counted(states), None) or h("span", "quiet", class_="badge good")


def _name(version: str) -> str:
    return printable(version) or "no version"
