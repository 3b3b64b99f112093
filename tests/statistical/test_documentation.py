"""docs/intervals.md names every family: with its method, or why it has none."""

from __future__ import annotations

import re
from pathlib import Path

from monitor.metrics.catalog import CATALOG

PAGE = (Path(__file__).parents[2] / "docs" / "intervals.md").read_text("utf-8")


def _section(title: str) -> str:
    return PAGE.split(f"## {title}\n")[1].split("\n## ")[0].split("And single values")[0]


def test_page_has_the_method_of_every_family():
    rows = re.findall(r"^\| `(\w+)` \| (.*)", _section("Which"), re.MULTILINE)
    stated = {family: method for method, row in rows[:-1] for family in re.findall(r"classifier_\w+", row)}
    assert stated == {metric.name: metric.interval for metric in CATALOG if metric.interval}


def test_page_says_why_a_family_has_none():
    families = re.findall(r"^\| (`classifier_[^|]+)", _section("None, and why"), re.MULTILINE)
    stated = [family for cell in families for family in re.findall(r"classifier_\w+", cell)]
    assert sorted(stated) == sorted(metric.name for metric in CATALOG if not metric.interval)
