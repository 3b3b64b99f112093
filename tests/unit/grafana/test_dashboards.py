"""Dashboards as plain data; that their queries have results is tested end to end."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import promql_parser
import pytest
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.cog.plugins import register_default_plugins
from grafana_foundation_sdk.models import common, units
from grafana_foundation_sdk.models.dashboard import Dashboard

from monitor.alert_rules import rules
from monitor.alerts.rule import Limit, Rule
from monitor.config import load_config
from monitor.daemon_series import HELPS as DAEMON
from monitor.grafana import Settings, configured, dashboards
from monitor.metrics.catalog import CATALOG
from monitor.presets import DEFAULT, PRESETS
from monitor.series import HELPS
from tests.support.grafana import BUILT_IN, Asked, annotations, panels, substituted, targets, variables

ROOT = Path(__file__).parents[3]
HOSTILE = 'a"b\\c\n$d{e}'
HOSTILE_RULE = Rule("Hostile", HOSTILE, "classifier_recall", class_=HOSTILE, limit=Limit("number", 0.8))
EVERYTHING = Settings(
    page=f"http://{HOSTILE}",
    headlines={"Headline": DEFAULT, **PRESETS},
    rules=(
        HOSTILE_RULE,
        replace(HOSTILE_RULE, segment="region=*", window="1h", class_="*", model="*"),
        replace(HOSTILE_RULE, metric="classifier_partial_roc_auc", labels={"max_fpr": "0.1"}),
    ),
)
MADE = dashboards(EVERYTHING)
EACH = pytest.mark.parametrize("dashboard", MADE.values(), ids=list(MADE))
RULE = Rule("RecallLow", "fraud", "classifier_recall", class_="fraud", limit=Limit("number", 0.8))

NOT_IN_THE_SCHEMA = {"step", "textFormat", "titleFormat", "useValueForTime", "definition"}
"""Fields of annotations that are Prometheus's, and the text of a variable's query that Grafana shows."""

ENUMERATIONS = {
    "showPoints": common.VisibilityMode,
    "showValue": common.VisibilityMode,
    "lineInterpolation": common.LineInterpolation,
    "displayMode": common.LegendDisplayMode,
    "placement": common.LegendPlacement,
    "cellHeight": common.TableCellHeight,
    "colorMode": common.BigValueColorMode,
    "graphMode": common.BigValueGraphMode,
    "textMode": common.BigValueTextMode,
    "alignValue": common.TimelineValueAlignment,
}


def lost(ours: Any, theirs: Any, path: str = "") -> Iterator[str]:
    """Yield what of a tree is not in another one, which may have more."""
    if isinstance(ours, Mapping):
        for key, value in ours.items():
            if not isinstance(theirs, Mapping) or key not in theirs:
                yield f"{path}.{key}"
            else:
                yield from lost(value, theirs[key], f"{path}.{key}")
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for one, other in zip(ours, theirs, strict=True):
            yield from lost(one, other, f"{path}[]")
    elif ours != theirs:
        yield f"{path}: {ours!r}, not {theirs!r}"


def leaves(tree: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    if isinstance(tree, Mapping | list):
        for key, value in tree.items() if isinstance(tree, Mapping) else enumerate(tree):
            yield from leaves(value, (*path, str(key)))
    else:
        yield path, tree


def asked(dashboard: Mapping[str, Any]) -> list[Asked]:
    return [*targets(dashboard), *annotations(dashboard), *variables(dashboard)]


def test_those_of_the_repository_are_those_of_its_configuration() -> None:
    config = load_config(ROOT / "deploy" / "monitor.yaml", {})
    for name, made in dashboards(configured(config, rules(config))).items():
        remedy = "monitor dashboard -c deploy/monitor.yaml -o grafana"
        assert json.loads((ROOT / "grafana" / name).read_text()) == made, remedy


@EACH
def test_grafanas_own_types_keep_everything(dashboard: dict[str, Any]) -> None:
    register_default_plugins()
    kept = json.loads(json.dumps(Dashboard.from_json(dashboard), cls=JSONEncoder))
    missing = {path for path in lost(dashboard, kept) if path.rpartition(".")[2] not in NOT_IN_THE_SCHEMA}
    assert not missing


@EACH
def test_names_of_units_and_choices_are_grafanas(dashboard: dict[str, Any]) -> None:
    known = {value for value in vars(units).values() if isinstance(value, str)}
    for path, value in leaves(dashboard):
        if path[-1] == "unit":
            assert value in known, path
        if path[-1] in ENUMERATIONS:
            assert value in list(ENUMERATIONS[path[-1]]), path


@EACH
def test_panels_have_their_own_numbers_and_places(dashboard: dict[str, Any]) -> None:
    numbers = [panel["id"] for panel in panels(dashboard)]
    assert len(set(numbers)) == len(numbers)
    cells = [(panel["title"], panel["gridPos"]) for panel in dashboard["panels"]]
    for title, cell in cells:
        assert cell["x"] >= 0 and cell["w"] > 0 and cell["h"] > 0 and cell["x"] + cell["w"] <= 24, title
    for (one, a), (other, b) in combinations(cells, 2):
        apart = (
            a["x"] + a["w"] <= b["x"]
            or b["x"] + b["w"] <= a["x"]
            or a["y"] + a["h"] <= b["y"]
            or b["y"] + b["h"] <= a["y"]
        )
        assert apart, (one, other)
    for panel in panels(dashboard):
        refs = [target["refId"] for target in panel.get("targets", ())]
        assert len(set(refs)) == len(refs)


@EACH
def test_every_variable_is_defined(dashboard: dict[str, Any]) -> None:
    defined = {variable["name"] for variable in dashboard["templating"]["list"]}
    assert len(defined) == len(dashboard["templating"]["list"])
    used = set()
    for path, value in leaves(dashboard):
        if isinstance(value, str) and "current" not in path and "options" not in path[:3]:
            used |= set(re.findall(r"(?<!\w)\$\{?(\w+)", value.replace(HOSTILE, "")))
    hostile = {"d"}  # of the name in a limit, which Grafana leaves as it is
    own = {"__data", "__url_time_range", *BUILT_IN}
    assert used - own - hostile <= defined


@EACH
def test_no_datasource_is_fixed(dashboard: dict[str, Any]) -> None:
    found = {value for path, value in leaves(dashboard) if path[-2:] == ("datasource", "uid")}
    assert found == {"${datasource}"}
    for panel in panels(dashboard):
        assert panel["type"] == "row" or panel["datasource"]


def test_dashboards_are_told_apart() -> None:
    assert len({made["uid"] for made in MADE.values()}) == len(MADE)
    assert len({made["title"] for made in MADE.values()}) == len(MADE)


@EACH
def test_queries_are_promql_about_series_that_exist(dashboard: dict[str, Any]) -> None:
    families = {*DAEMON, *HELPS, *(metric.name for metric in CATALOG), "ALERTS", "scrape_samples_scraped"}
    # The parser reads escapes in raw strings, which Prometheus does not: no value has one here.
    chosen = {variable["name"]: "x" for variable in dashboard["templating"]["list"]} | {"d": "$d"}
    for query in asked(dashboard):
        promql_parser.parse(substituted(query.expr, chosen))
        for name in re.findall(r"\w+(?=\{)", query.expr.replace(json.dumps(HOSTILE), "")):
            assert re.sub("_(lower|upper|bucket)$", "", name) in families, query


def row(settings: Settings, title: str) -> dict[str, str]:
    """Return the first queries of a row's panels, by title."""
    found: dict[str, str] = {}
    inside = False
    for panel in dashboards(settings)["monitor-model.json"]["panels"]:
        if panel["type"] == "row":
            inside = panel["title"] == title
        elif inside:
            found[panel["title"]] = panel["targets"][0]["expr"]
    return found


