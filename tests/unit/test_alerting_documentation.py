"""docs/alerting.md holds what it says: its rules load, its output is real, its figures are measured ones."""

from __future__ import annotations

import dataclasses
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import get_args

import pytest
import yaml

from monitor.alert_rules import rules
from monitor.alerts.alert import Alert, Evidence, Key, Moment
from monitor.alerts.gate import Outcome
from monitor.alerts.rule import Limit, LimitKind, Rule
from monitor.alerts.words import sentence
from monitor.alerts_json import alert_object
from monitor.config import Config, load_config
from monitor.replay import Replay
from tests.support.examples import blocks

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "alerting.md").read_text()
EXAMPLES = [text for language, text in blocks(PAGE) if language == "yaml"]

BASE = yaml.safe_load("""
kafka: {bootstrap_servers: [b], topics: [t]}
models:
  fraud:
    task: binary
    classes: [legit, fraud]
    max_fpr: [0.1]
    at_k: [100]
    windows: [{name: last_10k, events: 10000}, {name: 1d, duration: 1d}, {name: 30d, duration: 30d}]
    champion: "2026-10-01"
    label_maturity: 1d
""")


def section(title: str) -> str:
    return re.split(rf"^##+ {re.escape(title)}\n", PAGE, flags=re.MULTILINE)[1].split("\n## ")[0]


def cells(table: str) -> list[list[str]]:
    rows = re.findall(r"^\| (.*) \|$", table, re.MULTILINE)
    return [[cell.strip() for cell in row.split(" | ")] for row in rows]


def names(column: list[str]) -> set[str]:
    return {name for cell in column for name in re.findall(r"`(\w+)`", cell)}


def complete(text: str, path: Path) -> Config:
    """Return an example's configuration, with what it leaves out."""
    path.write_text(yaml.safe_dump({**BASE, **yaml.safe_load(text)}))
    return load_config(path, {})


@pytest.mark.parametrize("text", EXAMPLES)
def test_examples_are_rules(tmp_path: Path, text: str) -> None:
    config = complete(text, tmp_path / "monitor.yaml")
    found = {rule.name for rule in rules(config)}
    assert found >= set(yaml.safe_load(text)["alerts"]["rules"])


def test_there_are_examples() -> None:
    assert len(EXAMPLES) == 6


def test_the_rule_of_the_readme_fits_to_its_model(tmp_path: Path) -> None:
    page = (ROOT / "README.md").read_text()
    model, kafka, rule = (yaml.safe_load(text) for language, text in blocks(page) if language == "yaml")
    model["models"]["fraud"]["label_maturity"] = "0s"
    path = tmp_path / "monitor.yaml"
    path.write_text(yaml.safe_dump({**model, **kafka, **rule}))
    assert [found.actions for found in rules(load_config(path, {}))] == [("rollback",)]


def test_every_kind_of_limit_is_shown(tmp_path: Path) -> None:
    [text] = [text for text in EXAMPLES if "Baseline:" in text]
    kinds = {rule.limit.kind: rule for rule in rules(complete(text, tmp_path / "monitor.yaml"))}
    assert set(kinds) == set(get_args(LimitKind))
    sequential = {kind for kind, rule in kinds.items() if rule.condition == "sequential"}
    assert sequential == {"number", "baseline", "champion"}


def test_the_sentence_is_what_an_alert_says() -> None:
    began = round(datetime(2026, 11, 30, 3, 2, tzinfo=UTC).timestamp() * 1e6)
    rule = Rule("RecallBelowFloor", "fraud", "classifier_recall", limit=Limit("number", 0.8))
    evidence = Evidence(
        0.62162, 0.54972, 0.68842, "wilson", limit=0.8, support=185, beyond=33.0, cost_beyond=66_000.0
    )
    moment = Moment(began, began, 0)
    alert = Alert(
        Key(rule.name, "fraud", "2", "", "", "fraud"), rule, "firing", moment, moment, evidence=evidence
    )
    assert sentence(alert) in PAGE


def test_every_key_is_explained() -> None:
    rows = cells(section("How an alert explains itself"))
    explained = names([row[0] for row in rows])
    moment = Moment(0, 0, 0)
    shown = alert_object(Alert(Key("a", "m", "v", "", "", ""), Rule("a", "m", "x"), "firing", moment, moment))
    assert explained == (
        {field.name for field in dataclasses.fields(Evidence)}
        | shown.keys() - {"alert", "labels", "severity", "sentence", "rule", "evidence"}
    )


def test_the_timeline_is_what_replay_prints(tmp_path: Path) -> None:
    [text] = [text for text in EXAMPLES if "PrepaidMissed" in text]
    path = tmp_path / "monitor.yaml"
    path.write_text(text)
    change = round(datetime(2020, 11, 1, tzinfo=UTC).timestamp() * 1e6)
    replay = Replay(
        load_config(path, {}),
        [ROOT / "tests" / "data" / "credit_card_multiclass.parquet"],
        change_at=change,
    )
    replay.run(lambda _: None)
    [shown] = [text for language, text in blocks(PAGE) if language == "text" and "Alerts:" in text]
    assert replay.timeline() == shown


def test_figures_are_those_of_the_page_on_detectors() -> None:
    measured: dict[tuple[str, str], list[str]] = {}
    for name, what, *figures in cells((ROOT / "docs" / "detectors.md").read_text()):
        measured.setdefault((name, what), [re.split(r" [±(]", figure)[0] for figure in figures])
    rows = cells(section("How rare, and how soon"))[2:]
    assert len(rows) == 12
    for name, what, *figures in rows:
        assert measured[name, what] == figures


def test_outcomes_of_gates() -> None:
    rows = cells(section("Who is told, and what is done"))
    assert {row[0] for row in rows} >= {f"`{outcome}`" for outcome in get_args(Outcome)}
