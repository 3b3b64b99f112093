"""What stands in dashboards, and what Grafana makes of it before it asks Prometheus."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

BUILT_IN = {"__rate_interval": "5s", "__range": "1m", "__interval": "1s"}


class Asked(NamedTuple):
    """One query, and where it stands."""

    where: str
    expr: str


def panels(dashboard: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield all panels, also those in collapsed rows."""
    for panel in dashboard["panels"]:
        yield panel
        yield from panel.get("panels", ())


def targets(dashboard: Mapping[str, Any]) -> Iterator[Asked]:
    for panel in panels(dashboard):
        for target in panel.get("targets", ()):
            yield Asked(f"{dashboard['title']}: {panel['title']} {target['refId']}", target["expr"])


def annotations(dashboard: Mapping[str, Any]) -> Iterator[Asked]:
    for annotation in dashboard["annotations"]["list"]:
        yield Asked(f"{dashboard['title']}: {annotation['name']}", annotation["expr"])


def variables(dashboard: Mapping[str, Any]) -> Iterator[Asked]:
    """Yield a query for each variable that has as many results as the variable has values."""
    for variable in dashboard["templating"]["list"]:
        if variable["type"] == "query":
            series, label = re.fullmatch(r"label_values\((.+), (\w+)\)", variable["query"]["query"]).groups()
            expr = (
                f'count by ({label}) ({series}) unless on ({label}) {series.partition("{")[0]}{{{label}=""}}'
            )
            yield Asked(f"{dashboard['title']}: ${variable['name']}", expr)


def substituted(expr: str, chosen: Mapping[str, str]) -> str:
    """Return a query with its variables replaced; each must have a value."""
    values = {**BUILT_IN, **chosen}
    expr = re.sub(r"\$\{(\w+):regex\}", lambda found: re.escape(values[found[1]]), expr)
    return re.sub(r"\$(\w+)", lambda found: values[found[1]], expr)
