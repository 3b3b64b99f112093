"""A dashboard around its panels: where they stand, variables, annotations, links."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from monitor.grafana.panel import DATASOURCE, Json, Panel, link
from monitor.grafana.settings import Settings

COLUMNS = 24
TAG = "monitor"

_LABEL_VALUES_REFRESH = 2  # when the time range changes
ASCENDING, DESCENDING, NUMBERS_DESCENDING, NATURAL_DESCENDING = 1, 2, 4, 8


def dashboard(
    uid: str,
    title: str,
    description: str,
    settings: Settings,
    variables: Sequence[Json],
    annotations: Sequence[Json],
    rows: Mapping[str, Sequence[Panel]],
    page: str = "/",
) -> Json:
    """Return a dashboard; `page` is the part of the daemon's page that shows the same."""
    return {
        "uid": uid,
        "title": title,
        "description": description,
        "tags": [TAG],
        "editable": True,
        "graphTooltip": 1,
        "schemaVersion": 41,
        "refresh": "30s",
        "time": {"from": "now-6h", "to": "now"},
        "timezone": "browser",
        "links": list(_links(page)),
        "templating": {"list": [*_common(settings), *variables]},
        "annotations": {"list": list(annotations)},
        "panels": list(_placed(rows)),
    }


def variable(
    name: str, metric: str, label: str = "", *, title: str = "", sort: int = ASCENDING, **options: Any
) -> Json:
    """Return a variable with the values of a label of a metric; `all_value` adds a choice "All"."""
    query = f"label_values({metric}, {label or name})"
    all_value = options.pop("all_value", None)
    made = {
        "type": "query",
        "name": name,
        "label": title or name,
        "datasource": DATASOURCE,
        "query": {"query": query, "refId": "StandardVariableQuery"},
        "definition": query,
        "refresh": _LABEL_VALUES_REFRESH,
        "sort": sort,
        "multi": False,
        "includeAll": all_value is not None,
        **options,
    }
    return made if all_value is None else {**made, "allValue": all_value}


def chosen(*names: str) -> Json:
    """Return the choice that a variable begins with."""
    return {"text": list(names), "value": list(names)} if len(names) > 1 else _one(names[0])


def annotation(
    name: str, expr: str, color: str, title: str, text: str = "", *, at_value: bool = False
) -> Json:
    """Return marks where an expression is above 0; `at_value`: at the times (ms) that it has as value."""
    return {
        "name": name,
        "datasource": DATASOURCE,
        "enable": True,
        "hide": False,
        "iconColor": color,
        "expr": expr,
        "step": "10s",
        "titleFormat": title,
        "textFormat": text,
        "useValueForTime": at_value,
    }


def _one(name: str) -> Json:
    return {"text": name, "value": name}


def _common(settings: Settings) -> Iterator[Json]:
    yield {
        "type": "datasource",
        "name": "datasource",
        "label": "data source",
        "query": "prometheus",
        "refresh": 1,
        "multi": False,
        "includeAll": False,
    }
    yield variable("job", "monitor_build_info", all_value=".*", current=_one(settings.job))
    for name, label, value in (
        ("page", "page of the monitor", settings.page),
        ("runbooks", "runbooks", settings.runbooks),
    ):
        yield {
            "type": "textbox",
            "name": name,
            "label": label,
            "query": value,
            "current": _one(value),
            "options": [{"selected": True, **_one(value)}],
        }


def _links(page: str) -> Iterator[Json]:
    common = {"asDropdown": False, "icon": "external link", "includeVars": False, "keepTime": False}
    for title, url in (("Page", "${page:raw}" + page), ("Runbooks", "${runbooks:raw}")):
        yield {"type": "link", **link(title, url), "tags": [], "tooltip": "", **common}
    yield {
        "type": "dashboards",
        "title": "Dashboards",
        "tags": [TAG],
        "asDropdown": True,
        "icon": "external link",
        "includeVars": True,
        "keepTime": True,
        "targetBlank": False,
        "tooltip": "",
        "url": "",
    }


def _placed(rows: Mapping[str, Sequence[Panel]]) -> Iterator[Json]:
    """Yield the panels of each row from left to right, below each other where they do not fit."""
    number = y = 0
    for title, panels in rows.items():
        number += 1
        yield {
            "id": number,
            "type": "row",
            "title": title,
            "collapsed": False,
            "panels": [],
            "gridPos": {"x": 0, "y": y, "w": COLUMNS, "h": 1},
        }
        y += 1
        x = height = 0
        for panel in panels:
            if x + panel.width > COLUMNS:
                x, y, height = 0, y + height, 0
            number += 1
            place = {"x": x, "y": y, "w": panel.width, "h": panel.height}
            yield {"id": number, **panel.body, "gridPos": place}
            x, height = x + panel.width, max(height, panel.height)
        y += height
