from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

from monitor.metrics.catalog import CATALOG
from monitor.metrics.context import Context
from monitor.metrics.documentation import with_families
from monitor.metrics.empty import empty_counts
from monitor.metrics.labels import label_sets
from monitor.metrics.metric import TASKS
from monitor.metrics.outcome import REASONS, Method
from monitor.metrics.parameters import Task
from tests.support.counts import parameters

PAGE = (Path(__file__).parents[3] / "docs" / "metrics.md").read_text("utf-8")


def section(title: str) -> str:
    return PAGE.split(f"\n## {title}\n")[1].split("\n## ")[0]


def rows(title: str) -> dict[str, str]:
    """Return the rest of each row of a section's table by the names in its first cell."""
    found = re.findall(r"^\| (`[^|]+) \| (.*)", section(title), re.MULTILINE)
    return {name: rest for cell, rest in found for name in re.findall(r"`([^`]+)`", cell)}


def test_page_lists_the_families_of_the_catalog():
    assert with_families(PAGE) == PAGE, "run: python -m monitor.metrics.documentation docs/metrics.md"


def test_page_explains_every_reason():
    of_values, of_intervals = rows("Why a value is absent"), rows("Why an interval is absent")
    assert of_values.keys() | of_intervals.keys() == set(REASONS[1:])
    assert {reason for metric in CATALOG for reason in metric.undefined} <= of_values.keys()


def test_page_names_every_method_of_intervals():
    assert {f"`{method}`" for method in get_args(Method)} <= set(
        re.findall(r"`\w+`", section("Intervals and low support"))
    )


def test_page_explains_every_label():
    assert rows("Labels").keys() == {label for metric in CATALOG for label in metric.labels}


@pytest.mark.parametrize("task", TASKS)
def test_page_names_the_values_of_labels(task: Task):
    p = parameters(3 - (task == "binary"), task=task, min_recall=0.9)
    context = Context(empty_counts(p), [p])
    given = {
        (label, value)
        for metric in CATALOG
        if task in metric.tasks
        for labels in label_sets(metric.compute(context).labels, p)
        for label, value in labels.items()
        if label in ("average", "subset", "criterion")
    }
    assert len({label for label, _ in given}) == 3
    explained = rows("Labels")
    assert [(label, value) for label, value in given if f"`{value}`" not in explained[label]] == []


def test_page_speaks_of_families_that_exist():
    known = {metric.name for metric in CATALOG}
    assert set(re.findall(r"`(classifier_\w+)`", PAGE)) <= known


def test_links_within_the_page_lead_somewhere():
    heads = re.findall(r"^#+ (.*)", PAGE, re.MULTILINE)
    anchors = {re.sub(r"[^\w -]", "", head).lower().replace(" ", "-") for head in heads}
    assert set(re.findall(r"\]\(#([^)]+)\)", PAGE)) <= anchors