def test_headlines_are_those_of_the_preset() -> None:
    high = row(EVERYTHING, "high_cost")
    assert list(high) == ["Partial ROC AUC", "Brier score of positives", "Recall at FPR", "Fbeta"]
    assert 'subset="positive"' in high["Brier score of positives"]
    assert 'max_fpr="$max_fpr"' in high["Recall at FPR"]
    assert 'k="$k"' in row(EVERYTHING, "low_cost")["Precision at k"]
    assert list(row(EVERYTHING, "Headline"))[:4] == ["Recall", "Precision", "Partial ROC AUC", "Brier score"]


def limits(*found: Rule) -> dict[str, list[str]]:
    """Return the queries of limits by panel."""
    model = dashboards(Settings(rules=found))["monitor-model.json"]
    return {
        panel["title"]: exprs
        for panel in panels(model)
        if (
            exprs := [
                target["expr"]
                for target in panel.get("targets", ())
                if target["legendFormat"].startswith("limit of ")
            ]
        )
    }


def test_limits_are_drawn_where_the_alert_looks() -> None:
    ((title, [query]),) = limits(RULE).items()
    assert title == "Recall"
    assert query.startswith("0 * max(classifier_recall{")
    assert query.endswith('model="fraud",class="fraud",segment=""}) + 0.8')
    of_window = replace(RULE, window="1h", model="*", class_="*", segment="region=*")
    ((_, [query]),) = limits(of_window).items()
    assert query.endswith(',window="1h",segment!=""}) + 0.8')


def test_limits_that_move_are_not_drawn() -> None:
    assert limits(replace(RULE, limit=Limit("champion"))) == {}
    assert limits(replace(RULE, metric="calibration")) == {}


def test_a_limit_is_on_the_panel_of_its_subset() -> None:
    rule = replace(RULE, metric="classifier_brier_score", labels={"subset": "positive"}, side="ceiling")
    assert limits(rule) == {}  # that of all events is another number
    with_positive = Settings(rules=(rule,), headlines={"x": PRESETS["high_cost"]})
    assert "limit of RecallLow" in json.dumps(dashboards(with_positive))
