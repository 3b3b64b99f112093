from __future__ import annotations

from pathlib import Path

from monitor.metrics.documentation import with_table
from monitor.metrics.outcome import REASONS

PAGE = (Path(__file__).parents[3] / "docs" / "metrics.md").read_text("utf-8")


def test_page_lists_the_families_of_the_catalog():
    assert with_table(PAGE) == PAGE, "run: python -m monitor.metrics.documentation docs/metrics.md"


def test_page_explains_every_reason():
    explained = PAGE.split("## Why a value is absent")[1].split("## ")[0]
    assert [reason for reason in REASONS[1:] if f"| `{reason}` |" not in explained] == []
