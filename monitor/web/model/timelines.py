"""How the headline metrics of a version went. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence

from monitor.alerts.alert import Alert
from monitor.history import Metric, Track
from monitor.report import Value
from monitor.web.charts import Limit, Mark, timeline
from monitor.web.html import Html, h
from monitor.web.links import of_history
from monitor.web.model.marks import limits
from monitor.web.numbers import labels_text
from monitor.wording import title


def timelines_section(
    track: Track | None, values: Iterable[Value], alerts: Sequence[Alert], marks: Sequence[Mark]
) -> Html:
    """Return a timeline of each value that has a past.

    Parameters
    ----------
    track
        The past of the version in the window, over all events.
    values
        The headline metrics, and those that alerts are about; any may be there twice.
    alerts
        Of the version; they have the limits.
    marks
        What happened.
    """
    drawn = [] if track is None else list(_figures(track, values, alerts, marks))
    if not drawn:
        drawn = [h("p", "There is no past yet: it begins with the second evaluation.", class_="quiet")]
    return h(
        "section",
        h("header", h("h2", "Timelines")),
        h("p", "Over all events, by the event time at which the window ended.", class_="quiet"),
        h("div", *drawn, class_="timelines"),
        class_="card",
        id="timelines",
    )


def _figures(
    track: Track, values: Iterable[Value], alerts: Sequence[Alert], marks: Sequence[Mark]
) -> Iterator[Html]:
    first, last = track.times[[0, -1]].tolist() if len(track.times) else (0, 0)
    seen = [mark for mark in marks if first <= mark.time <= last]
    by_metric = {Metric.of(value): value for value in values}
    for place, (metric, value) in enumerate(by_metric.items()):
        if metric not in track.metrics:
            continue
        held_to = limits(alerts, track.window, value.name, value.labels)
        svg = timeline(track, metric, title(value), held_to, seen)
        if svg is not None:
            yield _figure(track, value, place, svg, held_to, seen)


def _figure(
    track: Track, value: Value, place: int, svg: Html, held_to: Sequence[Limit], marks: Sequence[Mark]
) -> Html:
    return h(
        "figure",
        h("figcaption", title(value)),
        svg,
        class_="timeline",
        id=f"timeline-{place}",
        data_history=of_history(track.model, track.version, track.window),
        data_family=value.name,
        data_labels=labels_text(value.labels),
        data_limits=_json([limit._asdict() for limit in held_to]),
        data_marks=_json([{**mark._asdict(), "time": mark.time / 1e6} for mark in marks]),
    )


def _json(found: object) -> str:
    return json.dumps(found, allow_nan=False, separators=(",", ":"))
