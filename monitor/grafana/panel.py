"""Panels as Grafana reads them, without their place: plain dicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]

DATASOURCE: Json = {"type": "prometheus", "uid": "${datasource}"}

NONE = "none"
"""What a panel says where Prometheus has nothing: no 0, which would be a value."""

GREEN, YELLOW, RED, BLUE, GREY = "green", "yellow", "red", "blue", "#8e8e8e"


@dataclass(frozen=True, slots=True)
class Query:
    """One query of a panel: PromQL and the name of its series; a table shows its newest values."""

    expr: str
    legend: str = ""


@dataclass(frozen=True, slots=True)
class Panel:
    """A panel and the columns, of 24, and rows that it takes."""

    body: Json
    width: int
    height: int = 8


def timeseries(
    title: str,
    queries: Sequence[Query],
    *,
    unit: str = "short",
    width: int = 12,
    height: int = 8,
    description: str = "",
    custom: Mapping[str, Any] | None = None,
    overrides: Sequence[Json] = (),
) -> Panel:
    """Return lines over time; `custom` is how they are drawn, where that is not the usual way."""
    lines = {"lineWidth": 1, "fillOpacity": 0, "showPoints": "auto", "spanNulls": False, **(custom or {})}
    field: Json = {"unit": unit, "noValue": NONE, "custom": lines, "color": {"mode": "palette-classic"}}
    options = {
        "legend": {"displayMode": "list", "placement": "bottom", "showLegend": True, "calcs": []},
        "tooltip": {"mode": "multi", "sort": "none"},
    }
    return _panel("timeseries", title, queries, field, options, width, height, description, overrides)


def stat(
    title: str,
    query: Query,
    *,
    unit: str = "short",
    steps: Sequence[tuple[float | None, str]] = ((None, BLUE),),
    mappings: Sequence[Json] = (),
    width: int = 4,
    description: str = "",
) -> Panel:
    """Return one number each series, coloured by the steps (from this value on, None: from the least)."""
    field = {
        "unit": unit,
        "noValue": NONE,
        "mappings": list(mappings),
        "color": {"mode": "thresholds"},
        "thresholds": _thresholds(steps),
    }
    options = {
        "reduceOptions": {"calcs": ["lastNotNull"], "values": False, "fields": ""},
        "colorMode": "value",
        "graphMode": "area",
        "justifyMode": "auto",
        "textMode": "auto",
        "orientation": "auto",
        "wideLayout": True,
        "showPercentChange": False,
        "percentChangeColorMode": "standard",
    }
    return _panel("stat", title, [query], field, options, width, 4, description)


def table(
    title: str,
    columns: Sequence[tuple[str, str]],
    *,
    transformations: Sequence[Json] = (),
    overrides: Sequence[Json] = (),
    unit: str = "short",
    width: int = 24,
    height: int = 8,
    description: str = "",
) -> Panel:
    """Return the newest values, a row for each set of labels, a column for each (title, query)."""
    queries = [Query(expr) for _, expr in columns]
    refs = [_ref(i) for i in range(len(columns))]
    names = {f"Value #{ref}": name for ref, (name, _) in zip(refs, columns, strict=True)}
    if len(columns) == 1:
        names["Value"] = columns[0][0]
    shaped = list(transformations) or [
        {"id": "merge", "options": {}},
        {"id": "organize", "options": {"excludeByName": {"Time": True}, "renameByName": names}},
    ]
    field = {
        "unit": unit,
        "noValue": NONE,
        "custom": {"align": "auto", "cellOptions": {"type": "auto"}, "inspect": False, "filterable": True},
    }
    options = {"showHeader": True, "cellHeight": "sm"}
    made = _panel("table", title, queries, field, options, width, height, description, overrides)
    for target in made.body["targets"]:
        target.update(instant=True, range=False, format="table")
    made.body["transformations"] = shaped
    return made


def states(
    title: str, queries: Sequence[Query], mappings: Sequence[Json], *, height: int = 8, description: str = ""
) -> Panel:
    """Return states over time, a line each series."""
    field = {
        "noValue": NONE,
        "mappings": list(mappings),
        "color": {"mode": "thresholds"},
        "thresholds": _thresholds([(None, GREY)]),
        "custom": {"lineWidth": 0, "fillOpacity": 80},
    }
    options = {
        "showValue": "auto",
        "rowHeight": 0.9,
        "mergeValues": True,
        "alignValue": "left",
        "perPage": 20,
        "legend": {"displayMode": "list", "placement": "bottom", "showLegend": True, "calcs": []},
        "tooltip": {"mode": "single", "sort": "none"},
    }
    return _panel("state-timeline", title, queries, field, options, 24, height, description)


def trend(
    title: str, columns: Sequence[tuple[str, str]], x: str, *, by: str, width: int, description: str
) -> Panel:
    """Return the newest values of columns over those of column `x`, a point for each value of label `by`."""
    made = table(title, columns, unit="percentunit", width=width, description=description)
    made.body["type"] = "trend"
    made.body["transformations"][-1]["options"]["excludeByName"][by] = True
    made.body["transformations"].append(
        {"id": "sortBy", "options": {"fields": {}, "sort": [{"field": x, "desc": False}]}}
    )
    made.body["fieldConfig"]["defaults"] |= {
        "custom": {"lineWidth": 1, "fillOpacity": 0, "showPoints": "always", "pointSize": 6},
        "min": 0,
        "max": 1,
    }
    made.body["options"] = {
        "xField": x,
        "legend": {"displayMode": "list", "placement": "bottom", "showLegend": True, "calcs": []},
        "tooltip": {"mode": "multi", "sort": "none"},
    }
    return made


def override(name: str, *, regex: bool = False, **properties: Any) -> Json:
    """Return what holds for the fields of a name; of a property's name `__` is a dot."""
    return {
        "matcher": {"id": "byRegexp" if regex else "byName", "options": name},
        "properties": [{"id": key.replace("__", "."), "value": value} for key, value in properties.items()],
    }


def link(title: str, url: str) -> Json:
    """Return a link that opens beside Grafana."""
    return {"title": title, "url": url, "targetBlank": True}


def values(meaning: Mapping[str, tuple[str, str]]) -> list[Json]:
    """Return the mapping of values to texts and colours."""
    options = {
        value: {"text": text, "color": color, "index": i}
        for i, (value, (text, color)) in enumerate(meaning.items())
    }
    return [{"type": "value", "options": options}]


def _panel(
    kind: str,
    title: str,
    queries: Sequence[Query],
    field: Json,
    options: Json,
    width: int,
    height: int,
    description: str,
    overrides: Sequence[Json] = (),
) -> Panel:
    body = {
        "type": kind,
        "title": title,
        "description": description,
        "datasource": DATASOURCE,
        "targets": [
            {
                "refId": _ref(i),
                "datasource": DATASOURCE,
                "expr": query.expr,
                "legendFormat": query.legend or "__auto",
                "range": True,
            }
            for i, query in enumerate(queries)
        ],
        "fieldConfig": {"defaults": field, "overrides": list(overrides)},
        "options": options,
    }
    return Panel(body, width, height)


def _thresholds(steps: Sequence[tuple[float | None, str]]) -> Json:
    return {"mode": "absolute", "steps": [{"value": value, "color": color} for value, color in steps]}


def _ref(number: int) -> str:
    return chr(ord("A") + number)
