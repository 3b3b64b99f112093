"""docs/events.md holds what it says: its examples are events, its reasons are those of the code."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import pytest

from monitor.assembly import decoder
from monitor.clock import SystemClock
from monitor.config import load_config
from monitor.events.fields import FIELDS
from monitor.events.parsing import MAX_DEPTH
from monitor.metrics.catalog import CATALOG
from monitor.records import Partition
from monitor.sources.dead_letters import MAX_PENDING, TRUNCATED_TO, letter
from tests.support.examples import examples
from tests.support.reading import rejected
from tests.support.records import batch, raw

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "events.md").read_text()


def section(title: str) -> str:
    return PAGE.split(f"## {title}\n")[1].split("\n## ")[0]


def first_cells(table: str) -> set[str]:
    return set(re.findall(r"^\| `([\w-]+)` \|", table, re.MULTILINE))


def reasons() -> set[str]:
    """Return every reason that the code can give."""
    found = set()
    for path in (ROOT / "monitor" / "events").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("Refused", "Rejection"):
                chosen: list[Any] = [node.args[0]]
                if isinstance(chosen[0], ast.IfExp):
                    chosen = [chosen[0].body, chosen[0].orelse]
                found |= {each.value for each in chosen if isinstance(each, ast.Constant)}
    return found


def test_every_reason_is_explained_and_no_other() -> None:
    assert first_cells(section("Why a message is rejected")) == reasons()


def test_every_field_is_explained() -> None:
    assert first_cells(section("The canonical form")) == {*FIELDS, "segments", "id"} - {"weight"}
    assert "`weight`" in section("The canonical form")


@pytest.mark.parametrize(("config", "message"), examples(PAGE))
def test_examples_are_events(tmp_path: Path, config: str, message: str) -> None:
    path = tmp_path / "monitor.yaml"
    path.write_text("kafka: {bootstrap_servers: [b], topics: [t]}\n" + config)
    loaded = load_config(path, {})
    decoded = decoder(loaded, ["t"], SystemClock()).decode([batch([message.encode()])])
    assert decoded.rejected == ()
    [columns] = decoded.columns.values()
    assert (columns.label[0] >= 0).all()
    assert columns.score[0, 0] > 0.6
    assert all(code > 0 for code in columns.segments[0])


def test_there_are_examples() -> None:
    assert len(list(examples(PAGE))) == 6


def test_headers_of_dead_letters() -> None:
    record = raw(7, b"xx")._replace(headers=[("empty", None)])
    whole = letter(rejected(record, Partition("t", 0)))
    assert first_cells(section("Dead letters")) == {
        *(name for name, _ in whole.headers if name.startswith("monitor-")),
        *(name for name, _ in whole._replace(value=b"x" * (TRUNCATED_TO + 1)).truncated().headers[-1:]),
    }
    for number in (MAX_PENDING, TRUNCATED_TO):
        assert f"{number:,}" in section("Dead letters")
    assert f"deeper than {MAX_DEPTH} levels" in PAGE


def test_families_that_are_named_exist() -> None:
    named = set(re.findall(r"`(classifier_\w+)`", PAGE))
    assert named <= {metric.name for metric in CATALOG}
    assert len(named) == 4
